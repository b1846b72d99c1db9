#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The servers of the fake answer as a real one does: 10,000 drawn sequences of 40 commands, reply by reply. The package
# redis-tools has the real server too, under the name of one of its tools.
set -euo pipefail

tool=$(command -v redis-check-rdb) || {
    echo "no redis-check-rdb (Debian: redis-tools)"
    exit 77
}
scratch=$(mktemp -d)
port=$((20000 + RANDOM % 10000))
(exec -a redis-server "$tool" --port "$port" --bind 127.0.0.1 --save '' --dir "$scratch") >"$scratch/log" &
server=$!
trap 'kill "$server" 2>/dev/null; wait "$server" 2>/dev/null; rm -rf "$scratch"' EXIT
for _ in {1..100}; do
    if (: </dev/tcp/127.0.0.1/"$port") 2>/dev/null; then
        break
    fi
    sleep 0.1
done
"$LOCKSTEP_BUILD_DIR/tests/fakeredis/conformance" "$port" "${SEQUENCES:-10000}" "${SEED:-1}"
