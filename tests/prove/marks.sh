# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A process is entered without a mark on its heap.
GROUP=sim
FILE=src/sim/process.c
EDIT='s/^    arena_mark\(&the_world\.arena, the_world\.heap_block\[p\]\);$//'
EXPECT='^sim\.world$'
