#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Networks that are cut in part. A client does not hear one server for a while (`apart`), or a failover leaves the former server
# serving on for the clients that are connected to it (`split`). A right lock stands the first, and no lock without a replica's word
# the second. Each search is the same with each reduction that applies.
source "$(dirname "$0")/lib.sh"

# searched RECIPE FILE [OPTION...]: the search goes to the end and finds what the file says. Prints states and transitions.
searched()
{
    "$redis" check --verbose --recipe "$1" --out "$scratch/reports" "${@:3}" "$here/$2" >"$scratch/output" 2>&1 ||
        { cat "$scratch/output" && failed=1; }
    sed -n 's/^pass .*(\([0-9]* states, [0-9]* transitions\).*/\1/p' "$scratch/output"
}

# alike RECIPE FILE COUNTS: so does each search that leaves something out, or nothing.
alike()
{
    local option
    for option in '' --exact --no-memo --partial-order '--workers 2' '--strategy bfs'; do
        same "$3" "$(searched "$1" "$2" $option)" "$1 in $2 $option"
    done
}

# runs RECIPE FILE...: directed runs go as their files say.
runs()
{
    expect 0 "$(($# - 1)) passed, 0 failed" "$redis" run --recipe "$1" --out "$scratch/reports" "${@:2}"
}

# draws STATUS TEXT RECIPE FILE: random runs end so, and say that.
draws()
{
    expect "$1" "$2" "$redis" run --verbose --recipe "$3" --seeds 1000 --no-search --no-shrink --out "$scratch/reports" "$here/$4"
}

# found RECIPE PROPERTY FILE STEPS
found()
{
    breaks "$1" "$2" "$3"
    same "$4" "$steps" "$1 in $3: steps"
}

# ---- apart from the server ----

alike redis_mutex apart_tries.scn '61408 states, 193716 transitions'
same '121054 states, 382544 transitions' "$(searched redis_mutex apart_keeps.scn)" apart_keeps.scn
same '8089 states, 20108 transitions' "$(searched dlock_mended apart_keeps.scn)" 'dlock_mended in apart_keeps.scn'
is_slow_build || same '613516 states, 2218534 transitions' "$(searched redis_mutex apart.scn)" apart.scn
runs redis_mutex "$here/apart_then_heal.scn" "$here/clock_apart_deadline.scn"

# A lock that trusts its lease until it is told otherwise believes for too long.
found naive_setnx held_lease_is_renewed apart_keeps.scn 6
found dlock held_lease_is_renewed apart_keeps.scn 6
found dlock_unbounded_belief held_lease_is_renewed apart_keeps.scn 6
found redisson_like held_lease_is_renewed apart_keeps.scn 7
for recipe in redis_mutex dlock_mended; do
    draws 3 '1000 random schedules, which is no proof' $recipe clock_apart.scn
done
for recipe in dlock redisson_like naive_setnx; do
    draws 1 'belief_ends_in_time' $recipe clock_apart.scn
done

# ---- apart from one server of several ----

# A client holds without a minority of the servers, and is granted nothing without a majority.
alike redlock redlock_apart_alone.scn '26270 states, 81949 transitions'
runs redlock "$here/redlock_minority.scn"
draws 3 '1000 random schedules, which is no proof' redlock redlock_apart.scn

# A server that was given up gets the request late, and another one does not hear of the release.
found redlock release_matches_acquire redlock_apart_twice.scn 24

# ---- two servers in one place ----

alike redis_mutex_confirmed split_confirmed.scn '81730 states, 244298 transitions'
is_slow_build || same '1593032 states, 5503007 transitions' "$(searched redis_mutex split.scn)" split.scn
runs redis_mutex "$here/split_both_hold.scn"
runs redis_mutex_confirmed "$here/split_unconfirmed.scn"
found dlock at_most_one_holder split_two_hold.scn 8
found naive_setnx at_most_one_holder split_two_hold.scn 10
found redisson_like at_most_one_holder split_two_hold.scn 9
found redis_mutex at_most_one_holder split_two_hold.scn 10
found redis_mutex_confirmed at_most_one_holder split_renewed.scn 18
for recipe in redis_mutex dlock_mended redisson_like; do
    draws 1 'at_most_one_believer' $recipe clock_split.scn
done

# ---- what is refused ----

# refuses EXPECTED LINE...: such a file.
refuses()
{
    printf '%s\n' 'coordinator redis' "${@:2}" >"$scratch/world.scn"
    expect 2 "expected $1" "$redis" run --recipe redis_mutex "$scratch/world.scn"
}
refuses 'a world with replicas=1 splits=1' 'world replicas=1' 'mutex /x' 'process a: acquire' 'explore split<=1'
refuses 'the server s1' 'mutex /x' 'process a' 'apart a' '----'
refuses 'a server, s1 to s3' 'world servers=3' 'mutex /x' 'process a' 'apart a s4' '----'
refuses 'the end of the line' 'mutex /x' 'process a' 'apart a s1 s1' '----'
refuses "no word, found 'wrap'" 'world settings=wrap' 'mutex /x' 'process a' '----'

finish
