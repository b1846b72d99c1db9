# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A content that is moved gets the number of the next one. intern_attach() asserts that the number exists.
GROUP=sim
FILE=src/state/intern.c
EDIT='s/uint32_t here = to->count - 1;/uint32_t here = to->count;/'
EXPECT='^sim\.intern$'
