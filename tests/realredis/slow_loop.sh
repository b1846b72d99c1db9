#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A loop of the application's serves a client: libevent, through the adapter that comes with hiredis.
source "$(dirname "$0")/lib.sh"
build="$LOCKSTEP_BUILD_DIR"
cc -std=gnu11 -Wall -Wextra -O1 -I"$LOCKSTEP_SOURCE_DIR/include" "$LOCKSTEP_SOURCE_DIR/tests/realredis/loop.c" \
    "$build/liblockstep_redis.a" "$build/liblockstep.a" -lzookeeper_mt -lhiredis -levent -pthread -o "$scratch/loop"
start_server
found=$("$scratch/loop" "127.0.0.1:$port") || { echo "$found" && exit 1; }
[[ $found =~ ^300\ rounds\ of\ the\ loop,\ [0-9]+\ wake-ups,\ 0\ wrong$ ]] || { echo "$found" && exit 1; }
