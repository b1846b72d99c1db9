# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Sourced by tests that compile a program against the library, and start a real server for it.
set -euo pipefail
tool=$(command -v redis-check-rdb) || {
    echo "no redis-check-rdb (Debian: redis-tools)"
    exit 77
}
if [[ -n $LOCKSTEP_SANITIZE ]] || nm "$LOCKSTEP_BUILD_DIR/liblockstep.a" 2>/dev/null | grep __gcov_init >/dev/null; then
    exit 77 # nobody links an instrumented build
fi
scratch=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server" 2>/dev/null; wait 2>/dev/null; rm -rf "$scratch"' EXIT

# Sets port, and waits until the server listens.
start_server()
{
    port=$((20000 + RANDOM % 10000))
    (cd "$scratch" && exec -a redis-server "$tool" --port "$port" --bind 127.0.0.1 --save '') >"$scratch/log" &
    server=$!
    for _ in {1..100}; do
        if (: </dev/tcp/127.0.0.1/"$port") 2>/dev/null; then
            return
        fi
        sleep 0.1
    done
}

stop_server()
{
    kill "$server" && wait "$server" 2>/dev/null || true
    server=
}
