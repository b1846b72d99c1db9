# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# As assert_split_chunk.sh. The assertion fails within calls of recipes, which a sandbox must not take for a crash of the recipe.
GROUP=cli
FILE=src/sim/heap.c
EDIT='s/(chunk_at\(heap, at \+ need\)->size = chunk->size) - need;/\1;/'
EXPECT='^cli\.scenarios$'
