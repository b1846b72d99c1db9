# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# What an input of fuzz_session_loss costs under AFL++, on one core, beside a target that does nothing. Sourced by ./dev bench.

readonly FUZZ_BENCH_RUNS=3
FUZZ_BENCH_SECONDS=10
FUZZ_BENCH_OUT=build/bench-fuzz

# bench_fuzz_needs [--time SECONDS]
bench_fuzz_needs()
{
    source dev.d/fuzz.sh
    while (($# > 0)); do
        case $1 in
        --time) need_value "$@" && FUZZ_BENCH_SECONDS=$2 && shift ;;
        *) usage_error "bench fuzz: unexpected '$1', expected --time" ;;
        esac
        shift
    done
    [[ $FUZZ_BENCH_SECONDS =~ ^[1-9][0-9]*$ ]] ||
        usage_error "bench fuzz: expected a number from 1 on after --time, found '$FUZZ_BENCH_SECONDS'"
    command -v afl-fuzz >/dev/null ||
        environment_error "bench fuzz runs AFL++, which is not here; to install it: ./dev setup fuzz"
}

bench_fuzz_target()
{
    echo fuzz_session_loss
}

bench_fuzz()
{
    local run nothing=() empty=() campaign=()
    step "build $FUZZ_BUILD" fuzz_build || exit $EXIT_ENVIRONMENT
    rm -rf "$FUZZ_BENCH_OUT"
    # What AFL++ keeps goes to memory: making thousands of files may take a disk as long as their inputs take.
    FUZZ_BENCH_OUT=$(mktemp -d /dev/shm/lockstep-bench.XXXXXX 2>/dev/null) || FUZZ_BENCH_OUT=build/bench-fuzz
    trap 'rm -rf "$FUZZ_BENCH_OUT"' EXIT
    mkdir -p "$FUZZ_BENCH_OUT/zero"
    printf '\0' >"$FUZZ_BENCH_OUT/zero/zero"
    for ((run = 1; run <= FUZZ_BENCH_RUNS; run++)); do
        nothing+=("$(fuzz_bench_rate nothing same)")
        empty+=("$(fuzz_bench_rate session_loss same)")
        campaign+=("$(fuzz_bench_rate session_loss mutator)")
    done
    fuzz_bench_tell "$(printf '%s\n' "${nothing[@]}" | median_of)" "$(printf '%s\n' "${empty[@]}" | median_of)" \
        "$(printf '%s\n' "${campaign[@]}" | median_of)"
}

# fuzz_bench_rate TARGET MUTATOR: executions a second, from the corpus, or from one byte of zero with the mutator "same".
fuzz_bench_rate()
{
    local out=$FUZZ_BENCH_OUT/$1-$2 seeds=$FUZZ_BENCH_OUT/zero
    [[ $2 == same ]] || seeds=fuzz/corpus/$1
    rm -rf "$out"
    fuzz_environment "$1" '' 1
    export AFL_CUSTOM_MUTATOR_LIBRARY=$ROOT/$FUZZ_BUILD/fuzz/$2.so AFL_CUSTOM_MUTATOR_ONLY=1
    afl-fuzz -V "$FUZZ_BENCH_SECONDS" -s 1 -i "$seeds" -o "$out" "$FUZZ_BUILD/fuzz/fuzz_$1" >"$out.log" 2>&1 || {
        tail -n 5 "$out.log" >&2
        exit $EXIT_ENVIRONMENT
    }
    awk -F' *: *' '$1 == "execs_per_sec" { printf "%.0f\n", $2 }' "$out/default/fuzzer_stats"
}

# fuzz_bench_tell NOTHING EMPTY CAMPAIGN
fuzz_bench_tell()
{
    local nothing=$1 empty=$2 campaign=$3 queue=$FUZZ_BENCH_OUT/session_loss-mutator/default/queue inputs
    printf '%-44s %9s\n' 'inputs per second, medians' '' 'a target that does nothing' "$nothing" \
        'session_loss, an input without decisions' "$empty" 'session_loss, a campaign from the corpus' "$campaign"
    awk -v a="$nothing" -v b="$empty" 'BEGIN { printf "an input without decisions costs %.2f times what nothing costs\n", a / b }'
    echo 'what the inputs of the campaign that were kept do:'
    build/release/fuzz/fuzz_session_loss "$queue"/id* 2>"$FUZZ_BENCH_OUT/inputs" || exit $EXIT_FAILED
    sed 's/^/    /' "$FUZZ_BENCH_OUT/inputs"
    inputs=$(<"$FUZZ_BENCH_OUT/inputs")
    awk -v rate="$campaign" '{ printf "%.2f million steps per second, with as many for each\n", rate * $3 / $1 / 1e6; exit }' \
        <<<"${inputs//,/}"
    awk -F' *: *' '$1 == "stability" { print "stability " $2 }' "$FUZZ_BENCH_OUT/session_loss-mutator/default/fuzzer_stats"
}
