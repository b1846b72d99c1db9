# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The first kind of request counts as unknown. request_kind() asserts that each kind is known.
GROUP=sim
FILE=src/coordzk/events.c
EDIT='s/known\[op\] = \(uint8_t\)\(kind_of_name\(fakezk_op_name\(op\)\) \+ 1\);/known[op] = (uint8_t)kind_of_name(fakezk_op_name(op));/'
EXPECT='^sim\.world$'
