# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Benchmarks: the programs of bench/, built for release.

help_bench()
{
    cat <<'TEXT'
usage: ./dev bench [--list] [NAME [ARGUMENTS]]

Builds release and runs bench/NAME.c, or all of them.

examples:
  ./dev bench                 all
  ./dev bench --list          their names
  ./dev bench world           size of a world, nanoseconds per snapshot, step, fingerprint, restore
TEXT
}

bench_names()
{
    local source
    for source in bench/*.c; do
        if [[ -f $source ]]; then
            basename "$source" .c
        fi
    done
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
    if [[ -n $name && ! -f bench/$name.c ]]; then
        usage_error "unknown benchmark '$name', expected one of: ${names//$'\n'/ }"
    fi
    source dev.d/setup.sh
    source dev.d/build.sh
    setup_groups run
    if [[ -n $name ]]; then
        shift
        step "build release" build_preset release OFF "bench_$name"
        "build/release/bench/$name" "$@"
        return
    fi
    for name in $names; do
        step "build release" build_preset release OFF "bench_$name"
        step "bench $name" "build/release/bench/$name"
    done
}
