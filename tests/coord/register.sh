#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A second coordinator in a program of its own: nothing outside of this folder knows of it. Its lock holds in directed, random and
# searched runs, with each reduction that applies; two broken recipes and a broken coordinator are caught, and their traces
# replay and get shorter.
source "$(dirname "$0")/../cli/lib.sh"
register=$LOCKSTEP_BUILD_DIR/tests/coord/lockstep_register
[[ -x $register ]] || { echo "no program $register" && exit 1; }
here=tests/coord/scenarios

# counts FILE [OPTION...]: states and transitions of a search by the right recipe.
counts()
{
    "$register" check --verbose --recipe register --out "$scratch/reports" "${@:2}" "$here/$1" >"$scratch/output" 2>&1 ||
        { cat "$scratch/output" && failed=1; }
    sed -n 's/^pass .*(\([0-9]* states, [0-9]* transitions\).*/\1/p' "$scratch/output"
}

expect 0 'register-polls-once' "$register" list recipes
expect 0 'coordinator NAME' "$LOCKSTEP" list verbs

expect 0 ' stall block total' "$register" list faults
expect 0 '  stall   ' "$register" list verbs
expect 0 '  mute a  ' "$register" list verbs

# ---- the lock holds ----

expect 0 '4 passed, 0 failed' "$register" run --verbose --recipe register --out "$scratch/reports" "$here/lost_answer.scn" "$here/clock.scn" "$here/serves_again.scn" "$here/blocks.scn"
plain=$(counts two_clients.scn)
same '54912 states, 220570 transitions' "$plain" two_clients.scn
for option in --exact --no-memo --no-renaming --partial-order --symmetry '--workers 2' '--strategy bfs'; do
    same "$plain" "$(counts two_clients.scn $option)" "two_clients.scn $option"
done
expect 0 'no symmetry' "$register" check --verbose --recipe register --symmetry "$here/two_clients.scn"
same '34405 states, 121656 transitions' "$(counts keeps.scn)" keeps.scn
same '137593 states, 554707 transitions' "$(counts try_again.scn)" try_again.scn
expect 0 '1 passed' "$register" check --verbose --recipe register --out "$scratch/reports" "$here/live.scn"
for file in gives_up two_owners keeps stalled blocked; do
    expect 3 '200 random schedules, which is no proof' "$register" run --verbose --recipe register --seeds 200 --strategy swarm --no-search "$here/$file.scn"
done
if ! is_slow_build; then
    same '149218 states, 695132 transitions' "$(counts blocked.scn)" blocked.scn
    same '149218 states, 695132 transitions' "$(counts blocked.scn --no-memo)" 'blocked.scn --no-memo'
    same '199551 states, 906448 transitions' "$(counts stalled.scn)" stalled.scn
    same '199551 states, 906448 transitions' "$(counts stalled.scn --no-memo)" 'stalled.scn --no-memo'
    same '1243359 states, 5257622 transitions' "$(counts two_owners.scn)" two_owners.scn
    same '435094 states, 1802996 transitions' "$(counts gives_up.scn)" gives_up.scn
fi

# ---- what is broken is caught ----

# caught RECIPE PROPERTY FILE
caught()
{
    local trace
    expect 1 "violated $2" "$register" check --verbose --recipe "$1" --out "$scratch/reports" "$here/$3"
    trace=$(sed -n 's/^shrunk: .* replay \([^ ]*\) .*/\1/p' "$scratch/output" | head -n 1)
    [[ -n $trace ]] || { echo "$1: no shrunk trace" && failed=1 && return; }
    expect 1 "$2 is violated at step" "$register" replay "$trace"
}

caught register-forgets no_orphan_node gives_up.scn
caught register-polls-once no_lost_wakeup keeps.scn
expect 0 '1 passed' "$register" check --verbose --recipe register --out "$scratch/reports" "$here/lenient.scn"

# ---- what does not fit together ----

expect 3 'the recipe mutex is not for the coordinator register' "$register" check --verbose --recipe mutex "$here/keeps.scn"
expect 0 '1 passed, 0 failed' "$register" check --verbose "$here/keeps.scn"
printf 'mutex /locks/x\nprocess a b: acquire release\nexplore loss<=0\n----\nholds at_most_one_holder\n' >"$scratch/zk.scn"
expect 3 'the recipe register is not for the coordinator zookeeper' "$register" check --verbose --recipe register "$scratch/zk.scn"
expect 0 '1 passed, 0 failed' "$register" check --verbose "$scratch/zk.scn"
printf 'coordinator register\nmutex /locks/x\nprocess a: acquire\nexplore lag<=1\n----\n' >"$scratch/lag.scn"
expect_line "$scratch/lag.scn:4:9: expected a fault that registers have, found 'lag<=1'" "$register" check --recipe register "$scratch/lag.scn"
printf 'coordinator register\nworld first-version=-1\n' >"$scratch/least.scn"
expect_line "$scratch/least.scn:2:21: expected a number from 0 to 1000000, found '-1'" "$register" check --recipe register "$scratch/least.scn"
printf 'coordinator register\nworld later-version=1\n' >"$scratch/words.scn"
expect 2 'words.scn:2:7: expected first-version=, servers=, latency=' "$register" check "$scratch/words.scn"
printf 'world first-version=1\n' >"$scratch/other.scn"
expect 2 "other.scn:1:7: expected servers=, latency=" "$register" check "$scratch/other.scn"
printf 'mutex /locks/x\nprocess a: acquire\nexplore stall<=1\n----\n' >"$scratch/stall.scn"
expect_line "$scratch/stall.scn:3:9: expected a fault that the coordinator zookeeper has, found 'stall<=1'" "$register" check "$scratch/stall.scn"
printf 'mutex /locks/x\nprocess a\n\nstall\n' >"$scratch/verb.scn"
expect_line "$scratch/verb.scn:4:1: expected a command (see lockstep list verbs) or the name of a process, found 'stall'" "$register" check "$scratch/verb.scn"
printf 'mutex /locks/x\nprocess a: acquire\nexplore stall<=1\n----\n' >"$scratch/stall.scn"
expect_line "$scratch/stall.scn:3:9: expected a fault with a budget (see lockstep list faults) or total, found 'stall'" "$LOCKSTEP" check "$scratch/stall.scn"
printf 'coordinator register\nworld untimed\nmutex /locks/x\nprocess a\n\nserve\n----\n' >"$scratch/idle.scn"
expect 1 $'cannot   serve\n' "$register" run --verbose --recipe register --out "$scratch/reports" "$scratch/idle.scn"
printf 'coordinator register too\n' >"$scratch/words.scn"
expect_line "$scratch/words.scn:1:22: expected the end of the line, found 'too'" "$register" check "$scratch/words.scn"
printf 'coordinator registers\n' >"$scratch/unknown.scn"
expect_line "$scratch/unknown.scn:1:13: expected zookeeper, found 'registers'" "$LOCKSTEP" check "$scratch/unknown.scn"
printf 'mutex /locks/x\ncoordinator register\n' >"$scratch/late.scn"
expect_line "$scratch/late.scn:2:13: expected one line 'coordinator NAME', before all others, found 'register'" "$register" check "$scratch/late.scn"
finish
