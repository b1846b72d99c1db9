#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A leader latch that is no part of the library, by the recipe latch.c: it keeps the promises, and each of its published mistakes
# is caught by the property that promises the contrary.
source "$LOCKSTEP_SOURCE_DIR/tests/cli/lib.sh"
plain_build_only
kinds=$LOCKSTEP_SOURCE_DIR/tests/kinds

build()
{
    "${CC:-cc}" -std=c11 -g -Wall -Wextra -Werror -shared -fPIC "-D$1=1" -Iinclude "$kinds/latch.c" -o "$scratch/$1.so"
}

# world NAME LINE...: a file with two candidates of one election, and these lines.
world()
{
    local name=$1
    shift
    printf '%s\n' 'world servers=1 used' 'election /locks/e' "$@" '----' >"$scratch/$name.scn"
}

check()
{
    "$LOCKSTEP" check --no-shrink --out "$scratch" --recipe "$scratch/$1.so" "$2"
}

# caught MISTAKE SITUATION PROPERTY: a situation of the suite violates the property.
caught()
{
    local status=0
    check "$1" "$LOCKSTEP_SOURCE_DIR/scenarios/suite/election/$2.scn" >"$scratch/output" 2>&1 || status=$?
    if [[ $status != 1 ]] || ! grep -qE "  violates (.*, )?$3(,|$)" "$scratch/output"; then
        echo "$1 in $2: expected $3 to be violated, found exit status $status and:"
        tail -5 "$scratch/output"
        failed=1
    fi
}

for name in CORRECT RESETS_FOR_EVER LEADS_ON_A_DEAD_NODE RESETS_INTERLEAVE HEARS_RECONNECTED; do
    build $name
done

world loss 'process a b: lead resign' 'explore loss<=1'
world expiry 'process a b: lead resign' 'explore expire<=1'
world three 'process a b c: lead resign' 'explore total<=0'
for name in loss expiry three; do
    expect 0 "1 passed" check CORRECT "$scratch/$name.scn"
done

caught RESETS_FOR_EVER three_candidates_and_expiry bounded_work
caught LEADS_ON_A_DEAD_NODE two_candidates at_most_one_holder
caught RESETS_INTERLEAVE two_candidates no_orphan_node
caught HEARS_RECONNECTED two_candidates every_loss_is_told
exit $failed
