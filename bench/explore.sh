# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Searches of SPIN over models of the mutex, written for it by hand, of TLC over the same models if TLC_JAR names its file, and of
# lockstep over the mutex that is shipped, in one run on one machine. Sourced by ./dev bench.
source bench/peers/pan.sh
source bench/peers/tlc.sh

readonly EXPLORE_OUT=build/bench-explore EXPLORE_STATES=4200000
readonly EXPLORE_LINE='%-22s %10s %11s %7s %7s %9s %9s %7s %7s  %s\n'
declare -gA CPU_S ELAPSED_S STATES TRANSITIONS BYTES MOST END

bench_explore_needs()
{
    (($# == 0)) || usage_error "bench explore: unexpected '$1'"
    command -v spin >/dev/null ||
        environment_error "bench explore compares with SPIN, which is not here; to install it: ./dev setup bench"
    [[ -n ${TLC_JAR:-} ]] || return 0
    [[ -f $TLC_JAR ]] || environment_error "bench explore: expected the file of TLC in TLC_JAR, found '$TLC_JAR'"
    command -v java >/dev/null ||
        environment_error "bench explore: TLC needs java, which is not here; to install it: ./dev setup bench"
}

bench_explore()
{
    rm -rf "$EXPLORE_OUT"
    mkdir -p "$EXPLORE_OUT"
    print_contents
    printf "$EXPLORE_LINE" run states transitions cpu elapsed states/s trans./s bytes/ most/ 'how'
    printf "$EXPLORE_LINE" '' '' '' s s 'million' 'million' state state ''
    run_peers
    [[ -z ${TLC_JAR:-} ]] || run_tlc
    run_ours
    print_ratios
    print_access
}

# What each file says of itself: its first comment, without the licence.
print_contents()
{
    local file
    for file in $(peer_rows | cut -d '|' -f 2 | sort -u); do
        echo "$file, a model for SPIN"
        awk '/^\/\*/ && !/SPDX/ { inside = 1 } inside { sub(/^(\/\*| \*) ?/, "    "); last = sub(/ \*\/$/, ""); print }
            last { exit }' "$PEERS/$file"
    done
    for file in "$PEERS"/*.scn; do
        echo "${file##*/}, a scenario for lockstep"
        sed -n 's/^#/   /p' "$file"
    done
    echo
}

# ---- running ----

# timed NAME COMMAND...: runs it with its output in NAME.out and NAME.err and puts into NAME.time the seconds of processor
# time and of elapsed time. With watch=yes the memory of its processes is sampled besides, into NAME.pss.
timed()
{
    local name=$1 file=$EXPLORE_OUT/$1 status=0
    shift
    (
        TIMEFORMAT='%3U %3S %3R'
        time "$@" >"$file.out" 2>"$file.err"
    ) 2>"$file.time" &
    local pid=$!
    if [[ ${watch:-no} == yes ]]; then
        sample_memory $pid >"$file.pss"
    fi
    wait $pid || status=$?
    local user system
    read -r user system ELAPSED_S[$name] <"$file.time"
    CPU_S[$name]=$(awk -v u="$user" -v s="$system" 'BEGIN { printf "%.3f", u + s }')
    return $status
}

# The proportional set size of a process's descendants, in KiB, ten times a second until it ends.
sample_memory()
{
    local rollups
    while kill -0 "$1" 2>/dev/null; do
        rollups=()
        descendants "$1"
        if ((${#rollups[@]} > 0)); then
            cat "${rollups[@]}" 2>/dev/null | awk '$1 == "Pss:" { sum += $2 } END { if (sum) print sum }'
        fi
        sleep 0.1
    done
}

# Appends to rollups the files that tell the memory of what a process has started, and that in turn.
descendants()
{
    local child children
    children=$(cat "/proc/$1/task/$1/children" 2>/dev/null) || return 0
    for child in $children; do
        rollups+=("/proc/$child/smaps_rollup")
        descendants "$child"
    done
}

# ---- the two sides ----

run_peers()
{
    local row name model spin_flags gcc_flags pan_flags states transitions
    while IFS='|' read -r name model spin_flags gcc_flags pan_flags states transitions <&3; do
        pan_build "$EXPLORE_OUT/$name" "$model" "$spin_flags" "$gcc_flags" || exit $EXIT_FAILED
        run_peer "$name" "$pan_flags" "$states" "$transitions"
        print_run "$name" "spin $spin_flags -a $model; ${PAN_COMPILER[*]} $gcc_flags -o pan pan.c; ./pan $pan_flags"
    done 3< <(peer_rows)
}

# Three runs: times are the medians.
run_peer()
{
    local name=$1 run cpu=() elapsed=()
    for run in 1 2 3; do
        # shellcheck disable=SC2086
        timed "$name" env -C "$EXPLORE_OUT/$name" ./pan $2 || true
        pan_compare "$EXPLORE_OUT/$name.out" "$3" "$4" || {
            echo "$name: SPIN does not find what bench/peers/README.md says; its output is in $EXPLORE_OUT/$name.out" >&2
            exit $EXIT_FAILED
        }
        cpu+=("${CPU_S[$name]}")
        elapsed+=("${ELAPSED_S[$name]}")
    done
    CPU_S[$name]=$(printf '%s\n' "${cpu[@]}" | median_of)
    ELAPSED_S[$name]=$(printf '%s\n' "${elapsed[@]}" | median_of)
    STATES[$name]=$3
    TRANSITIONS[$name]=$4
    BYTES[$name]=$(pan_number "$EXPLORE_OUT/$name.out" bytes)
}

# Once: it takes so long that a second run would not tell more.
run_tlc()
{
    local name model constants states transitions
    while IFS='|' read -r name model constants states transitions <&3; do
        tlc_prepare "$EXPLORE_OUT/$name" "$model" "$constants"
        timed "$name" tlc_run "$EXPLORE_OUT/$name" "$model" || true
        tlc_compare "$EXPLORE_OUT/$name.out" "$states" "$transitions" || {
            echo "$name: TLC does not find what bench/peers/README.md says; its output is in $EXPLORE_OUT/$name.out" >&2
            exit $EXIT_FAILED
        }
        STATES[$name]=$states
        TRANSITIONS[$name]=$transitions
        print_run "$name" "tlc2.TLC -workers 1 $model with $constants"
    done 3< <(tlc_rows)
}

run_ours()
{
    local situation
    for situation in atomic messages exhausted; do
        run_our "$situation.ours" "$situation"
        run_our "$situation.plain" "$situation" --no-renaming
        run_our "$situation.two" "$situation" --workers 2
    done
}

run_our()
{
    local name=$1 scenario=$PEERS/mutex_$2.scn status=0
    shift 2
    local options=(check --no-layers --max-states "$EXPLORE_STATES" "$@" "$scenario")
    watch=yes timed "$name" build/release/lockstep "${options[@]}" --json || status=$?
    if ((status != 0 && status != 3)); then
        cat "$EXPLORE_OUT/$name.err" "$EXPLORE_OUT/$name.out" >&2
        echo "$name: lockstep check ended with status $status" >&2
        exit $EXIT_FAILED
    fi
    STATES[$name]=$(our_number "$name" states)
    TRANSITIONS[$name]=$(our_number "$name" transitions)
    MOST[$name]=$(memory_growth "$name" 'sort -n | tail -n 1')
    BYTES[$name]=$(memory_growth "$name" 'tail -n 10 | median_of')
    END[$name]=$( ((status == 0)) || echo +)
    print_run "$name" "lockstep ${options[*]}"
}

# memory_growth NAME WHICH: bytes from the first sample to that which the command WHICH takes of all.
memory_growth()
{
    local first which
    read -r first <"$EXPLORE_OUT/$1.pss"
    which=$(eval "$2" <"$EXPLORE_OUT/$1.pss")
    echo $(((which - first) * 1024))
}

# our_number NAME FIELD: of the JSON object that was printed.
our_number()
{
    sed -n "s/.*\"$2\":\([0-9][0-9]*\)[,}].*/\1/p" "$EXPLORE_OUT/$1.out"
}

# ---- the table ----

ratio()
{
    awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", (b > 0 ? a / b : 0) }'
}

rate()
{
    awk -v n="$1" -v s="$2" 'BEGIN { printf "%.3f", (s > 0 ? n / s / 1e6 : 0) }'
}

# Rates are by processor time, which other load on the machine hardly changes.
print_run()
{
    local name=$1 states=${STATES[$1]}
    printf "$EXPLORE_LINE" "$name" "$states${END[$name]:-}" "${TRANSITIONS[$name]}" "$(seconds "${CPU_S[$name]}")" \
        "$(seconds "${ELAPSED_S[$name]}")" "$(rate "$states" "${CPU_S[$name]}")" \
        "$(rate "${TRANSITIONS[$name]}" "${CPU_S[$name]}")" "$(for_each "${BYTES[$name]:-}" "$states")" \
        "$(for_each "${MOST[$name]:-}" "$states")" "$2"
}

for_each()
{
    awk -v b="$1" -v n="$2" 'BEGIN { if (b == "") print "-"; else printf "%.1f", b / n }'
}

seconds()
{
    awk -v s="$1" 'BEGIN { printf "%.1f", s }'
}

# A's number of a second of processor time by B's.
rates_ratio()
{
    local -n of=$1
    ratio "$(rate "${of[$2]}" "${CPU_S[$2]}")" "$(rate "${of[$3]}" "${CPU_S[$3]}")"
}

print_ratios()
{
    local model variant
    echo
    printf '%-44s %9s %9s %9s\n' 'ours : SPIN, on one core' states/s trans./s bytes
    for model in atomic messages; do
        for variant in ours plain; do
            printf '%-44s %9s %9s %9s\n' "$model.$variant : $model" "$(rates_ratio STATES $model.$variant $model)" \
                "$(rates_ratio TRANSITIONS $model.$variant $model)" \
                "$(ratio "$(ratio "${BYTES[$model.$variant]}" "${STATES[$model.$variant]}")" \
                    "$(ratio "${BYTES[$model.compressed]}" "${STATES[$model.compressed]}")")"
        done
    done
    print_tlc_ratios
    echo
    echo 'two cores : one, by elapsed time for each state (other load counts)'
    for model in atomic messages; do
        echo "    SPIN $model $(scaling $model.one-core $model.two-cores)"
    done
    for model in atomic messages exhausted; do
        echo "    lockstep $model $(scaling $model.ours $model.two)"
    done
    echo
    echo 'Elapsed is the time to exhaust the situation, but with a + behind the number of states: that many states, and more'
    echo 'to come. Times of SPIN are medians of three runs. Rates are by processor time.'
    echo 'Bytes per state: of SPIN what the states take, without its hash table and stack; the ratio is to its compressed'
    echo 'states (with -DNOCOMP it prints no such figure). Of lockstep all memory that its processes have come to have since'
    echo 'the search began (Pss), with the table and what waits, in its last second, and the most: while the table grew.'
}

print_tlc_ratios()
{
    local model
    [[ -n ${TLC_JAR:-} ]] || return 0
    for model in atomic messages; do
        printf '%-44s %9s %9s\n' "$model.ours : tlc.$model" "$(rates_ratio STATES $model.ours tlc.$model)" \
            "$(rates_ratio TRANSITIONS $model.ours tlc.$model)"
    done
}

# What limits any search that remembers its states is one random access for each.
print_access()
{
    local ns name
    echo
    ./dev bench access | tee "$EXPLORE_OUT/access.out" | grep '^random access'
    ns=$(awk '/huge pages/ { print $3 }' "$EXPLORE_OUT/access.out")
    for name in atomic messages {atomic,messages,exhausted}.{ours,plain}; do
        awk -v name="$name" -v cpu="${CPU_S[$name]}" -v n="${STATES[$name]}" -v t="${TRANSITIONS[$name]}" -v ns="$ns" \
            'BEGIN { printf "%-22s %5.0f ns for a new state, %5.0f ns for a transition: %.1f and %.1f accesses\n",
                name, cpu / n * 1e9, cpu / t * 1e9, cpu / n * 1e9 / ns, cpu / t * 1e9 / ns }'
    done
}

scaling()
{
    awk -v t1="${ELAPSED_S[$1]}" -v n1="${STATES[$1]}" -v t2="${ELAPSED_S[$2]}" -v n2="${STATES[$2]}" \
        'BEGIN { printf "%.2f", (t1 / n1) / (t2 / n2) }'
}
