# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Long runs, by the clock. What has been done is kept in a folder: an interrupted run goes on where it was.

help_soak()
{
    cat <<'TEXT'
usage: ./dev soak lock [--time DURATION] [--out DIR]
       ./dev soak fuzz [--time DURATION] [--seeds N] [--only NAME] [--out DIR]

All kinds of lock on a private server for a long time: workers of a mutex are killed and stopped, the server is killed and started again, a
proxy cuts connections, and some contenders of each kind live as long as the run. At the end no update is lost, nobody has met anybody under
a lock whom it excludes, and nothing is left: no session, no node, no watch at the server (by its own counters), no memory in the contenders.

  --time DURATION   how long in all, as 90s, 30m or 2h (default 30m)
  --out DIR         where the results are kept (default build/soak/lock); an unfinished run in there goes on, a finished one
                    begins anew

fuzz: AFL++ against each canary of tests/canary, from one byte of zero, with N seeds (default 3), 3 minutes at most; the three hardest
with and without abstract situations; then our own lock for DURATION (default 20m). Each attempt is a line in DIR (default
build/soak/fuzz), and what is there is not done again. --only NAME: canaries whose names begin so, and nothing else.

examples:
  ./dev soak fuzz --only z02
  ./dev soak lock
  ./dev soak lock --time 3m
TEXT
}

# What contender.c calls the kinds.
readonly SOAK_KINDS=(contend share lease several latch selector) SOAK_CONTENDERS_OF_A_KIND=3
SOAK_OUT='' SOAK_S=1800 SOAK_PROXY='' SOAK_CONTENDERS=()

cmd_soak()
{
    local what=${1:-}
    [[ $what == lock || $what == fuzz ]] || usage_error "soak: expected lock or fuzz, found '$what'"
    shift
    if [[ $what == fuzz ]]; then
        source dev.d/soak_fuzz.sh
        soak_fuzz "$@"
        return
    fi
    SOAK_OUT=build/soak/lock
    while (($# > 0)); do
        case $1 in
        --time)
            need_value "$@"
            SOAK_S=$(soak_seconds "$2")
            shift
            ;;
        --out)
            need_value "$@"
            SOAK_OUT=$2
            shift
            ;;
        *) usage_error "soak: unknown option '$1', expected --time or --out" ;;
        esac
        shift
    done
    source dev.d/setup.sh
    source dev.d/build.sh
    setup_groups run test soak
    step "build release" build_preset release ON example_locked_counter contender
    source dev.d/zookeeper.sh
    trap soak_stop EXIT
    trap 'exit 143' TERM INT HUP
    soak_lock
}

soak_seconds()
{
    case $1 in
    [1-9]*s) echo "${1%s}" ;;
    [1-9]*m) echo "$((${1%m} * 60))" ;;
    [1-9]*h) echo "$((${1%h} * 3600))" ;;
    *) usage_error "soak: expected a duration such as 90s, 30m or 2h, found '$1'" ;;
    esac
}

# ---- the sum of what was done, kept in a file: NAME NUMBER a line ----

declare -A SOAK_SUM=()

soak_load()
{
    local name number
    if [[ -f $SOAK_OUT/finished ]]; then
        rm -rf "$SOAK_OUT"
    fi
    for name in "${SOAK_KINDS[@]}"; do
        mkdir -p "$SOAK_OUT/$name"
        rm -f "$SOAK_OUT/$name"/{busy,reader-*,lease-*}
    done
    while read -r name number; do
        SOAK_SUM[$name]=$number
    done < <(cat "$SOAK_OUT/sum" 2>/dev/null || true)
}

soak_add()
{
    SOAK_SUM[$1]=$((${SOAK_SUM[$1]:-0} + $2))
}

soak_save()
{
    local name
    for name in "${!SOAK_SUM[@]}"; do
        echo "$name ${SOAK_SUM[$name]}"
    done | sort >"$SOAK_OUT/sum.new"
    mv "$SOAK_OUT/sum.new" "$SOAK_OUT/sum"
}

# ---- the server, the proxy, the contenders ----

SOAK_PORT='' SOAK_PROXY_PORT='' SOAK_FOLDER=''

soak_start()
{
    zk_start build/zookeeper/soak
    SOAK_PORT=${ZK_HOSTPORT##*:}
    SOAK_FOLDER=$(cd build/zookeeper/soak && pwd)
    python3 dev.d/cutter.py "$SOAK_PORT" 1 8 "${SOAK_SUM[seconds]:-0}" >"$SOAK_OUT/proxy" &
    SOAK_PROXY=$!
    while [[ ! -s $SOAK_OUT/proxy ]]; do
        kill -0 "$SOAK_PROXY" || environment_error "soak: the proxy does not start"
        sleep 0.05
    done
    read -r SOAK_PROXY_PORT <"$SOAK_OUT/proxy"
}

# The contenders' time is the run's; when it is over they end by themselves.
soak_contend()
{
    local i kind
    for kind in "${SOAK_KINDS[@]}"; do
        for ((i = 1; i <= SOAK_CONTENDERS_OF_A_KIND; i++)); do
            build/release/examples/contender "127.0.0.1:$SOAK_PROXY_PORT" "/soak/$kind" "$kind" "$SOAK_OUT/$kind" "contender-$i" \
                "$1" 2>>"$SOAK_OUT/contenders.err" &
            SOAK_CONTENDERS+=($!)
        done
    done
}

# Killed, or asked to end; its data stay.
soak_restart_server()
{
    kill "-$1" "$ZK_PID"
    wait "$ZK_PID" 2>/dev/null || true
    zk_launch "$SOAK_FOLDER" "$SOAK_PORT"
    zk_wait_ready "$SOAK_FOLDER" "$SOAK_PORT" || environment_error "soak: the server does not come back"
    soak_add restarts 1
}

soak_stop()
{
    local pid
    for pid in "${SOAK_CONTENDERS[@]}" $SOAK_PROXY; do
        kill "$pid" 2>/dev/null || true
    done
    zk_stop
}

# ---- one turn ----

soak_figure()
{
    sed -nE "s/.*\"$1\":([0-9]+).*/\1/p" "$SOAK_OUT/turn.json"
}

# Workers come and go for some seconds while the server is started again.
soak_turn()
{
    local turn=$1 status=0 name worker
    build/release/examples/locked_counter --zk "127.0.0.1:$SOAK_PROXY_PORT" --processes 3 --rounds 40 --seed "$turn" --json \
        --path "/soak/counter-$((turn % 5))" --out "$SOAK_OUT/turn" >"$SOAK_OUT/turn.json" 2>"$SOAK_OUT/turn.err" &
    worker=$!
    sleep "$((1 + turn % 4))"
    soak_restart_server $((turn % 2 == 0 ? 9 : 15))
    wait $worker || status=$?
    case $status in
    0) soak_add turns 1 ;;
    3) soak_add inconclusive 1 ;;
    *)
        cp -r "$SOAK_OUT/turn" "$SOAK_OUT/turn.json" "$SOAK_OUT/turn.err" "$SOAK_OUT/wrong-$turn" 2>/dev/null ||
            mkdir -p "$SOAK_OUT/wrong-$turn"
        soak_add wrong 1
        ;;
    esac
    for name in rounds kills stops lost_updates overlaps; do
        soak_add $name "$(soak_figure $name | grep . || echo 0)"
    done
}

# Only while all of them live.
soak_note_memory()
{
    local memory
    memory=$(soak_memory)
    [[ $(wc -w <<<"$memory") != "${#SOAK_CONTENDERS[@]}" ]] || echo "$1 $memory" >>"$SOAK_OUT/memory"
}

soak_memory()
{
    local pid
    for pid in "${SOAK_CONTENDERS[@]}"; do
        sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$pid/status" 2>/dev/null || true
    done | tr '\n' ' '
}

# ---- the end ----

SOAK_FAILED=0

soak_wrong()
{
    echo "wrong: $*"
    SOAK_FAILED=1
}

# A counter of the server; its own connection is the only one left.
soak_count()
{
    zk_ask "$SOAK_PORT" mntr | awk -v name="$1" '$1 == name { print $2 }'
}

soak_judge_rest()
{
    local name tries=100
    while ((tries-- > 0)) && [[ $(soak_count zk_ephemerals_count) != 0 || $(soak_count zk_global_sessions) != 0 ]]; do
        sleep 0.2
    done
    for name in zk_ephemerals_count zk_watch_count zk_global_sessions; do
        [[ $(soak_count $name) == 0 ]] || soak_wrong "the server has $name $(soak_count $name)"
    done
    # The locks' directories and what came with the server; no contender's node.
    (($(soak_count zk_znode_count) <= 23)) || soak_wrong "the server has $(soak_count zk_znode_count) nodes"
}

# After the first minute or so everything has been used once.
soak_judge_memory()
{
    awk 'NR == int(lines / 10) + 1 { for (i = 2; i <= NF; i++) early += $i }
         { late = 0; for (i = 2; i <= NF; i++) late += $i }
         END { print early, late; exit late > early * 1.1 + 600 }' \
        lines="$(wc -l <"$SOAK_OUT/memory")" "$SOAK_OUT/memory" >"$SOAK_OUT/memory.sums" ||
        soak_wrong "the contenders have grown: $(<"$SOAK_OUT/memory.sums") kB"
}

# soak_judge_room KIND: of what its contenders have written there. A log has the token of each holder that stands alone.
soak_judge_room()
{
    local room=$SOAK_OUT/$1 entries
    entries=$(find "$room" -name log -o -name readers | xargs -r cat | wc -l)
    soak_add "entries_$1" "$entries"
    ((entries > 0)) || soak_wrong "$1: nobody has ever had the lock"
    [[ ! -s $room/overlaps ]] || soak_wrong "$1: contenders have met $(wc -l <"$room/overlaps") times"
    [[ ! -f $room/log ]] || sort -c -n -k2,2 "$room/log" || soak_wrong "$1: contenders were not served in the order of their nodes"
}

soak_judge()
{
    local pid kind
    for pid in "${SOAK_CONTENDERS[@]}"; do
        wait "$pid" || soak_wrong "a contender ended with status $?"
    done
    SOAK_CONTENDERS=()
    soak_judge_rest
    soak_judge_memory
    for kind in "${SOAK_KINDS[@]}"; do
        soak_judge_room "$kind"
    done
    ((${SOAK_SUM[lost_updates]:-0} == 0)) || soak_wrong "${SOAK_SUM[lost_updates]} updates are lost"
    ((${SOAK_SUM[overlaps]:-0} == 0)) || soak_wrong "${SOAK_SUM[overlaps]} workers have met"
    ((${SOAK_SUM[wrong]:-0} == 0)) || soak_wrong "${SOAK_SUM[wrong]} turns went wrong, see $SOAK_OUT"
    ((${SOAK_SUM[turns]:-0} > ${SOAK_SUM[inconclusive]:-0})) || soak_wrong "most turns were inconclusive"
    kill -TERM "$SOAK_PROXY"
    wait "$SOAK_PROXY" || true
    SOAK_PROXY=''
    soak_add cuts "$(tail -n 1 "$SOAK_OUT/proxy")"
}

soak_lock()
{
    local started=$SECONDS before turn last
    soak_load
    before=${SOAK_SUM[seconds]:-0}
    turn=$((${SOAK_SUM[turns]:-0} + ${SOAK_SUM[inconclusive]:-0} + ${SOAK_SUM[wrong]:-0}))
    last=$((SOAK_S - before))
    ((before == 0)) || note "going on after $before s"
    soak_start
    soak_contend "$last"
    while ((SECONDS - started < last - 10)); do
        soak_turn $((++turn))
        soak_note_memory $((before + SECONDS - started))
        SOAK_SUM[seconds]=$((before + SECONDS - started))
        soak_save
        [[ ! -t 2 ]] || printf '\r%s of %s s, %s turns ' "${SOAK_SUM[seconds]}" "$SOAK_S" "$turn" >&2
    done
    soak_judge
    soak_save
    touch "$SOAK_OUT/finished"
    sed 's/^/    /' "$SOAK_OUT/sum"
    note "memory of the contenders, kB: early and late $(<"$SOAK_OUT/memory.sums")"
    echo "$((1 - SOAK_FAILED)) passed, $SOAK_FAILED failed"
    ((SOAK_FAILED == 0)) || exit $EXIT_FAILED
}
