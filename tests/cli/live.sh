#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Who waits for ever: our mutex lets nobody, each of these recipes somebody, each for a reason of its own, and each in a run
# that goes round and does not just stop. What is told can be replayed; what cannot be judged never holds.
source "$(dirname "$0")/lib.sh"
plain_build_only
check=("$LOCKSTEP" check --verbose --out "$scratch/reports")
once=scenarios/explore/live_once_2.scn
both='can_always_be_served served_under_weak_fairness'

# scenario NAME PROCESS EXPLORE CLAIM...
scenario()
{
    printf 'world used\nmutex /locks/x\nprocess %s\n%sproperties %s\n----\n' "$2" "${3:+explore $3$'\n'}" "$both" \
        >"$scratch/$1.scn"
    printf '%s\n' "${@:4}" >>"$scratch/$1.scn"
}
scenario forever 'a b: acquire release forever' '' "holds $both"

for recipe in mutex textbook; do
    expect 0 '1 passed' "${check[@]}" --recipe $recipe "$once"
    expect 0 '1 passed' "${check[@]}" --recipe $recipe "$scratch/forever.scn"
done
expect 0 '  after the last fault: 4691 states, 11500 transitions' "${check[@]}" "$once"
expect 0 '  after the last fault: 4691 states, 11500 transitions' "${check[@]}" --no-memo "$once"

sed 's/loss<=1/loss<=1 constants=2/' "$once" >"$scratch/constants.scn"
expect 0 '  after the last fault: 9382 states, 23000 transitions' "${check[@]}" "$scratch/constants.scn"

# A session that was closed without a link ends some time, and with it the node of whoever has left.
scenario stop 'a b: acquire release stop start' 'loss<=1' "holds $both"
expect 0 '1 passed' "${check[@]}" "$scratch/stop.scn"

# trace: what the last check has written.
trace()
{
    sed -n 's/^replay: .* replay //p' "$scratch/output"
}

# starves RECIPE FILE PROPERTY WHY: the check finds it, and the replay of its trace shows it.
starves()
{
    expect 1 "violated $3 " "${check[@]}" --recipe "$1" "$2"
    grep -q "^  $4\$" "$scratch/output" || { echo "$1: expected '$4'"; cat "$scratch/output"; failed=1; }
    expect 1 "$3 is violated at step " "$LOCKSTEP" replay "$(trace)"
    grep -q "and so on: the state is that of the mark 'cycle' again" "$scratch/output" ||
        { echo "$1: no circle"; cat "$scratch/output"; failed=1; }
    grep -q 'nothing has to happen' "$scratch/output" && { echo "$1 just stops"; failed=1; }
    return 0
}
round='can go round and round'
# Each makes the other's predecessor vanish (Z16): both wait, nobody holds the lock, and nothing stands still.
starves broken-mutual-reset "$once" served_under_weak_fairness "a and b wait for ever: after step [0-9]* the same [0-9]* steps $round"
livelock=$(sed -n 's/^replay: .* replay //p' <("${check[@]}" --recipe broken-mutual-reset "$once"))
# Waits for what never comes, busily.
starves broken-expects-create "$once" can_always_be_served 'a waits, and after step [0-9]* nothing that can happen serves it any more'
hopeless=$(sed -n 's/^replay: .* replay //p' <("${check[@]}" --recipe broken-expects-create "$once"))
expect 1 'it waits in all of the 137 states that can follow' "$LOCKSTEP" replay "$hopeless"
# Both let the other one go first.
starves broken-steps-aside "$once" served_under_weak_fairness "a and b wait for ever: .* $round"
# Others are always quicker: it gives its place up; it never has one; others have better names; others keep the lock.
for recipe in broken-gives-up-place broken-retry-loop broken-tries-again broken-full-name-order broken-keeps-for-itself; do
    starves $recipe "$scratch/forever.scn" served_under_weak_fairness "b waits for ever: .* $round"
done
# Owners of one process are judged one by one: ours serves each in turn, and these never serve the second one.
scenario owners $'a owner=0: acquire release forever\nprocess a owner=1: acquire release forever' '' "holds $both"
expect 0 '1 passed' "${check[@]}" "$scratch/owners.scn"
for recipe in broken-tries-again broken-keeps-for-itself; do
    starves $recipe "$scratch/owners.scn" served_under_weak_fairness "a owner=1 waits for ever: .* $round"
done
# And one that stops.
expect 1 'b waits for ever: after step 19 nothing has to happen any more' "${check[@]}" --recipe broken-waits-for-absent \
    "$scratch/forever.scn"
expect 1 'can_always_be_served is violated at step' "$LOCKSTEP" replay "$(trace)"

# A replay believes no trace: a circle has to close, somebody has to wait all the time, and it has to be fair.
# edit SED_COMMAND [TRACE]: the livelock, or that trace, with other choices, their number corrected.
edit()
{
    local choices
    sed "$1" "${2:-$livelock}" >"$scratch/edited"
    choices=$(sed '1,/^choices /d; /^end /d' "$scratch/edited" | wc -l)
    sed -i "s/^choices .*/choices $choices/; s/^end .*/end $choices/" "$scratch/edited"
}
edit ''
expect 1 'and so on' "$LOCKSTEP" replay "$scratch/edited"
edit '/^- cycle/,/^end/{/^- cycle\|^end/!d}'
expect 2 "found 'it is not fair: 'apply a' is possible all the time and never" "$LOCKSTEP" replay "$scratch/edited"
edit '/^- cycle/d; 0,/a acquire/s/\(.*a acquire\)/- cycle\n\1/'
expect 2 'the circle does not close' "$LOCKSTEP" replay "$scratch/edited"
edit '/^- cycle/d; 0,/^[0-9]* connect/s/\(^[0-9]* connect.*\)/- cycle\n\1/'
expect 2 'a circle in which somebody waits for ever' "$LOCKSTEP" replay "$scratch/edited"
edit '/^- hopeless/d; 0,/a acquire/s/\(.*a acquire\)/\1\n- hopeless a/' "$hopeless"
expect 2 ': it can still be served' "$LOCKSTEP" replay "$scratch/edited"
edit '/^- hopeless/s/ a$/ b/' "$hopeless"
expect 2 ': it can still be served' "$LOCKSTEP" replay "$scratch/edited"

# What a file declares to be violated is no failure.
scenario declared 'a b: acquire release forever' '' 'holds can_always_be_served' 'violates served_under_weak_fairness'
expect 0 '1 passed' "${check[@]}" --recipe broken-tries-again "$scratch/declared.scn"
expect 1 'served_under_weak_fairness: expected violated, found holds' "${check[@]}" "$scratch/declared.scn"

# What is not judged does not hold: without renaming, with a recipe that shows no numbers, beyond a limit.
expect 3 'who waits for ever is not judged: without renaming nothing comes back' "${check[@]}" --no-renaming "$once"
expect 3 'is not judged: numbers that grow cannot be renamed' "${check[@]}" --recipe broken-session-token "$once"
expect 3 'is not judged: the number of states reached its limit' "${check[@]}" --max-states 4950 "$once"
expect 3 '"served_under_weak_fairness":"not-judged"' "${check[@]}" --json --no-renaming "$once"
sed 's/^process .*/process a b: revocable/' "$once" >"$scratch/nobody_asks.scn"
expect 1 'served_under_weak_fairness: expected holds, found not-judged' "${check[@]}" "$scratch/nobody_asks.scn"
expect 0 '"served_under_weak_fairness":"holds"' "${check[@]}" --json "$once"
expect 0 '"live_states":4691,' "${check[@]}" --json "$once"

# Kept where only this question is left, and gone on with; the result is said again with all its numbers.
expect 3 'kept in' "${check[@]}" --checkpoint "$scratch/kept" --max-states 4950 "$once"
for turn in first second; do
    expect 0 '  after the last fault: 4691 states, 11500 transitions' "${check[@]}" --resume "$scratch/kept" "$once"
done
# The circle may need no fault, so no number of faults is said to be free of violations.
expect 1 'violated served_under_weak_fairness' "${check[@]}" --recipe broken-mutual-reset --no-shrink "$once"
! grep -q 'violates anything' "$scratch/output" || { echo 'something is said to stand beside a circle' && failed=1; }

# A run that ends shows neither; random runs leave them alone.
printf 'mutex /locks/x\nprocess a\nproperties can_always_be_served\na acquire\nsettle\n----\n' >"$scratch/directed.scn"
expect 2 "$scratch/directed.scn:3:12: expected a property that is judged without a search, found 'can_always_be_served'" \
    "$LOCKSTEP" run --verbose "$scratch/directed.scn"
expect 0 '1 passed' "$LOCKSTEP" run --verbose --seeds 3 --out "$scratch/reports" "$once"
finish
