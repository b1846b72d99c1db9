#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Curator's semaphore by the recipe leases.c: as it stands it passes every search. Each mistake is caught by the
# property that promises the contrary. One is caught by none.
source "$LOCKSTEP_SOURCE_DIR/tests/cli/lib.sh"
plain_build_only
kinds=tests/kinds
suite=scenarios/suite/semaphore
cases=0

# build MISTAKE [OPTION...]
build()
{
    "${CC:-cc}" -std=c11 -shared -fPIC -DMISTAKE="$1" "${@:2}" -Iinclude "$kinds/leases.c" \
        -o "$scratch/$1.so"
}

# check MISTAKE FILE: a file with a program is searched, another one is run.
check()
{
    local verb=run
    ! grep -q '^explore' "$2" || verb="check --no-shrink --max-states 700000"
    # shellcheck disable=SC2086 # several words
    "$LOCKSTEP" $verb --recipe "$scratch/$1.so" --out "$scratch" "$2"
}

judge()
{
    local status=0 output=$scratch/$1.output
    build "$1"
    check "$1" "$3" >"$output" 2>&1 || status=$?
    if [[ $status != 1 ]] || ! grep -qE "  violates (.*, )?$2(,|$)" "$output"; then
        echo "$1 in $3: expected $2 to be violated, found exit status $status and:"
        tail -5 "$output"
        touch "$scratch/missed"
    fi
}

# caught MISTAKE PROPERTY FILE: the property is violated. Two are judged at once.
caught()
{
    judge "$@" &
    cases=$((cases + 1))
    ((cases % 2)) || wait
}

build NONE -Wall -Wextra -Werror
for file in "$kinds"/leases_*.scn; do
    expect 0 "1 passed" check NONE "$file"
done
expect 0 "24 passed, 0 failed" "$LOCKSTEP" check --suite --budget 0 --max-states 5000 --no-shrink \
    --recipe "$scratch/NONE.so" --out "$scratch"

# The published ones are the canaries s01 to s07 (tests/canary).

# Counting.
caught CURATOR_75 no_lost_wakeup $suite/count_grows.scn
caught ONE_TOO_MANY at_most_one_holder $kinds/leases_two_each.scn
caught LARGEST_COUNT at_most_one_holder $kinds/leases_count.scn
caught FORGETS_OWN at_most_one_holder $kinds/leases_two_each.scn
caught NEWEST_FIRST at_most_one_holder $kinds/leases_two_each.scn
caught ALL_CHILDREN no_lost_wakeup $suite/evicted.scn
caught REPLACED at_most_one_holder $suite/several_at_once_evicted.scn
caught WITHOUT_OWN hold_keeps_its_node $suite/evicted.scn
caught CHECKS_FIRST at_most_one_holder $suite/evicted.scn
caught UNSEEN at_most_one_holder $kinds/leases_two_each.scn
caught ASLEEP no_lost_wakeup $kinds/leases_two_each.scn
caught ONE_FOR_ALL at_most_one_holder $kinds/leases_two_of_three.scn
caught GRANTS_FIRST at_most_one_holder $kinds/leases_two_each.scn

# Giving back.
caught RETURNS_ONE no_orphan_node $kinds/leases_two_each.scn
caught OTHERS_LEASE hold_keeps_its_node $kinds/leases_two_each_evicted.scn
caught WRONG_OWNER release_matches_acquire $kinds/leases_two_owners_and_leases.scn
caught SHARES_NODE at_most_one_holder $kinds/leases_two_owners.scn
caught FREED_EARLY release_matches_acquire $kinds/leases_two_each.scn
caught NEWEST_BACK hold_keeps_its_node $kinds/leases_two_of_four.scn
caught FREED_HALF release_matches_acquire $kinds/leases_two_of_four.scn
caught DELETES_ONCE no_orphan_node $kinds/leases_lost_answer.scn

# The inner lock.
caught NO_LINE no_lost_wakeup $kinds/leases_two_each.scn
caught EARLY_UNLOCK granted_in_order $suite/evicted.scn
caught TRY_BARGES granted_in_order $kinds/leases_try_behind.scn
caught TAKES_IN_LINE no_lost_wakeup $kinds/leases_two_each.scn
caught CANCEL_STANDS no_orphan_node $kinds/leases_kept.scn
caught BY_NAME granted_in_order $kinds/leases_three.scn
caught LINE_STAYS no_lost_wakeup $kinds/leases_two_owners_and_leases.scn
caught FARTHEST at_most_one_wakeup_per_release $kinds/leases_three.scn
caught WHOLE_LIST at_most_one_wakeup_per_release $kinds/leases_three.scn
caught PART_EACH no_lost_wakeup $kinds/leases_two_each_evicted.scn

# Faults of the client, and what it leaves behind.
caught WATCH_STAYS no_watch_left_behind $kinds/leases_kept.scn
caught SECOND_NODE no_orphan_node $kinds/leases_lost_answer.scn
caught UNSYNCED no_orphan_node $kinds/leases_lost_answer.scn
caught SAME_ID at_most_one_holder $kinds/leases_former_session.scn
caught ONE_DIRECTORY at_most_one_holder $suite/two_semaphores.scn
caught TRY_LEAVES no_orphan_node $kinds/leases_try.scn
caught FORGETS_CREATE no_orphan_node $kinds/leases_kept.scn

# What callers are told.
caught LINE_TOKEN no_stale_effect $suite/evicted.scn
caught NEWEST_TOKEN at_most_one_holder $kinds/leases_two_each.scn
caught TRY_WAITS answers_have_reasons $kinds/leases_try.scn
caught IGNORES_CANCEL answers_have_reasons $kinds/leases_kept.scn
caught TIMELESS deadline_is_kept $kinds/leases_deadline.scn
caught BELIEVES belief_ends_in_time $kinds/leases_cut_off.scn

wait
[[ ! -e $scratch/missed ]] || failed=1

# Judges expect nothing of a hold whose loss was told.
build HELD_OVER
expect 0 "1 passed" check HELD_OVER $kinds/leases_former_session.scn
finish
