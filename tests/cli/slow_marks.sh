#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Each mark in src/lock is reached by some scenario, some search or some random run, or docs/coverage.md says why not and which
# test of tests/lock has its situation.
source "$(dirname "$0")/lib.sh"
page=docs/coverage.md

# never_reached COMMAND...: the names, sorted. Random schedules prove nothing: a limit is fine.
never_reached()
{
    local status=0
    "$LOCKSTEP" "$@" --coverage --quiet --out "$scratch/reports" >"$scratch/output" || status=$?
    if ((status != 0 && status != 3)); then
        cat "$scratch/output" >&2
        return 1
    fi
    sed -n 's/^never reached: \([a-z-]*\) .*/\1/p' "$scratch/output" | sort
}

searches=()
for name in cancel_2 given_up_2 leftover_2 mutex_2 crash_2 early_2 sweep_2 revoke_2 pause_2 late_2; do
    searches+=("scenarios/explore/$name.scn")
done
never_reached run --no-search --seeds 500 >"$scratch/mixed"
never_reached run --no-search --seeds 500 --strategy swarm >"$scratch/swarm"
never_reached check --max-time 120 "${searches[@]}" >"$scratch/searches"
comm -12 "$scratch/mixed" "$scratch/swarm" | comm -12 - "$scratch/searches" >"$scratch/missing"

# The page's list: | `name` | reason |
sed -n '/^## Marks that no run reaches/,/^## /s/^| `\([a-z-]*\)` |.*/\1/p' "$page" | sort >"$scratch/explained"
if ! diff "$scratch/explained" "$scratch/missing"; then
    echo "< marks that $page explains; > marks that were never reached"
    failed=1
fi
# A mark that is explained by a test has one.
while read -r test; do
    [[ -f $test ]] || { echo "$page names $test, which is not there" && failed=1; }
done < <(sed -n '/^## Marks that no run reaches/,/^## /p' "$page" | grep -o 'tests/lock/[a-z_]*\.c')
finish
