#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Locks on Redis that do as published libraries do. Each published defect is found in some world, in the number of steps that
# docs/fidelity-redis.md says. The recipe without the defect holds in that world.
source "$(dirname "$0")/lib.sh"

# holds RECIPE FILE...
holds()
{
    expect 0 ' passed, 0 failed' "$redis" check --verbose --recipe "$1" --out "$scratch/reports" "${@:2}"
}

# defect RECIPE PROPERTY FILE STEPS [MEND]: found, and not found in the recipe MEND.
defect()
{
    breaks "$1" "$2" "$3"
    same "$4" "$steps" "$1 in $3: steps"
    [[ -z ${5:-} ]] || holds "$5" "$here/$3"
}

# Locks that are one key.
defect redis_py_lease_later no_lost_wakeup again.scn 13 redis_py_mended
defect redis_py_token_dropped no_lost_wakeup again.scn 16 redis_py_without_lease
defect cozy_renews_for_ever held_lease_is_renewed paused.scn 16 redis_py_mended

# The same by a crash: the key has no lease, and its process is gone for good.
defect redis_py_lease_later no_lost_wakeup crashes.scn 13 redis_py_mended
expect 0 '1 passed' "$redis" run --recipe redis_py_mended "$here/crash_before_lease.scn"
expect 1 'cannot   expire a' "$redis" run --verbose --recipe redis_py_lease_later --out "$scratch/reports" "$here/crash_before_lease.scn"

# Redisson.
defect redisson_error_ends_renewal held_lease_is_renewed again.scn 11 redisson_mended
defect redisson_taken_again_not_renewed held_lease_is_renewed taken_again.scn 16 redisson_mended
defect redisson_missed_message no_lost_wakeup no_fault.scn 17 redisson_mended
defect redisson_fair_place_stays no_lost_wakeup waiter_gives_up.scn 23 redisson_fair

# What follows from Redisson's design.
holds redisson_like "$here/no_fault.scn" "$here/tries.scn"
defect redisson_like held_lease_is_renewed twice_no_fault.scn 17 redisson_mended
defect redisson_like held_lease_is_renewed paused.scn 13 redisson_mended
defect redisson_like release_matches_acquire stops.scn 13 redisson_mended
defect redisson_like hold_keeps_its_node late_release.scn 17
holds redis_py_mended "$here/late_release.scn"
holds redisson_mended "$here/keeps.scn"
holds redisson_fair "$here/no_fault.scn"

if ! is_slow_build; then
    defect redis_py_release_by_time hold_keeps_its_node two_clients.scn 13 redis_py_mended
    holds redis_py_mended "$here/two_levels.scn" "$here/given_up.scn" "$here/canceled.scn" "$here/stops.scn" "$here/restarts.scn"
    holds redisson_like "$here/short_of_memory.scn"
fi

finish
