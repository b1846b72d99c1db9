# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The breadth-first search leaves out the last thing that can happen in some states.
GROUP=explore
FILE=src/explore/breadth.c
EDIT='s/for \(int i = 0; i < count; i\+\+\) \{/for (int i = 0; i + (count > 3) < count; i++) {/'
EXPECT='^explore\.enumerate$'
