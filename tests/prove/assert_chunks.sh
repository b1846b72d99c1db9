# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Two free chunks become one that is too small. merge() asserts that chunks end where others begin.
GROUP=sim
FILE=src/sim/heap.c
EDIT='s/^            chunk->size \+= more;$/            chunk->size = more;/'
EXPECT='^sim\.driver$'
