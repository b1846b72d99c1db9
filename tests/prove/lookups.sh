# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The client looks up its servers' names on each turn of its loop, as it does by default.
GROUP=real
FILE=src/lock/session.c
EDIT='s/resolution_delay\(zh, -1\)/resolution_delay(zh, 0)/'
EXPECT='^real\.lookups$'
