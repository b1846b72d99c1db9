#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Reductions change no verdict. The recipe "mutex" and broken ones run in some configurations for two clients, with each reduction and
# with those that can be combined. Each verdict equals the one without reductions. Broken recipes are drawn anew each time, until there
# were twelve, and six of them were caught; LOCKSTEP_DRAW=all takes all.
source "$(dirname "$0")/../cli/lib.sh"

# verdicts RECIPE [OPTION...]: "pass FILE" or "FAIL FILE" for each.
verdicts()
{
    "$LOCKSTEP" check --no-shrink --recipe "$1" --out "$scratch/reports" "${@:2}" scenarios/explore/{mutex,crash,given_up}_2.scn 2>"$scratch/errors" |
        sed -n 's/^\(pass\|FAIL\|limit\|error\)  \([^ ]*\).*/\1 \2/p' | sort -u -k2
    [[ ! -s $scratch/errors ]] || cat "$scratch/errors"
}

recipes=$("$LOCKSTEP" list recipes | awk '$1 ~ /^broken-/ { print $1 }' | shuf)
count=0 caught=0
for recipe in mutex $recipes; do
    without=$(verdicts "$recipe" --no-renaming)
    for reductions in '' --symmetry --partial-order --subsume '--symmetry --partial-order' '--subsume --partial-order'; do
        # shellcheck disable=SC2086
        same "$without" "$(verdicts "$recipe" $reductions)" "verdicts of $recipe with renaming $reductions"
    done
    echo "recipe: $recipe"
    count=$((count + 1))
    ! grep -q FAIL <<<"$without" || caught=$((caught + 1))
    [[ ${LOCKSTEP_DRAW:-} == all ]] || ((caught < 6 || count < 13)) || break
done
((caught >= 6 && count > 12)) || { echo "recipes: $count, caught: $caught"; failed=1; }
finish
