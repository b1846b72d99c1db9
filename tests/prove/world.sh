# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The resource takes every fencing token, however old.
GROUP=sim
FILE=src/sim/process.c
EDIT='s/event\.taken = token >= state->newest\[lock\];/event.taken = 1;/'
EXPECT='^sim\.schedule$'
