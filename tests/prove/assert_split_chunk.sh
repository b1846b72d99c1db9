# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A free chunk that is split reaches into the next one. heap_alloc() asserts where it ends.
GROUP=sim
FILE=src/sim/heap.c
EDIT='s/(chunk_at\(heap, at \+ need\)->size = chunk->size) - need;/\1;/'
EXPECT='^sim\.driver$'
