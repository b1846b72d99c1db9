# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A table of states that grows where it lies moves its first keys among those that are still to be moved.
GROUP=state
FILE=src/state/visited.c
EDIT='s/key != 0 && home_of\(key, places\) <= i\) \{/key != 0 \&\& i == 0) {/'
EXPECT='^state\.visited$'
