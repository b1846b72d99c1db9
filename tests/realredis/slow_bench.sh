#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The sides of ./dev bench redis, for a moment each: they do as bench/lock/rounds.h says, a lock costs the server the requests that it
# must, and contenders exclude each other.
source "$(dirname "$0")/lib.sh"
cd "$LOCKSTEP_SOURCE_DIR"
source bench/lock/tables.sh
side=$LOCKSTEP_BUILD_DIR/bench/redis/side

fail()
{
    echo "$1"
    exit 1
}

requests()
{
    redis-cli -p "$port" info stats | tr -d '\r' | sed -n 's/^total_reads_processed://p'
}

# rounds_of DESIGN CONTENDERS LEAST: two rounds; what is told of the second one is right, and each lock has cost at least so many requests.
rounds_of()
{
    local said locks ns before asked
    before=$(requests)
    said=$(printf '1 50 %s\n%s 300 %s\nquit\n' "$scratch/first" "$2" "$scratch/holds" |
        timeout 60 "$side" "$1" "127.0.0.1:$port" 4 300)
    asked=$(($(requests) - before))
    [[ $said =~ ^ready$'\n'([0-9]+)\ [0-9]+$'\n'([0-9]+)\ ([0-9]+)$ ]] || fail "$1: unexpected answer: $said"
    locks=${BASH_REMATCH[2]} ns=${BASH_REMATCH[3]}
    ((asked >= $3 * (BASH_REMATCH[1] + locks))) || fail "$1: only $asked requests for $locks locks"
    ((locks > 0 && locks == $(wc -l <"$scratch/holds"))) || fail "$1: $locks locks, but $(wc -l <"$scratch/holds") holds"
    ((ns >= 300000000)) || fail "$1: a round of $ns ns"
    lock_handovers "$scratch/holds" >"$scratch/handovers" || fail "$1: two held the lock at once"
    [[ $(lock_waits "$2" "$scratch/holds") =~ ^[0-9.]+\ [0-9.]+$ ]] || fail "$1: no waits"
    [[ $(redis-cli -p "$port" exists design) == 0 ]] || fail "$1: the key is left over"
}

start_server
rounds_of floor 1 2
for design in dlock redisson ours unasked; do
    rounds_of $design 1 2
    rounds_of $design 4 2
done
status=0
timeout 60 "$side" moon "127.0.0.1:$port" 1 300 >"$scratch/said" 2>&1 </dev/null || status=$?
[[ "$status $(<"$scratch/said")" == '2 usage: side DESIGN HOST:PORT CONTENDERS LEASE_MS (50 at least)' ]] ||
    fail "a design that is none: exit status $status, $(<"$scratch/said")"
stop_server
status=0
timeout 60 "$side" dlock "127.0.0.1:$port" 1 300 >"$scratch/said" 2>&1 </dev/null || status=$?
[[ "$status $(<"$scratch/said")" == "4 no Redis server at 127.0.0.1:$port" ]] || fail "without a server: $status, $(<"$scratch/said")"
