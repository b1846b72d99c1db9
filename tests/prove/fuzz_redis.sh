# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A command that is sent while its client listens to a channel loses its callback.
GROUP=fuzz
FILE=src/fakeredis/client.c
EDIT='s/set_mute\(client, connection, call->fn/set_mute(client, connection, 0/'
EXPECT='^fuzz\.targets$'
