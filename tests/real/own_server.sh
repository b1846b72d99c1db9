#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# ./dev zookeeper: a server that outlives the command, is named again by a second one, and is ended by --stop alone.
set -euo pipefail
export LC_ALL=C
scratch=$(mktemp -d)
failed=0
mkdir "$scratch/tree"
cp -r "$LOCKSTEP_SOURCE_DIR/dev" "$LOCKSTEP_SOURCE_DIR/dev.d" "$scratch/tree"
dev=$scratch/tree/dev
trap '"$dev" zookeeper --stop >/dev/null 2>&1 || true; rm -rf "$scratch"' EXIT

# says TEXT COMMAND...
says()
{
    local text=$1 found
    shift
    found=$("$@" 2>&1) || true
    [[ $found == *"$text"* ]] || { echo "$*: expected '$text', found '$found'"; failed=1; }
}

says 'no server runs' "$dev" zookeeper --stop
says 'it ends with: ./dev zookeeper --stop' "$dev" zookeeper
read -r pid address <"$scratch/tree/build/zookeeper/own/server.pid"
says "a server runs on $address, pid $pid" "$dev" zookeeper
says 'inside, token ' "$LOCKSTEP_BUILD_DIR/examples/critical_section" "$address"
says "stopped the server on $address" "$dev" zookeeper --stop
for ((tries = 100; tries > 0; tries--)); do
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.05
done
((tries > 0)) || { echo 'the server goes on'; failed=1; }
says "unexpected 'x', expected --stop or nothing" "$dev" zookeeper x
exit $failed
