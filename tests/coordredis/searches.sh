#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Redis as a coordinator, in the program lockstep-redis. A lock that is right holds in directed, random and searched runs, with
# each reduction that applies. A lock that is broken is caught, and its trace replays.
source "$(dirname "$0")/../cli/lib.sh"
redis=$LOCKSTEP_BUILD_DIR/lockstep-redis
[[ -x $redis ]] || { echo "no program $redis" && exit 1; }
here=tests/coordredis/scenarios

# counts FILE [OPTION...]: states and transitions of a search that passes, by $recipe.
recipe=setnx_owned
counts()
{
    "$redis" check --verbose --recipe "$recipe" --out "$scratch/reports" "${@:2}" "$here/$1" >"$scratch/output" 2>&1 ||
        { cat "$scratch/output" && failed=1; }
    sed -n 's/^pass .*(\([0-9]* states, [0-9]* transitions\).*/\1/p' "$scratch/output"
}

expect 0 'setnx_owned' "$redis" list recipes
expect 0 '2 passed, 0 failed' "$redis" run --verbose --recipe setnx_owned --out "$scratch/reports" "$here/lost_reply.scn" "$here/late_request.scn"

plain=$(counts two_clients.scn)
same '30242 states, 87726 transitions' "$plain" two_clients.scn
for option in --exact --no-memo --partial-order '--workers 2' '--strategy bfs'; do
    same "$plain" "$(counts two_clients.scn $option)" "two_clients.scn $option"
done
same '5558 states, 13858 transitions' "$(counts keeps.scn)" keeps.scn
for file in two_clients twice keeps; do
    expect 3 '100 random schedules, which is no proof' "$redis" run --verbose --recipe setnx_owned --seeds 100 --strategy swarm --no-search "$here/$file.scn"
done
if ! is_slow_build; then
    same '155009 states, 487557 transitions' "$(counts twice.scn)" twice.scn
    same '892815 states, 3501960 transitions' "$(counts three_clients.scn)" three_clients.scn
fi

# Who deletes the key without a look at its value deletes another one's.
expect 1 'violated hold_keeps_its_node' "$redis" check --verbose --recipe naive_setnx --out "$scratch/reports" "$here/two_clients.scn"
trace=$(sed -n 's/^shrunk: .* replay \([^ ]*\) .*/\1/p' "$scratch/output" | head -n 1)
[[ -n $trace ]] || { echo "naive_setnx: no shrunk trace" && failed=1; }
expect 1 'hold_keeps_its_node is violated' "$redis" replay "$trace"

# DLock: processes on machines with one address take each other for the owner; a release whose reply is lost counts as done; and
# without any fault a thread that waits is forgotten, because the thread that polls for it is about to end.
expect 1 'violated hold_keeps_its_node' "$redis" check --verbose --recipe dlock_one_host --out "$scratch/reports" "$here/two_clients.scn"
expect 1 'violated release_matches_acquire' "$redis" check --verbose --recipe dlock --out "$scratch/reports" "$here/two_clients.scn"
if ! is_slow_build; then
    same '26446 states, 93984 transitions' "$(recipe=dlock counts no_fault.scn)" 'dlock, no_fault.scn'
    expect 1 'violated no_lost_wakeup' "$redis" check --verbose --recipe dlock --out "$scratch/reports" "$here/threads.scn"
fi

# A recipe of another coordinator is refused.
expect 3 'the recipe mutex is not for the coordinator redis' "$redis" check --recipe mutex "$here/two_clients.scn"

finish
