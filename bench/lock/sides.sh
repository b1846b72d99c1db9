# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Rounds of several sides in turn, for ./dev bench lock and ./dev bench redis. Sourced. A side is a process that is told on its standard
# input what to do (rounds.h). The benchmark sets
#   LOCK_BENCH        its name; its functions NAME_requests prints the number of requests that its server got so far, and
#                     NAME_look_at_holds SIDE CONTENDERS looks at the holds of a run
#   LOCK_OUT          its folder
#   LOCK_RUNS         a side's name and the number of contenders, SIDE:CONTENDERS, in the order of the first round
#   LOCK_SERVER_PID   its server
LOCK_ROUNDS=7 LOCK_ROUND_MS=2000 LOCK_WARM_UPS=3
declare -gA LOCK_PID LOCK_IN LOCK_FROM

# lock_number MIN MAX OPTION [VALUE]
lock_number()
{
    (($# > 3)) || usage_error "bench $LOCK_BENCH: $3 wants a value"
    [[ $4 =~ ^[0-9]{1,5}$ ]] && ((10#$4 >= $1 && 10#$4 <= $2)) ||
        usage_error "bench $LOCK_BENCH: $3: expected a number from $1 to $2, found '$4'"
}

# ---- sides ----

# lock_start_side NAME COMMAND...: returns when it has said `ready`.
lock_start_side()
{
    local name=$1 file=$LOCK_OUT/$1 into from reply
    shift
    mkfifo "$file.in" "$file.out"
    "$@" <"$file.in" >"$file.out" 2>"$file.err" &
    LOCK_PID[$name]=$!
    exec {into}>"$file.in" {from}<"$file.out"
    LOCK_IN[$name]=$into
    LOCK_FROM[$name]=$from
    lock_reply "$name" reply 60
    [[ $reply == ready ]] || lock_give_up "$name" "expected 'ready', found '$reply'"
}

lock_tell()
{
    echo "$2" >&"${LOCK_IN[$1]}"
}

# lock_reply NAME VARIABLE SECONDS: its next line.
lock_reply()
{
    read -r -t "$3" -u "${LOCK_FROM[$1]}" "$2" || lock_give_up "$1" "no answer within $3 s"
}

lock_give_up()
{
    cat "$LOCK_OUT/$1.err" >&2
    echo "bench $LOCK_BENCH: $1: $2" >&2
    exit $EXIT_FAILED
}

lock_stop_side()
{
    local into=${LOCK_IN[$1]} from=${LOCK_FROM[$1]} status=0
    lock_tell "$1" quit
    wait "${LOCK_PID[$1]}" || status=$?
    unset "LOCK_PID[$1]"
    exec {into}>&- {from}<&-
    ((status == 0)) || lock_give_up "$1" "ended with status $status"
}

lock_stop_sides()
{
    local side
    for side in "${!LOCK_PID[@]}"; do
        lock_stop_side "$side"
    done
}

lock_kill_sides()
{
    local side
    for side in "${!LOCK_PID[@]}"; do
        kill "${LOCK_PID[$side]}" 2>/dev/null || true
    done
}

# ---- rounds ----

# A Java machine needs some thousand locks until it has compiled what it runs; the server is one, too.
lock_warm_up()
{
    local i run reply
    for ((i = 0; i < LOCK_WARM_UPS; i++)); do
        for run in "${LOCK_RUNS[@]}"; do
            lock_tell "${run%:*}" "${run#*:} $LOCK_ROUND_MS $LOCK_OUT/holds"
            lock_reply "${run%:*}" reply 120
        done
    done
}

# Each round begins with another run, so that nobody always comes first, or after the same one.
lock_measure()
{
    local round i count=${#LOCK_RUNS[@]}
    : >"$LOCK_OUT/runs"
    for ((round = 0; round < LOCK_ROUNDS; round++)); do
        for ((i = 0; i < count; i++)); do
            lock_run "$round" "${LOCK_RUNS[(round * 3 + i) % count]}"
        done
    done
}

lock_run()
{
    local side=${2%:*} contenders=${2#*:} reply client_us server_us busy_us requests
    client_us=$(lock_cpu_us "${LOCK_PID[$side]}")
    server_us=$(lock_cpu_us "$LOCK_SERVER_PID")
    requests=$("${LOCK_BENCH}_requests")
    busy_us=$(lock_busy_us)
    lock_tell "$side" "$contenders $LOCK_ROUND_MS $LOCK_OUT/holds"
    lock_reply "$side" reply 120
    busy_us=$(($(lock_busy_us) - busy_us))
    requests=$(($("${LOCK_BENCH}_requests") - requests))
    client_us=$(($(lock_cpu_us "${LOCK_PID[$side]}") - client_us))
    server_us=$(($(lock_cpu_us "$LOCK_SERVER_PID") - server_us))
    busy_us=$((busy_us - client_us - server_us))
    echo "$1 $side $contenders $reply $client_us $server_us $((busy_us > 0 ? busy_us : 0)) $requests" >>"$LOCK_OUT/runs"
    "${LOCK_BENCH}_look_at_holds" "$side" "$contenders"
}

# lock_keep_handovers SIDE CONTENDERS
lock_keep_handovers()
{
    lock_handovers "$LOCK_OUT/holds" >"$LOCK_OUT/handovers" || lock_give_up "$1" "two held the lock at once"
    (($2 == 1)) || cat "$LOCK_OUT/handovers" >>"$LOCK_OUT/$1.handovers"
}

# Microseconds of processor time that a process and its children have used.
lock_cpu_us()
{
    local pid ticks=0 fields
    # shellcheck disable=SC2013
    for pid in "$1" $(cat "/proc/$1/task/$1/children"); do
        fields=$(<"/proc/$pid/stat")
        # shellcheck disable=SC2206
        fields=(${fields##*) })
        ticks=$((ticks + fields[11] + fields[12]))
    done
    echo $((ticks * 1000000 / $(getconf CLK_TCK)))
}

# Microseconds for which the machine's processors have worked for anybody.
lock_busy_us()
{
    local fields
    # shellcheck disable=SC2207
    fields=($(head -n 1 /proc/stat))
    echo $(((fields[1] + fields[2] + fields[3] + fields[6] + fields[7]) * 1000000 / $(getconf CLK_TCK)))
}
