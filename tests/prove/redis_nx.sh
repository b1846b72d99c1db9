# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# SET NX writes over a key that exists.
GROUP=fakeredis
FILE=src/fakeredis/commands_string.c
EDIT='s/set->options \|= SET_NX;/set->options |= 0;/'
EXPECT='^fakeredis\.rules$'
