# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A table that grows leaves its last keys where they were. enlarge() asserts the number of keys.
GROUP=state
FILE=src/state/visited.c
EDIT='s/i = before \+ PLACES_BEHIND; i-- > 0;/i = before; i-- > 0;/'
EXPECT='^state\.visited$'
