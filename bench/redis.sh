# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Locks per second on one real Redis server: ours beside the commands of DLock and a floor. Sourced by ./dev bench. bench/redis/design.h
# says what the sides do, bench/lock/sides.sh how they take turns.
source bench/lock/sides.sh
source bench/lock/tables.sh

readonly REDIS_CONTENDERS=4 REDIS_BINARY=/usr/bin/redis-check-rdb REDIS_SIDES='floor dlock ours'
REDIS_LEASE_MS=3000 REDIS_PORT=''

bench_redis_needs()
{
    LOCK_BENCH=redis
    while (($# > 0)); do
        case $1 in
        --rounds)
            lock_number 1 99 "$@"
            LOCK_ROUNDS=$2
            ;;
        --round-ms)
            lock_number 100 60000 "$@"
            LOCK_ROUND_MS=$2
            ;;
        --lease-ms)
            lock_number 300 60000 "$@"
            REDIS_LEASE_MS=$2
            ;;
        *) usage_error "bench redis: unexpected '$1', expected --rounds N, --round-ms N or --lease-ms N" ;;
        esac
        shift 2
    done
    [[ -x $REDIS_BINARY ]] || environment_error "bench redis: $REDIS_BINARY is not here; to install what it needs: ./dev setup redis"
}

bench_redis_target()
{
    echo bench_redis_side
}

bench_redis()
{
    local side
    LOCK_BENCH=redis LOCK_OUT=$PWD/build/bench-redis
    LOCK_RUNS=(floor:1 dlock:1 ours:1 dlock:$REDIS_CONTENDERS ours:$REDIS_CONTENDERS)
    rm -rf "$LOCK_OUT"
    mkdir -p "$LOCK_OUT"
    trap redis_end EXIT
    trap 'exit 143' TERM INT HUP
    redis_start_server
    for side in $REDIS_SIDES; do
        lock_start_side "$side" build/release/bench/redis/side "$side" "127.0.0.1:$REDIS_PORT" $REDIS_CONTENDERS "$REDIS_LEASE_MS"
    done
    lock_warm_up
    lock_measure
    lock_stop_sides
    redis_print
}

# A server that keeps nothing on a disk.
redis_start_server()
{
    local tries=100
    REDIS_PORT=$((20000 + RANDOM % 10000))
    (cd "$LOCK_OUT" && exec -a redis-server $REDIS_BINARY --port "$REDIS_PORT" --bind 127.0.0.1 --save '') >"$LOCK_OUT/server.log" &
    LOCK_SERVER_PID=$!
    until [[ $(redis-cli -p "$REDIS_PORT" ping 2>/dev/null) == PONG ]]; do
        ((tries-- > 0)) || lock_give_up server 'it does not answer'
        sleep 0.1
    done
    note "server on 127.0.0.1:$REDIS_PORT, pid $LOCK_SERVER_PID"
}

redis_end()
{
    lock_kill_sides
    [[ -z ${LOCK_SERVER_PID:-} ]] || kill "$LOCK_SERVER_PID" 2>/dev/null || true
}

# Number of times that the server has read requests from a connection.
redis_requests()
{
    redis-cli -p "$REDIS_PORT" info stats | tr -d '\r' | sed -n 's/^total_reads_processed://p'
}

redis_look_at_holds()
{
    lock_keep_handovers "$@"
    (($2 == 1)) || lock_waits "$2" "$LOCK_OUT/holds" >>"$LOCK_OUT/$1.waits"
}

# redis_waits_row SIDE: medians over the rounds.
redis_waits_row()
{
    printf '%-14s %10s %11s %%\n' "$1" "$(cut -d' ' -f2 "$LOCK_OUT/$1.waits" | lock_percentile 50)" \
        "$(cut -d' ' -f1 "$LOCK_OUT/$1.waits" | lock_percentile 50)"
}

redis_print()
{
    local side status=0
    echo
    awk -f bench/lock/table.awk "$LOCK_OUT/runs" || status=$EXIT_FAILED
    echo
    printf '%-14s %10s %9s %9s\n' 'hand-over, us' 'hand-overs' median '99 %'
    for side in dlock ours; do
        lock_handover_row "$side" "$LOCK_OUT/$side.handovers"
    done
    echo
    printf '%-14s %10s %13s\n' "$REDIS_CONTENDERS contenders" 'wait, ms' 'least share'
    for side in dlock ours; do
        redis_waits_row "$side"
    done
    echo
    redis_print_notes
    ((status == 0)) || exit $status
}

redis_print_notes()
{
    cat <<TEXT
$LOCK_ROUNDS rounds of $LOCK_ROUND_MS ms for each run after $LOCK_WARM_UPS that do not count, in rotated order, with leases of $REDIS_LEASE_MS ms. One server on this machine
that keeps nothing on a disk; a client of its own for each contender. With $REDIS_CONTENDERS contenders each loops over acquire and release for the whole
round, and the locks of all count. Ratios are medians of the rounds' own. Processor time and requests are for one lock. A request is a
read of the server from a connection. A hand-over is the time from before a release is called until the next acquire has returned, be it by
the same contender. "wait" is the longest time between two grants to one contender, and "least share" what the contender got that held the lock
least often, in percent of an equal share: medians of the rounds. "others" is the work of programs that are not measured, in percent
of one processor: figures count where it is near 0.
TEXT
}
