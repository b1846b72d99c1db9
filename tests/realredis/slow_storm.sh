#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The real run of the mutex on Redis, for a short time. Then each mistake that it can plant: the judge that it is for must say so.
set -euo pipefail
storm=$LOCKSTEP_BUILD_DIR/tests/realredis/storm
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# run STATUS... -- ARGUMENT...: a run that ends with one of these statuses.
run()
{
    local wanted='' status=0
    while [[ $1 != -- ]]; do
        wanted+=" $1"
        shift
    done
    shift
    rm -rf "$scratch/data"
    mkdir "$scratch/data"
    "$storm" "$@" "$scratch/data" >"$scratch/said" 2>&1 || status=$?
    cat "$scratch/said"
    ((status != 4)) || exit 77
    [[ "$wanted " == *" $status "* ]] || { echo "storm $*: expected exit status$wanted, found $status" && exit 1; }
}

# finds JUDGE MISTAKE: only time and luck bring the situation, so a run without it is made again.
finds()
{
    local seed
    for seed in 1 2 3; do
        run 0 1 -- --seconds 12 --lease-ms 250 --seed $seed --break "$2"
        ! grep -q "^$1 [0-9]*   FAIL$" "$scratch/said" || return 0
    done
    echo "no run with the mistake '$2' failed by '$1'"
    exit 1
}

run 0 -- --seconds 20
for what in kills stops cuts restarts 'stalls of the server'; do
    grep -qE "$what [1-9]" "$scratch/said" || { echo "no $what" && exit 1; }
done
finds 'overlaps of belief' belief
finds 'lost updates' tokens
finds 'tokens given twice' memory
run 2 -- --break moon
