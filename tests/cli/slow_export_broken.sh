#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Every broken recipe has a regression test, of which twelve are drawn anew each time (all with LOCKSTEP_DRAW=all): what the scenarios find is exported, fails with
# the recipe, and passes with the mutex. With gcc and clang; libraries that are instrumented fit only to their own compiler.
source "${BASH_SOURCE[0]%/*}/lib.sh"
source "${BASH_SOURCE[0]%/*}/lib_export.sh"
if ((${#flags[@]} == 6)); then
    compilers=(gcc clang) # both are there in the full setup
fi
count=0
"$LOCKSTEP" list recipes >"$scratch/recipes"
while read -r name property; do
    expect 1 "violated $property" "$LOCKSTEP" run --verbose --quiet --no-shrink --recipe "$name" --out "$scratch/$name" scenarios/mutex \
        scenarios/regress
    fails_and_passes "$(trace_of "$property" "$scratch/output")" "$property"
    rm -r "${scratch:?}/$name"
    count=$((count + 1))
done < <(awk -v no_run_shows=' not-judged can_always_be_served served_under_weak_fairness ' '
    $1 ~ /^broken-/ { name = $1 }
    $1 == "breaks" && !index(no_run_shows, " " $2 " ") { print name, $2 }' "$scratch/recipes" | drawn 12)
((count >= 12)) || { echo "broken recipes: $count"; failed=1; }
finish
