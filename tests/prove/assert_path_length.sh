# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The depth counts the first state as a step. whole_path() asserts that a path has as many actions as it is deep.
GROUP=explore
FILE=src/explore/depth.c
EDIT='s/d->depth \+= d->places > 1;/d->depth += 1;/'
EXPECT='^explore\.distrust$'
