# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Configures and compiles presets.

help_build()
{
    cat <<'TEXT'
usage: ./dev build [--preset PRESET] [TARGET...]

Installs what is missing and compiles everything, or the named targets, into build/PRESET.
Presets: release (default), debug, tsan, coverage, release-clang, debug-clang.

examples:
  ./dev build                          build/release/lockstep, liblockstep.a, liblockstep.so, examples, tests
  ./dev build --preset debug           the same with address and undefined behaviour sanitizers
  ./dev build lockstep                 the program alone
TEXT
}

cmd_build()
{
    local preset=release targets=()
    while (($# > 0)); do
        case $1 in
        --preset)
            need_value "$@"
            preset=$2
            shift
            ;;
        --preset=*) preset=${1#*=} ;;
        -*) usage_error "build: unknown option '$1', expected --preset" ;;
        *) targets+=("$1") ;;
        esac
        shift
    done
    check_preset "$preset"
    source dev.d/setup.sh
    setup_groups run test
    if [[ $preset == *-clang ]]; then
        setup_groups full
    fi
    step "build $preset" build_preset "$preset" ON "${targets[@]}"
}

# build_preset PRESET ON|OFF [TARGET...]: with or without tests. A folder that has tests configured keeps them.
build_preset()
{
    local preset=$1 tests=$2
    shift 2
    configure_preset "$preset" "$tests" || return
    cmake --build "build/$preset" ${1:+--target "$@"} -- --quiet
}

configure_preset()
{
    local folder=build/$1 tests=$2
    if [[ -f $folder/build.ninja ]]; then
        if [[ $tests == OFF ]] || grep -q '^LOCKSTEP_TESTS:BOOL=ON$' "$folder/CMakeCache.txt"; then
            return
        fi
    fi
    cmake --preset "$1" -DLOCKSTEP_TESTS="$tests" --log-level=WARNING >/dev/null
}
