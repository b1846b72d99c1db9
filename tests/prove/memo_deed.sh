# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A step is taken for one that was done in other surroundings.
GROUP=explore
FILE=src/explore/step_cache.c
EDIT='s/\{\{read\[0\], read\[1\]\}\}/{{read[0] \& 7u, read[1]}}/'
EXPECT='^explore\.modes$'
