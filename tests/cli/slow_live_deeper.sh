#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Whoever waits is served by both correct recipes, with 2 and 3 clients, after each kind of fault. Six broken ones are found,
# each with another reason why somebody waits for ever, and none by a world that just stands still.
source "$(dirname "$0")/lib.sh"
check=("$LOCKSTEP" check --verbose --max-memory 4G --out "$scratch/reports")

for recipe in mutex textbook; do
    for configuration in scenarios/explore/live_*.scn; do
        expect 0 '  after the last fault: ' "${check[@]}" --recipe $recipe "$configuration"
    done
done

# Two servers, of which one lags; a process that stands still; a caller who gives up; a deadline; a session that is closed.
# world WORLD PROCESSES EXPLORE
world()
{
    printf 'world used %s\nmutex /locks/x\nprocess %s\nexplore %s\nproperties %s\n----\nholds %s\n' "$1" "$2" "$3" \
        'can_always_be_served served_under_weak_fairness' 'can_always_be_served served_under_weak_fairness' \
        >"$scratch/world.scn"
    expect 0 '1 passed' "${check[@]}" "$scratch/world.scn"
}
world '' 'a b: acquire release forever' 'pause<=1'
world '' 'a b: acquire release' 'cancel<=1 loss<=1 total<=1'
world '' 'a b: acquire timeout=1s release' 'loss<=1'
world '' 'a b: acquire release stop start' 'loss<=1'
world 'servers=2' 'a b: acquire release' 'lag<=1'
world 'fine' 'a b: acquire release' 'loss<=1'

# Three clients, once each, and each kind of end of a link or a session.
for fault in loss expire crash; do
    world '' 'a b c: acquire release' "$fault<=1"
done

# starves RECIPE CONFIGURATION WHY
starves()
{
    expect 1 "$3" "${check[@]}" --recipe "$1" "scenarios/explore/$2.scn"
    grep -q 'can go round and round' "$scratch/output" || { echo "$1 just stops"; failed=1; }
    while read -r trace; do
        expect 1 'and so on' "$LOCKSTEP" replay "$trace"
    done < <(sed -n 's/^replay: .* replay //p' "$scratch/output")
}
starves broken-mutual-reset live_once_2 'a and b wait for ever'
starves broken-expects-create live_once_2 'nothing that can happen serves it any more'
starves broken-steps-aside live_crash_2 'a and b wait for ever'
for recipe in broken-gives-up-place broken-retry-loop broken-tries-again broken-full-name-order broken-keeps-for-itself; do
    starves $recipe live_crash_2 'b waits for ever'
done
finish
