# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# What a server loses is told as the end of a lease, which nobody has to fear.
GROUP=coordredis
FILE=src/coordredis/key_holders.c
EDIT='s/set_share\(lock, from->server, &next, EVENT_BY_LOSS\)/set_share(lock, from->server, &next, 0)/'
EXPECT='^coordredis\.server_faults$'
