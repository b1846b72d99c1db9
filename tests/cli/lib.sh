# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Sourced by the tests of the command line: a scratch folder and one way of saying what is expected.
set -euo pipefail
export LC_ALL=C
cd "$LOCKSTEP_SOURCE_DIR"

failed=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# expect STATUS TEXT COMMAND...: the exit status, and a text in what it prints on both streams.
expect()
{
    local wanted=$1 text=$2 status=0
    shift 2
    "$@" >"$scratch/output" 2>&1 </dev/null || status=$?
    if [[ $status != "$wanted" || $(tr -d '\0' <"$scratch/output") != *"$text"* ]]; then
        echo "$*: expected exit status $wanted and '$text', found $status and:"
        cat "$scratch/output"
        failed=1
    fi
}

# expect_line LINE COMMAND...: exit status 2, and nothing but this one line on standard error.
expect_line()
{
    local wanted=$1 status=0
    shift
    "$@" >"$scratch/out" 2>"$scratch/err" </dev/null || status=$?
    if [[ $status != 2 || -s $scratch/out || $(<"$scratch/err") != "$wanted" ]]; then
        echo "$*: expected exit status 2 and the line"
        echo "  $wanted"
        echo "found $status and:"
        cat "$scratch/out" "$scratch/err"
        failed=1
    fi
}

# same EXPECTED FOUND WHAT: two texts are equal.
same()
{
    if [[ $1 != "$2" ]]; then
        echo "$3: expected '$1', found '$2'"
        failed=1
    fi
}

# drawn COUNT: of the lines that it reads so many, drawn anew each time, in their order; all of them with LOCKSTEP_DRAW=all.
drawn()
{
    if [[ ${LOCKSTEP_DRAW:-} == all ]]; then
        cat
    else
        nl | shuf -n "$1" | sort -n | cut -f2
    fi
}

# plain_build_only: ends a test that searches for long, in builds that watch or count themselves. The unit tests run there.
plain_build_only()
{
    ! is_slow_build || exit 77
}

# Builds that watch or count themselves are up to twenty times slower, and find the same.
is_slow_build()
{
    [[ -n $LOCKSTEP_SANITIZE || $LOCKSTEP_BUILD_DIR == */coverage ]]
}

# steps TRACE PROPERTY: how many steps its replay takes until this is violated.
steps()
{
    { "$LOCKSTEP" replay "$1" || true; } | sed -nE "s/^$2 is violated at step ([0-9]+) of .*/\1/p"
}

finish()
{
    exit $failed
}

# A scenario of one uncontended acquire; its expected part is right.
write_small()
{
    printf 'world used\nmutex /locks/x\nprocess a\na acquire\nsettle\n----\n[   60ms] a held     fence=4\n' >"$1"
}

# A scenario in which the reply to a create is lost; without an expected part.
write_lost()
{
    cat >"$1" <<'TEXT'
world used
mutex /locks/x
process a b

a acquire
before deliver a create-reply
cut a
settle
----
TEXT
}

# does_not_flood RECIPE: what run says of it in all directed scenarios is short.
does_not_flood()
{
    "$LOCKSTEP" run --recipe "$1" --out "$scratch/reports" scenarios/mutex scenarios/regress >"$scratch/output" || true
    (($(wc -l <"$scratch/output") <= 120)) || { echo "$1: $(wc -l <"$scratch/output") lines"; failed=1; }
    grep -q '^FAIL  ' "$scratch/output" || { echo "$1 does not fail"; failed=1; }
}
