# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# What all subcommands share: messages with times, exit codes, presets. Sourced by ./dev, which has set ROOT.

readonly EXIT_FAILED=1 EXIT_USAGE=2 EXIT_ENVIRONMENT=4
readonly PRESETS=(release debug tsan coverage release-clang debug-clang)

if [[ -t 1 && -z ${NO_COLOR:-} ]]; then
    BOLD=$'\e[1m' RED=$'\e[31m' GREEN=$'\e[32m' PLAIN=$'\e[0m'
else
    BOLD='' RED='' GREEN='' PLAIN=''
fi

# True if --help stands before a `--`.
wants_help()
{
    local word
    for word in "$@"; do
        case $word in
        --) return 1 ;;
        -h | --help) return 0 ;;
        esac
    done
    return 1
}

usage_error()
{
    echo "dev: $1" >&2
    exit $EXIT_USAGE
}

environment_error()
{
    echo "dev: $1" >&2
    exit $EXIT_ENVIRONMENT
}

note()
{
    echo "    $*"
}

# Milliseconds since the epoch.
now_ms()
{
    local micros=${EPOCHREALTIME/./}
    echo $((micros / 1000))
}

# Milliseconds as seconds with one digit: 3240 -> 3.2
as_seconds()
{
    echo "$(($1 / 1000)).$(($1 % 1000 / 100))"
}

# step TITLE COMMAND...: runs the command under a heading and prints how long it took; a failure is the caller's.
step()
{
    local title=$1 started status=0
    shift
    echo "${BOLD}==> $title${PLAIN}"
    started=$(now_ms)
    # In a subshell of its own, because `set -e` is off in whatever runs left of ||.
    set +e
    (
        set -e
        "$@"
    )
    status=$?
    set -e
    if ((status == 0)); then
        note "${GREEN}done${PLAIN} in $(as_seconds $(($(now_ms) - started))) s"
    else
        note "${RED}failed${PLAIN} ($title, exit $status) after $(as_seconds $(($(now_ms) - started))) s"
    fi
    return $status
}

need_value()
{
    (($# > 1)) || usage_error "$1 wants a value"
}

check_preset()
{
    local preset
    for preset in "${PRESETS[@]}"; do
        [[ $preset == "$1" ]] && return
    done
    usage_error "unknown preset '$1', expected one of: ${PRESETS[*]}"
}

# All C sources and headers that are ours, and the example in C++.
c_files()
{
    local folders=() folder
    for folder in include src tests examples bench fuzz; do
        [[ -d $folder ]] && folders+=("$folder")
    done
    find "${folders[@]}" -name '*.[ch]' -o -name '*.cpp' -o -name '*.hpp' | sort
}
