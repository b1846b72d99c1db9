# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# What a step does is remembered without all that it depends on.
GROUP=explore
FILE=src/explore/step_cache.c
EDIT='s/\|= read\[0\] & ~scope->bits\[0\];/|= read[0] \& ~scope->bits[0] \& 7u;/'
EXPECT='^explore\.modes$'
