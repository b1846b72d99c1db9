# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# What is remembered for the state before is taken though blocks that it depends on have changed.
GROUP=explore
FILE=src/explore/step_cache.c
EDIT='s/\(scope->bits\[0\] & changed\[0\]\)/(scope->bits[0] \& changed[0] \& 7u)/'
EXPECT='^explore\.modes$'
