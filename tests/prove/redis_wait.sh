# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# WAIT makes nothing safe: a failover loses writes that a replica has.
GROUP=fakeredis
FILE=src/fakeredis/commands_peer.c
EDIT='s/backlog_confirm\(server, call->client, call->connection\);//'
EXPECT='^fakeredis\.rules$'
