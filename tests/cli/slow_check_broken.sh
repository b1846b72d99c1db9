#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A search of the standard configurations finds each broken recipe, in 10 seconds each at most. What a search without a
# clock cannot show is named here, with the reason.
source "$(dirname "$0")/lib.sh"
shopt -s extglob

declare -A BEYOND=(
    [broken-ignores-loss]="at_most_one_believer means something with a clock only"
    [broken-forgets-timeout]="deadline_is_kept means something with a clock only"
    [broken-release-by-anyone]="a client program never releases what its owner does not hold"
)

count=0
while read -r recipe; do
    status=0
    "$LOCKSTEP" check --quiet --recipe "$recipe" --max-time 10 --out "$scratch/reports" scenarios/explore/*_2.scn \
        >"$scratch/$recipe" 2>&1 || status=$?
    if [[ -n ${BEYOND[$recipe]:-} ]]; then
        same 0 "$status" "$recipe, which is beyond a search (${BEYOND[$recipe]})"
    elif ((status != 1)) || ! grep -qE '^FAIL|not-judged' "$scratch/$recipe"; then
        echo "$recipe is not caught:"
        tail -n 3 "$scratch/$recipe"
        failed=1
    fi
    count=$((count + 1))
done < <("$LOCKSTEP" list recipes | awk '$1 ~ /^broken-/ { print $1 }')
((count > 25)) || { echo "broken recipes: $count"; failed=1; }
finish
