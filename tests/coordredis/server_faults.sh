#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Servers of Redis that end, forget or fail over. What a server keeps its word for, the mutex keeps; what it forgets breaks the
# mutex in the ways that the files say, and in no other. A grant that a replica has outlives a failover.
source "$(dirname "$0")/lib.sh"

# searches RECIPE FILE STATES: the search goes to the end, and finds what the file says.
searches()
{
    expect 0 '1 passed, 0 failed' "$redis" check --verbose --recipe "$1" --out "$scratch/reports" "$here/$2"
    same "$3 states" "$(sed -n 's/^pass .*(\([0-9]* states\).*/\1/p' "$scratch/output")" "$1 in $2"
}

# loses RECIPE: a failover gives the lock to a second holder.
loses()
{
    expect 1 'violated in 1 scenario: at_most_one_holder' "$redis" check --verbose --recipe "$1" --out "$scratch/reports" "$here/failover_confirmed.scn"
}

searches redis_mutex_confirmed failover_unheard.scn 131767
searches redis_mutex closes_and_is_refused.scn 175511
# What the replica has not heard, or the log has not, is lost, whoever else has it.
expect 0 '1 passed' "$redis" run --recipe redis_mutex --out "$scratch/reports" "$here/failover_detached.scn"
expect 1 'violated in 1 scenario: ' "$redis" check --recipe redis_mutex_confirmed --out "$scratch/reports" "$here/log_behind_replicas.scn"
expect 0 '1 passed' "$redis" run --recipe redis_mutex --out "$scratch/reports" "$here/failover_after_lease.scn"
loses redis_mutex
loses setnx_owned
loses redisson_mended
if ! is_slow_build; then
    searches redis_mutex server_restarts.scn 671011
    searches redis_mutex failover_safe.scn 566650
    searches redis_mutex failover.scn 696170
    searches redis_mutex forgets.scn 424442
    searches redis_mutex_confirmed failover_confirmed.scn 864434
fi
for file in server_restarts failover_safe; do
    expect 3 '100 random schedules, which is no proof' "$redis" run --verbose --recipe redis_mutex --seeds 100 --strategy swarm --no-search "$here/$file.scn"
done

# A server answers with an error: a right design takes none for an answer.
for recipe in dlock_mended redisson_mended; do
    expect 0 '1 passed, 0 failed' "$redis" check --recipe "$recipe" --out "$scratch/reports" "$here/refused.scn"
    is_slow_build || expect 0 '1 passed, 0 failed' "$redis" check --recipe "$recipe" --out "$scratch/reports" scenarios/suite/redis/request_refused.scn
done

# Replicas are detached for a while. Whoever asks for them may ask again for as long as that lasts.
expect 0 '1 passed, 0 failed' "$redis" run --recipe redis_mutex_confirmed --out "$scratch/reports" "$here/detached.scn"

# Pairs of faults.
searches redis_mutex late_and_expire.scn 211471
is_slow_build || searches redis_mutex expire_and_crash.scn 3128442

# Redlock: a key on two of three servers, of which two start again without their keys.
expect 1 'violated in 1 scenario: at_most_one_holder' "$redis" run --verbose --recipe redlock --out "$scratch/reports" "$here/redlock_loses_keys.scn"
expect 0 '1 passed' "$redis" run --recipe redlock_topped_up "$here/redlock_loses_keys.scn"
if ! is_slow_build; then
    expect 0 '1 passed' "$redis" check --partial-order --recipe redlock --out "$scratch/reports" "$here/redlock.scn"
    expect 0 '1 passed' "$redis" check --partial-order --recipe redlock_topped_up --out "$scratch/reports" "$here/redlock.scn"
fi

# Such worlds alone have such faults.
refuses()
{
    printf 'coordinator redis\nmutex /x\nprocess a: acquire\nexplore %s\n' "$1" >"$scratch/world.scn"
    expect 2 "expected $2" "$redis" check --recipe redis_mutex "$scratch/world.scn"
}
refuses 'failover<=1' 'a world with replicas=1'
refuses 'evict<=1' 'a world with evicts=1'
refuses 'jump<=1' 'a world with jump-ms=60000'

finish
