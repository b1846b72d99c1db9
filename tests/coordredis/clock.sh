#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Worlds of Redis with a clock: messages take their time, leases end at a moment of the server's clock, and holders are asked
# whether they believe.
source "$(dirname "$0")/lib.sh"

# draws STATUS TEXT RECIPE FILE: random runs with a clock end so, and say that.
draws()
{
    expect "$1" "$2" "$redis" run --verbose --recipe "$3" --seeds 1000 --no-search --no-shrink --out "$scratch/reports" "$here/$4"
}

expect 0 '1 passed' "$redis" run --recipe redis_mutex "$here/clock_paused.scn"
draws 3 '1000 random schedules, which is no proof' redis_mutex clock.scn

# A recipe that believes until somebody tells it, or counts from the reply, believes for too long.
for recipe in dlock redisson_like naive_setnx; do
    draws 1 'belief_ends_in_time' "$recipe" clock_paused_holder.scn
done
for recipe in redis_mutex dlock_mended; do
    draws 3 '1000 random schedules, which is no proof' $recipe clock_paused_holder.scn
done

# The margin of a tenth bears a server whose clock runs faster by a ninth, and no more; none bears a clock that jumps.
draws 3 '1000 random schedules, which is no proof' redis_mutex clock_drift.scn
draws 1 'violated in 1 scenario: belief_ends_in_time' redis_mutex clock_drift_too_fast.scn
draws 1 'violated in 1 scenario: at_most_one_believer' redis_mutex clock_jumps.scn

# What stands in the line `world` has to fit a clock.
printf '%s\n' 'coordinator redis' 'world timed' 'mutex /locks/x' 'process a b: acquire' 'explore expire<=1' >"$scratch/early.scn"
expect 2 'expected an untimed world: with a clock a lease ends by its time, or by the fault jump, found' \
    "$redis" run --recipe redis_mutex "$scratch/early.scn"
finish
