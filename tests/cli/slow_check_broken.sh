#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A search of the standard configurations finds broken recipes, twenty drawn anew each time (all with LOCKSTEP_DRAW=all), in 10 seconds
# each at most; those who let somebody wait for ever too. What a search without a clock cannot show is named here, with the reason.
source "$(dirname "$0")/lib.sh"

declare -A BEYOND=(
    [broken-narrow-token]="none of these configurations restarts the leader of several servers"
    [broken-no-margin]="belief_ends_in_time means something with a clock only"
    [broken-busy-if-new]="none of these configurations has a try whose directory is missing"
    [broken-forgets-timeout]="deadline_is_kept means something with a clock only"
)

# All that are of the mutex, without the one whose servers throttle: no broken recipe sends a delete again that such a server has refused, so each would be caught there.
configurations=()
for file in scenarios/explore/*_2.scn; do
    [[ $file = */throttled_2.scn || $file = */rwlock_* || $file = */election_* ]] || configurations+=("$file")
done
recipes=$("$LOCKSTEP" list recipes | awk '$1 ~ /^broken-/ { print $1 }' | drawn 20)

count=0
echo "recipes:" $recipes
for recipe in $recipes; do
    status=0
    "$LOCKSTEP" check --quiet --no-shrink --recipe "$recipe" --max-time 10 --out "$scratch/reports" "${configurations[@]}" \
        >"$scratch/$recipe" 2>&1 || status=$?
    if [[ -n ${BEYOND[$recipe]:-} ]]; then
        ((status == 0 || status == 3)) || { echo "$recipe is caught, and more than: ${BEYOND[$recipe]}"; failed=1; }
    elif ((status != 1)) || ! grep -qE '^FAIL|not-judged' "$scratch/$recipe"; then
        echo "$recipe is not caught:"
        tail -n 3 "$scratch/$recipe"
        failed=1
    fi
    count=$((count + 1))
done
((count >= 20)) || { echo "broken recipes: $count"; failed=1; }
finish
