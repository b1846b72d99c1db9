# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A record is put into a block that is not marked. arena_resize() asserts the mark.
GROUP=sim
FILE=src/base/packed_records.c
EDIT='s/^    arena_mark\(pack->arena, pack->block\);$//'
EXPECT='^sim\.world$'
