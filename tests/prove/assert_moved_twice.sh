# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A content that two states have is moved twice. intern_move() asserts that it is not there yet.
GROUP=sim
FILE=src/state/intern.c
EDIT='s/return from->moved\[number\] = here;/return here;/'
EXPECT='^sim\.intern$'
