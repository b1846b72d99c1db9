# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Locks per second and hand-overs on one real server, ours beside Curator's, kazoo's and two floors, and a crowd of
# waiters. Sourced by ./dev bench. bench/lock/rounds.h has the protocol by which the sides are told what to do.
source bench/lock/sides.sh
source bench/lock/tables.sh

LOCK_OUT=build/bench-lock LOCK_BENCH=lock
readonly LOCK_CONTENDERS=4 LOCK_CROWD_LOCKS=100 LOCK_CROWD_WAITERS=1000
readonly LOCK_JARS=/usr/share/java LOCK_PYTHON=/usr/bin/python3
# A side's name and the number of contenders, in the order of the first round.
LOCK_RUNS=(create+delete:1 flight+delete:1 tuned:1 ours:1 curator:1 kazoo:1 ours:4 curator:4 kazoo:4)
# The same with --rwlock, `mixed`: one writer and three readers; with --semaphore, `lease`: one lease for all, `leases`: three;
# with --election; and with --multi, `several`: two mutexes at once.
readonly LOCK_RWLOCK_RUNS=(tuned:1 ours-write:1 curator-write:1 ours-read:1 curator-read:1 ours-write:4 curator-write:4
    ours-mixed:4 curator-mixed:4)
readonly LOCK_SEMAPHORE_RUNS=(tuned:1 ours-lease:1 curator-lease:1 ours-lease:4 curator-lease:4 ours-leases:4 curator-leases:4)
readonly LOCK_ELECTION_RUNS=(tuned:1 ours-latch:1 curator-latch:1 ours-selector:1 curator-selector:1 ours-latch:4 curator-latch:4
    ours-selector:4 curator-selector:4)
readonly LOCK_MULTI_RUNS=(tuned:1 ours-several:1 curator-several:1 ours-several:4 curator-several:4)
# Empty for the mutex, or what ours.c and CuratorRounds.java call the kinds that are measured.
LOCK_KINDS=''

bench_lock_needs()
{
    LOCK_BENCH=lock
    while (($# > 0)); do
        case $1 in
        --rwlock)
            lock_take_kinds 'write read mixed' "${LOCK_RWLOCK_RUNS[@]}"
            shift
            continue
            ;;
        --semaphore)
            lock_take_kinds 'lease leases' "${LOCK_SEMAPHORE_RUNS[@]}"
            shift
            continue
            ;;
        --multi)
            lock_take_kinds 'several' "${LOCK_MULTI_RUNS[@]}"
            shift
            continue
            ;;
        --election)
            lock_take_kinds 'latch selector' "${LOCK_ELECTION_RUNS[@]}"
            shift
            continue
            ;;
        --rounds)
            lock_number 5 99 "$@"
            LOCK_ROUNDS=$2
            ;;
        --round-ms)
            lock_number 100 60000 "$@"
            LOCK_ROUND_MS=$2
            ;;
        *) usage_error "bench lock: unexpected '$1', expected --rwlock, --semaphore, --multi, --election, --rounds N or --round-ms N" ;;
        esac
        shift 2
    done
    lock_needs_peers
}

# lock_take_kinds KINDS RUN...
lock_take_kinds()
{
    [[ -z $LOCK_KINDS ]] || usage_error 'bench lock: one of --rwlock, --semaphore, --multi and --election at a time'
    LOCK_KINDS=$1
    shift
    LOCK_RUNS=("$@")
}

lock_needs_peers()
{
    local missing='' jar
    command -v javac >/dev/null || missing='a Java compiler'
    for jar in curator-recipes curator-framework curator-client zookeeper slf4j-nop slf4j-simple; do
        [[ -n $missing || -f $LOCK_JARS/$jar.jar ]] || missing=$LOCK_JARS/$jar.jar
    done
    if [[ -z $missing ]] && ! "$LOCK_PYTHON" -c 'import kazoo' 2>/dev/null; then
        missing="kazoo for $LOCK_PYTHON"
    fi
    [[ -z $missing ]] ||
        environment_error "bench lock: $missing is not here; to install what it needs: ./dev setup bench"
}

bench_lock_target()
{
    echo bench_lock
}

bench_lock()
{
    LOCK_BENCH=lock LOCK_OUT=build/bench-lock
    source dev.d/zookeeper.sh
    rm -rf "$LOCK_OUT"
    mkdir -p "$LOCK_OUT/classes"
    javac -cp "$(lock_class_path)" -d "$LOCK_OUT/classes" bench/peers/CuratorRounds.java
    trap lock_end EXIT
    trap 'exit 143' TERM INT HUP
    lock_start_server
    lock_start_sides
    lock_warm_up
    lock_measure
    lock_stop_sides
    [[ -n $LOCK_KINDS ]] || lock_crowd
    lock_print
}

# A server as one would run it, but for the disk: its compiler optimises, and nothing else runs in its process.
lock_start_server()
{
    export LOCKSTEP_ZK_TICK_MS=2000
    export LOCKSTEP_ZK_JVM="-XX:TieredStopAtLevel=4 -Xmx512m ${LOCKSTEP_ZK_JVM:-}"
    zk_start build/zookeeper/bench-lock
    LOCK_SERVER_PID=$ZK_PID
    note "server on $ZK_HOSTPORT, pid $ZK_PID"
}

lock_end()
{
    lock_kill_sides
    zk_stop
}

lock_class_path()
{
    local jar path=$LOCK_OUT/classes
    for jar in curator-recipes curator-framework curator-client guava zookeeper zookeeper-jute slf4j-api slf4j-nop; do
        path+=:$LOCK_JARS/$jar.jar
    done
    echo "$path"
}

# ---- the sides ----

lock_start_sides()
{
    local programs=build/release/bench/lock kind
    if [[ -n $LOCK_KINDS ]]; then
        lock_start_side tuned $programs/floor tuned "$ZK_HOSTPORT" 1
        for kind in $LOCK_KINDS; do
            lock_start_side ours-$kind $programs/ours "$ZK_HOSTPORT" $LOCK_CONTENDERS $kind
            lock_start_side curator-$kind java -cp "$(lock_class_path)" CuratorRounds "$ZK_HOSTPORT" $LOCK_CONTENDERS $kind
        done
        return
    fi
    lock_start_side create+delete $programs/floor create "$ZK_HOSTPORT" 1
    lock_start_side flight+delete $programs/floor flight "$ZK_HOSTPORT" 1
    lock_start_side tuned $programs/floor tuned "$ZK_HOSTPORT" 1
    lock_start_side ours $programs/ours "$ZK_HOSTPORT" $LOCK_CONTENDERS
    lock_start_side curator java -cp "$(lock_class_path)" CuratorRounds "$ZK_HOSTPORT" $LOCK_CONTENDERS
    lock_start_side kazoo "$LOCK_PYTHON" bench/peers/kazoo_rounds.py "$ZK_HOSTPORT" $LOCK_CONTENDERS
}

# ---- rounds ----

lock_ask_server()
{
    zk_ask "${ZK_HOSTPORT##*:}" mntr >"$LOCK_OUT/$1"
}

lock_requests()
{
    lock_ask_server asked
    lock_metric "$LOCK_OUT/asked" packets_received
}

lock_look_at_holds()
{
    [[ $1 != *-mixed && $1 != *-leases ]] || return 0 # several hold at the same time
    lock_keep_handovers "$@"
}

# ---- a crowd ----

# Counts at the server: while all wait each has one watch, and each deletion fires one.
lock_crowd()
{
    local asked memory drained
    lock_start_side crowd build/release/bench/lock/crowd "$ZK_HOSTPORT" $LOCK_CROWD_LOCKS $LOCK_CROWD_WAITERS
    lock_tell crowd ask
    lock_reply crowd asked 60
    lock_await_watches
    lock_tell crowd weigh
    lock_reply crowd memory 60
    lock_tell crowd drain
    lock_reply crowd drained 60
    lock_ask_server drained
    lock_stop_side crowd
    echo "$asked $memory $drained" >"$LOCK_OUT/crowd"
}

lock_await_watches()
{
    local tries=300
    while ((tries-- > 0)); do
        lock_ask_server waiting
        if (($(lock_metric "$LOCK_OUT/waiting" watch_count) >= LOCK_CROWD_WAITERS)); then
            return
        fi
        sleep 0.1
    done
    lock_give_up crowd "only $(lock_metric "$LOCK_OUT/waiting" watch_count) of $LOCK_CROWD_WAITERS wait"
}

# ---- what is printed ----

lock_print()
{
    local status=0 side sides='ours curator kazoo'
    [[ -z $LOCK_KINDS ]] || sides="ours-${LOCK_KINDS%% *} curator-${LOCK_KINDS%% *}"
    echo
    awk -f bench/lock/table.awk "$LOCK_OUT/runs" || status=$EXIT_FAILED
    echo
    printf '%-14s %10s %9s %9s\n' 'hand-over, us' 'hand-overs' median '99 %'
    for side in $sides; do
        lock_handover_row "$side" "$LOCK_OUT/$side.handovers"
    done
    echo
    if [[ -z $LOCK_KINDS ]]; then
        lock_print_crowd || status=$EXIT_FAILED
        echo
    fi
    lock_print_notes
    ((status == 0)) || exit $status
}

lock_print_crowd()
{
    local ask_ns resident used grants ns out_of_turn n=$LOCK_CROWD_WAITERS
    local before=$LOCK_OUT/waiting after=$LOCK_OUT/drained counts
    read -r _ ask_ns _ resident used _ grants ns out_of_turn <"$LOCK_OUT/crowd"
    echo "$LOCK_CROWD_LOCKS locks, $n waiters in one session"
    echo "    memory of a waiter        $((resident / n)) bytes resident, $((used / n)) in use"
    echo "    calls of acquire          $((ask_ns / 1000 / n)) us each"
    echo "    watches while all wait    $(lock_metric "$before" watch_count)"
    counts=("$(lock_metric_growth "$before" "$after" cnt_node_deleted_watch_count)"
        "$(lock_metric_growth "$before" "$after" sum_node_deleted_watch_count)"
        "$(lock_metric "$after" max_node_deleted_watch_count)")
    echo "    woken by ${counts[0]} deletions    ${counts[1]}, by one at most ${counts[2]}"
    echo "    packets for all grants    $(lock_metric_growth "$before" "$after" packets_received) to the server," \
        "$(lock_metric_growth "$before" "$after" packets_sent) from it"
    echo "    grants                    $grants, out of turn $out_of_turn, $((ns / 1000 / grants)) us each"
    lock_crowd_verdict "$n" "$(lock_metric "$before" watch_count)" "${counts[@]}" "$grants" "$out_of_turn"
}

lock_print_notes()
{
    cat <<TEXT
$LOCK_ROUNDS rounds of $LOCK_ROUND_MS ms for each run after $LOCK_WARM_UPS that do not count, in rotated order. One server on this machine that
does not sync to disk; a session of its own for each contender; no logging. With 4 contenders each loops over acquire
and release for the whole round, and the locks of all count. Ratios are medians of the rounds' own. Processor time and
requests are for one lock. A hand-over is the time from before a release is called until the next acquire has returned.
"others" is the work of programs that are not measured, in percent of one processor: figures count where it is near 0.
TEXT
}
