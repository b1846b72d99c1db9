# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Steps look at a client without saying so.
GROUP=sim
FILE=src/fakezk/internal.h
EDIT='s/^    arena_read\(fakezk\.arena, fakezk\.client_block\[c\]\);$//'
EXPECT='^sim\.intern$'
