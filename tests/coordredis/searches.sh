#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Redis as a coordinator, in the program lockstep-redis. The mutex of liblockstep_redis holds in directed, random and searched runs,
# with each reduction that applies. A lock that is broken is caught, and its trace replays.
source "$(dirname "$0")/lib.sh"

# counts FILE [OPTION...]: states and transitions of a search that passes, by $recipe.
recipe=redis_mutex
counts()
{
    "$redis" check --verbose --recipe "$recipe" --out "$scratch/reports" "${@:2}" "$here/$1" >"$scratch/output" 2>&1 ||
        { cat "$scratch/output" && failed=1; }
    sed -n 's/^pass .*(\([0-9]* states, [0-9]* transitions\).*/\1/p' "$scratch/output"
}

expect 0 'redis_mutex' "$redis" list recipes
for file in lost_reply late_request cut_off release_lost_after_a_cancel; do
    expect 0 '1 passed, 0 failed' "$redis" run --verbose --recipe redis_mutex --out "$scratch/reports" "$here/$file.scn"
done

plain=$(counts keeps.scn)
same '58224 states, 160686 transitions' "$plain" keeps.scn
for option in --exact --no-memo --partial-order '--workers 2' '--strategy bfs'; do
    same "$plain" "$(counts keeps.scn $option)" "keeps.scn $option"
done
same '3576 states, 8578 transitions' "$(counts no_fault.scn)" no_fault.scn
same '27280 states, 84778 transitions' "$(counts short_of_memory.scn)" short_of_memory.scn
same '91546 states, 298498 transitions' "$(counts writes.scn)" writes.scn
same '97628 states, 302530 transitions' "$(counts stops.scn)" stops.scn
same '100914 states, 320534 transitions' "$(counts given_up.scn)" given_up.scn
same '42591 states, 92731 transitions' "$(counts given_up_again.scn)" given_up_again.scn
for file in two_clients twice keeps three_clients closes threads; do
    expect 3 '100 random schedules, which is no proof' "$redis" run --verbose --recipe redis_mutex --seeds 100 --strategy swarm --no-search "$here/$file.scn"
done
if ! is_slow_build; then
    same '241523 states, 747224 transitions' "$(counts threads.scn)" threads.scn
    same '288134 states, 912382 transitions' "$(counts canceled.scn)" canceled.scn
    same '396655 states, 1251789 transitions' "$(counts two_levels.scn)" two_levels.scn
    same '1563832 states, 5366184 transitions' "$(counts two_clients.scn)" two_clients.scn
fi

# Who deletes the key without a look at its value deletes another one's. Who does not end its belief before the lease may end
# believes too long once it is cut off.
breaks naive_setnx held_lease_is_renewed two_clients.scn
expect 1 'violated in 1 scenario: hold_keeps_its_node' "$redis" check --verbose --recipe naive_setnx --out "$scratch/reports" "$here/two_clients.scn"
breaks setnx_owned held_lease_is_renewed two_clients.scn
expect 0 'no_fault.scn' "$redis" check --verbose --recipe setnx_owned "$here/no_fault.scn"

# DLock, and each of its flaws by itself. Without these it holds.
breaks dlock held_lease_is_renewed threads.scn
breaks dlock_one_host hold_keeps_its_node two_clients.scn
breaks dlock_shared_lease_thread held_lease_is_renewed threads.scn
breaks dlock_late_renewal held_lease_is_renewed keeps.scn
breaks dlock_untold_loss held_lease_is_renewed paused.scn
breaks dlock_address_as_id hold_keeps_its_node two_clients.scn
breaks dlock_unanswered_release release_matches_acquire two_clients.scn
breaks dlock_error_as_answer release_matches_acquire refused.scn
expect 1 'violated held_lease_is_renewed' "$redis" run --verbose --recipe dlock_unbounded_belief --out "$scratch/reports" "$here/cut_off.scn"
expect 0 '4 passed' "$redis" check --recipe dlock_mended "$here/no_fault.scn" "$here/keeps.scn" "$here/paused.scn" "$here/twice_no_fault.scn"
if ! is_slow_build; then
    breaks dlock no_lost_wakeup threads_wait.scn
    breaks dlock_forgotten_thread no_lost_wakeup threads_wait.scn
    breaks dlock_address_as_id at_most_one_holder restarts.scn
fi

# A recipe of another coordinator is refused.
expect 3 'the recipe mutex is not for the coordinator redis' "$redis" check --recipe mutex "$here/two_clients.scn"


# Coverage lists no codes of another coordinator's client library.
expect 0 '1 passed' "$redis" run --coverage --recipe redis_mutex --out "$scratch/reports" scenarios/suite/redis/again.scn
! grep -E '^(never )?told:' "$scratch/output" || failed=1
finish
