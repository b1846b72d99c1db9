# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors
# A state is looked for only where it would stand first: one that was moved on is not found again.
GROUP=state
FILE=src/state/visited.c
EDIT='s/!= 0 \&\& found != key\)/!= 0 \&\& found != key \&\& false)/'
EXPECT='^state\.visited$'
