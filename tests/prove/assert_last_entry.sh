# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A cleared cache keeps its last entries. take() asserts that nothing points into an empty cache.
GROUP=cli
FILE=src/explore/step_cache.c
EDIT='/^    memset\(memo->last, 0, sizeof memo->last\);$/d'
EXPECT='^cli\.scenarios$'
