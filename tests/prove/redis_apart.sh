# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A client that is apart from a server is in the same state as one that is not: the change of its block is not marked.
GROUP=coordredis
FILE=src/fakeredis/fakeredis.c
EDIT='/^void fakeredis_set_apart/,/^}/s/client_mark/client_read/'
EXPECT='^coordredis\.networks$'
