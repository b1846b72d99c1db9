#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The programs of ./dev bench lock that are written in C, for a moment each: they do as bench/lock/rounds.h says, each lock
# costs the server the requests that it must, and a small crowd is granted in turn, without a herd at the server.
set -euo pipefail
export LC_ALL=C
cd "$LOCKSTEP_SOURCE_DIR"
source bench/lock/tables.sh
source dev.d/zookeeper.sh

programs=$LOCKSTEP_BUILD_DIR/bench/lock port=${LOCKSTEP_ZK##*:}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail()
{
    echo "$1"
    exit 1
}

# rounds_of CONTENDERS REQUESTS COMMAND...: two rounds; what is told of the second one is right, and each lock has cost the
# server at least so many requests.
rounds_of()
{
    local contenders=$1 least=$2 said locks ns requests
    shift 2
    zk_ask "$port" mntr >"$scratch/before"
    said=$(printf '1 50 %s\n%s 300 %s\nquit\n' "$scratch/first" "$contenders" "$scratch/holds" | timeout 60 "$@")
    zk_ask "$port" mntr >"$scratch/after"
    [[ $said =~ ^ready$'\n'([0-9]+)\ [0-9]+$'\n'([0-9]+)\ ([0-9]+)$ ]] || fail "$1: unexpected answer: $said"
    locks=${BASH_REMATCH[2]} ns=${BASH_REMATCH[3]}
    requests=$(lock_metric_growth "$scratch/before" "$scratch/after" packets_received)
    ((requests >= least * (BASH_REMATCH[1] + locks))) || fail "$1: only $requests requests for $locks locks"
    ((locks > 0 && locks == $(wc -l <"$scratch/holds"))) || fail "$1: $locks locks, but $(wc -l <"$scratch/holds") holds"
    ((ns >= 300000000)) || fail "$1: a round of $ns ns"
    lock_handovers "$scratch/holds" >"$scratch/handovers" || fail "$1: two held the lock at once"
    (($(wc -l <"$scratch/handovers") == locks - 1)) || fail "$1: hand-overs are missing"
}

rounds_of 1 2 "$programs/floor" create "$LOCKSTEP_ZK" 1
rounds_of 1 3 "$programs/floor" flight "$LOCKSTEP_ZK" 1
rounds_of 1 3 "$programs/ours" "$LOCKSTEP_ZK" 4
rounds_of 4 3 "$programs/ours" "$LOCKSTEP_ZK" 4
rounds_of 1 3 "$programs/ours" "$LOCKSTEP_ZK" 4 read
rounds_of 4 3 "$programs/ours" "$LOCKSTEP_ZK" 4 write
rounds_of 1 6 "$programs/ours" "$LOCKSTEP_ZK" 4 lease
rounds_of 4 6 "$programs/ours" "$LOCKSTEP_ZK" 4 lease

# ---- the crowd: 5 locks, 50 waiters ----

await_watches()
{
    local tries=300
    while ((tries-- > 0)); do
        zk_ask "$port" mntr >"$scratch/waiting"
        if (($(lock_metric "$scratch/waiting" watch_count) >= 50)); then
            return
        fi
        sleep 0.05
    done
}

mkfifo "$scratch/in"
timeout 60 "$programs/crowd" "$LOCKSTEP_ZK" 5 50 <"$scratch/in" >"$scratch/out" &
exec 4>"$scratch/in"
echo ask >&4
await_watches
printf 'weigh\ndrain\nquit\n' >&4
wait $! || fail "the crowd ended with status $?: $(<"$scratch/out")"
zk_ask "$port" mntr >"$scratch/drained"
[[ $(<"$scratch/out") =~ ^ready$'\n'asked\ [0-9]+$'\n'memory\ (-?[0-9]+)\ (-?[0-9]+)$'\n'drained\ ([0-9]+)\ ([0-9]+)\ ([0-9]+)$ ]] ||
    fail "unexpected answer of the crowd: $(<"$scratch/out")"
lock_crowd_verdict 50 "$(lock_metric "$scratch/waiting" watch_count)" \
    "$(lock_metric_growth "$scratch/waiting" "$scratch/drained" cnt_node_deleted_watch_count)" \
    "$(lock_metric_growth "$scratch/waiting" "$scratch/drained" sum_node_deleted_watch_count)" \
    "$(lock_metric "$scratch/drained" max_node_deleted_watch_count)" "${BASH_REMATCH[3]}" "${BASH_REMATCH[5]}"

# ---- the other kinds; behind the crowd, because one deletion wakes several readers, or a leader and the next one ----

# requests_of KIND: tenths of a request for each lock of a round of four.
requests_of()
{
    local said
    zk_ask "$port" mntr >"$scratch/before"
    said=$(printf '4 300 /dev/null\nquit\n' | timeout 60 "$programs/ours" "$LOCKSTEP_ZK" 4 "$1") || fail "$1: exit status $?"
    zk_ask "$port" mntr >"$scratch/after"
    [[ $said =~ ^ready$'\n'([1-9][0-9]*)\ [0-9]+$ ]] || fail "$1: unexpected answer: $said"
    echo $(($(lock_metric_growth "$scratch/before" "$scratch/after" packets_received) * 10 / BASH_REMATCH[1]))
}

# Readers do not wait for each other: a lock costs them three requests, and five where a writer is in line.
read=$(requests_of read) mixed=$(requests_of mixed) write=$(requests_of write)
((read < 40 && mixed >= 40 && write >= 45)) || fail "requests for ten locks: read $read, mixed $mixed, write $write"

# A leader watches its own node, for one request more than a mutex.
rounds_of 1 4 "$programs/ours" "$LOCKSTEP_ZK" 4 latch
rounds_of 4 4 "$programs/ours" "$LOCKSTEP_ZK" 4 latch
rounds_of 4 4 "$programs/ours" "$LOCKSTEP_ZK" 4 selector

status=0
timeout 60 "$programs/ours" "$LOCKSTEP_ZK" 1 moon >"$scratch/said" 2>&1 </dev/null || status=$?
[[ "$status $(<"$scratch/said")" == '2 usage: ours HOST:PORT CONTENDERS [mutex | read | write | mixed | lease | leases | several | latch | selector]' ]] ||
    fail "a kind that is none: exit status $status, $(<"$scratch/said")"

status=0
echo '5 50 /dev/null' | timeout 60 "$programs/ours" "$LOCKSTEP_ZK" 4 >"$scratch/said" 2>&1 || status=$?
((status == 1)) || fail "more contenders than there are: exit status $status"
