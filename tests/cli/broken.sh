#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The scenarios are worth what they catch: each broken recipe is caught by the property that it is listed with, in the
# run and in the replay of the trace that the run writes. The correct recipe besides ours differs from the expected
# traces in its timing, and violates nothing. Of the broken recipes it takes five with five different causes;
# slow_every_broken.sh takes all, in builds without sanitizers.
source "${BASH_SOURCE[0]%/*}/lib.sh"
source dev.d/traces.sh
plain_build_only

# run RECIPE [OPTION...]: its output in $scratch/output, its traces in a folder of its own, its exit status in `status`.
run()
{
    status=0
    "$LOCKSTEP" run --verbose --no-shrink --recipe "$1" --out "$scratch/reports/$1" "${@:2}" scenarios/mutex scenarios/regress \
        >"$scratch/output" 2>"$scratch/errors" </dev/null || status=$?
}

complain()
{
    echo "$1"
    tail -n 20 "$scratch/output" "$scratch/errors"
    failed=1
}

# caught RECIPE PROPERTY: by the run, and by the replay of the first of its traces that is about this property.
caught()
{
    local trace replayed
    run "$1" --quiet
    trace=$(trace_of "$2" "$scratch/output")
    if [[ $status != 1 || -z $trace ]]; then
        complain "$1: expected exit status 1 and 'violated $2' with a trace, found $status and:"
        return
    fi
    if [[ ! -s $trace ]]; then
        complain "$1: there is no trace $trace"
        return
    fi
    replayed=0
    "$LOCKSTEP" replay "$trace" >"$scratch/replay" 2>&1 </dev/null || replayed=$?
    if [[ $replayed != 1 ]] || ! grep -q "^$2 is violated at step " "$scratch/replay"; then
        echo "$1: expected of the replay of $trace exit status 1 and '$2 is violated', found $replayed and:"
        tail -n 20 "$scratch/replay"
        failed=1
    fi
}

# Verdicts per scenario: `differs` is another timing, all others but `holds` are not for a correct recipe.
violates_nothing()
{
    run "$1" --json
    if grep -v -e '"verdict":"holds"' -e '"verdict":"differs"' "$scratch/output" >"$scratch/wrong"; then
        cut -c 1-2000 "$scratch/wrong" >"$scratch/output"
        complain "$1: expected only 'holds' and 'differs', found:"
    fi
    if ! grep -q '"verdict"' "$scratch/output"; then
        complain "$1: expected one JSON object per scenario, found exit status $status and:"
    fi
}

"$LOCKSTEP" list recipes >"$scratch/recipes"
recipes=0
five=' broken-no-sort broken-by-name-only broken-exists-watch broken-forgets-timeout broken-fails-at-once '
while read -r name property; do
    recipes=$((recipes + 1))
    [[ -n ${every_recipe:-} || $five == *" $name "* ]] || continue
    if [[ $property == can_always_be_served || $property == served_under_weak_fairness ]]; then
        : # not in runs that end: live.sh
    else
        caught "$name" "$property"
    fi
done < <(awk '$1 ~ /^broken-/ { name = $1 } $1 == "breaks" { print name, $2 }' "$scratch/recipes")
same "$(grep -c '^broken-' "$scratch/recipes")" "$recipes" "broken recipes that were run"
[[ $recipes -ge 12 ]] || complain "expected a broken recipe for each property, found only $recipes"
violates_nothing textbook
# A session id as a token has more digits than any number of ZooKeeper: a write that names it is a step like others.
expect 1 'violated' "$LOCKSTEP" run --verbose --no-search --seeds 3 --no-shrink --recipe broken-session-token --out "$scratch/reports" \
    scenarios/suite/writes_at_two_locks_in_an_outage.scn
! grep -F contract_is_kept "$scratch/output" || failed=1
finish
