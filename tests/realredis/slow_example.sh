#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# examples/redis_section.c is built with the installed files alone, and gets the lock on a real server. Without a server its acquire
# ends at the deadline.
source "$(dirname "$0")/lib.sh"
cmake --install "$LOCKSTEP_BUILD_DIR" --prefix "$scratch/root" >/dev/null
export PKG_CONFIG_PATH=$scratch/root/lib/pkgconfig LD_LIBRARY_PATH=$scratch/root/lib
cc -std=c11 -Wall -Werror "$LOCKSTEP_SOURCE_DIR/examples/redis_section.c" $(pkg-config --cflags --libs lockstep-redis) -o "$scratch/section"

start_server
for round in 1 2 3; do
    found=$("$scratch/section" "127.0.0.1:$port")
    [[ $found == "held with token $round" ]] || { echo "round $round: $found" && exit 1; }
done
stop_server
found=$("$scratch/section" "127.0.0.1:$port" 2>&1) && { echo "without a server: $found" && exit 1; }
[[ $found == "redis_section: the lock: the deadline has passed" ]] || { echo "without a server: $found" && exit 1; }
