# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The slots of one lock come in the order of asking. process_ask_belief() asserts the order of slots.
GROUP=sim
FILE=src/sim/process.c
EDIT='s/before->tag < lock \|\| \(before->tag == lock .*\)\)\) \{$/before->tag <= lock)) {/'
EXPECT='^sim\.program$'
