# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A process that crashes keeps its slots. wipe() asserts that none is left.
GROUP=sim
FILE=src/sim/process.c
EDIT='/^    pack_clear\(&pack, LIST_SLOT\);$/d'
EXPECT='^sim\.(world|program)$'
