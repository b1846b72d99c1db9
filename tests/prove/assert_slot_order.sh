# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The slots of a process come in another order with each history. make_slot() asserts their order.
GROUP=sim
FILE=src/sim/process.c
EDIT='s/before->word < \(uint32_t\)owner\)\)\)/before->word > (uint32_t)owner)))/'
EXPECT='^sim\.program$'
