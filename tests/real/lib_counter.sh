# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# What the tests of examples/locked_counter share. Sourced.
program=$LOCKSTEP_BUILD_DIR/examples/locked_counter
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

# run_counter STATUS ARGUMENTS...: runs it with --json; the exit status must be that.
run_counter()
{
    local wanted=$1 status=0
    shift
    "$program" "$@" --json --out "$scratch/out" >"$scratch/json" 2>"$scratch/errors" </dev/null || status=$?
    if [[ $status != "$wanted" ]]; then
        wrong "locked_counter $*: expected exit status $wanted, found $status"
    fi
}

wrong()
{
    echo "$*"
    cat "$scratch/json" "$scratch/errors"
    failed=1
}

# figure NAME: a number of the JSON object.
figure()
{
    sed -nE "s/.*\"$1\":([0-9]+).*/\1/p" "$scratch/json"
}

# expect_figure NAME OPERATOR NUMBER, as in `expect_figure kills -gt 0`.
expect_figure()
{
    local found
    found=$(figure "$1")
    if [[ -z $found ]] || ! [ "$found" "$2" "$3" ]; then
        wrong "$1: expected $2 $3, found '$found'"
    fi
}

# expect_property VERDICT NAME
expect_property()
{
    grep -qF "\"$2\":\"$1\"" "$scratch/json" || wrong "'$2': expected $1"
}

# journal_count WORD: lines of a kind in the journal.
journal_count()
{
    grep -c " $1 " "$scratch/out/journal" || true
}
