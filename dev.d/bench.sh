# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Benchmarks: the programs and scripts of bench/, built for release. A script NAME.sh has a function bench_NAME, and
# bench_NAME_needs, which gets the arguments and ends with EXIT_ENVIRONMENT if something is missing. It may have a function
# bench_NAME_target, which prints what is to be built instead of the program.

help_bench()
{
    cat <<'TEXT'
usage: ./dev bench [--list] [NAME [ARGUMENTS]]

Builds release and runs bench/NAME.c or bench/NAME.sh, or all of them. What bench/NAME.sh needs besides the compiler
is installed by ./dev setup bench.

examples:
  ./dev bench                 all
  ./dev bench --list          their names
  ./dev bench world           size of a world, nanoseconds per snapshot, step, fingerprint, restore
  ./dev bench explore         searches of lockstep and of SPIN, side by side (some three minutes); with TLC_JAR=FILE in the environment
                              also of TLC, whose tla2tools.jar that is (some four minutes more)
  ./dev bench fuzz            what an input of the main fuzz target costs under AFL++ on one core, beside a target that does nothing
                              (some two minutes, on a machine with nothing else to do); --time SECONDS of each run
  ./dev bench random          which random strategy finds which broken recipe in how many runs, and what each covers (some three
                              minutes); --runs N, --bases N
  ./dev bench lock            locks per second and hand-overs on a private server: ours, Curator's, kazoo's and two floors;
                              1,000 waiters (some three minutes); --rounds N (at least 5), --round-ms N; --rwlock,
                              --semaphore, --multi or --election: that lock beside Curator's
  ./dev bench redis           locks per second on a private Redis server: ours, the commands of Baidu's DLock and a floor, alone and
                              among four (some two minutes); --rounds N, --round-ms N, --lease-ms N
TEXT
}

# Of the numbers on standard input, one a line.
median_of()
{
    sort -n | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'
}

bench_names()
{
    local source
    for source in bench/*.c bench/*.sh; do
        if [[ -f $source ]]; then
            source=${source##*/}
            echo "${source%.*}"
        fi
    done
}

# bench_prepare NAME [ARGUMENTS]: complains before anything is built.
bench_prepare()
{
    local name=$1
    shift
    if [[ -f bench/$name.sh ]]; then
        # shellcheck source=/dev/null
        source "bench/$name.sh"
        "bench_${name}_needs" "$@"
    fi
}

bench_build()
{
    local target=bench_$1
    if [[ -f bench/$1.sh ]]; then
        target=lockstep
        ! declare -F "bench_$1_target" >/dev/null || target=$("bench_$1_target")
    fi
    step "build release" build_preset release OFF "$target"
}

bench_run()
{
    local name=$1
    shift
    if [[ -f bench/$name.sh ]]; then
        "bench_$name" "$@"
    else
        "build/release/bench/$name" "$@"
    fi
}

cmd_bench()
{
    local name=${1:-} names
    names=$(bench_names)
    case $name in
    --list)
        echo "$names"
        return
        ;;
    -*) usage_error "bench: unknown option '$name', expected --list" ;;
    esac
    if [[ -n $name && ! -f bench/$name.c && ! -f bench/$name.sh ]]; then
        usage_error "unknown benchmark '$name', expected one of: ${names//$'\n'/ }"
    fi
    if [[ -n $name ]]; then
        names=$name
        shift
    fi
    local one
    for one in $names; do
        bench_prepare "$one" "$@"
    done
    source dev.d/setup.sh
    source dev.d/build.sh
    setup_groups run
    if [[ -n $name ]]; then
        bench_build "$name"
        bench_run "$name" "$@"
        return
    fi
    for name in $names; do
        bench_build "$name"
        step "bench $name" bench_run "$name"
    done
}
