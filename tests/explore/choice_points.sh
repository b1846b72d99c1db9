#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A search finds only bugs that its choices can show. Each choice point has a recipe with a bug that is caught because the point is
# a choice; in a world without the choice the recipe passes. The table below has a row a point, with all points whose lack hides the bug.
source "$(dirname "$0")/../cli/lib.sh"
plain_build_only
check=("$LOCKSTEP" check --verbose --out "$scratch/reports")

# write NAME WORLD PROCESS EXPLORE PROPERTY: an exploring scenario.
write()
{
    printf 'world used %s\nmutex /locks/x\nprocess %s\n%s----\nholds %s\n' "$2" "$3" "${4:+explore $4$'\n'}" "$5" \
        >"$scratch/$1.scn"
}

# probe POINT RECIPE HIDES PROPERTY: the scenario POINT.scn catches the recipe, and does so in a world without a choice
# point if this is none of HIDES; otherwise the search comes to its end and all holds.
probe()
{
    local point=$1 recipe=$2 hides=$3 property=$4 lack
    expect 1 "violated $property" "${check[@]}" --no-shrink --recipe "$recipe" "$scratch/$point.scn"
    for lack in a b c d e f g i j k l; do
        if [[ $hides == *$lack* ]]; then
            expect 0 "in a world without choice point $lack;" "${check[@]}" --recipe "$recipe" --without="$lack" \
                "$scratch/$point.scn"
        else
            expect 1 "violated $property" "${check[@]}" --no-shrink --recipe "$recipe" --without="$lack" "$scratch/$point.scn"
        fi
    done
}

# Between b's list and its watch the predecessor goes: sessions overtake each other.
write a '' 'a b: acquire release' '' no_lost_wakeup
probe a broken-waits-for-absent a no_lost_wakeup
# The link breaks while the delete is on its way.
write b '' 'a b: acquire release' 'loss<=1' 'at_most_one_holder no_orphan_node'
probe b broken-release-once b no_orphan_node
# The create was applied, its reply is lost.
write c '' 'a b: acquire release' 'loss<=1' 'at_most_one_holder no_orphan_node'
probe c broken-no-protection bc no_orphan_node
# A loss that says -7. The code is a constant of the run, and so the file's.
write d 'rc=-7' 'a b: acquire release' 'loss<=1' 'at_most_one_holder no_orphan_node'
probe d broken-minus-seven bcd no_orphan_node
# After the loss the client comes back to a server that is behind.
write e 'servers=2' 'a: acquire release' 'loss<=1' 'at_most_one_holder no_orphan_node'
probe e broken-no-sync bce no_orphan_node
# The session ends while its client queues, between somebody else's list and watch.
write f '' 'a b: acquire release' 'expire<=1' granted_in_order
probe f broken-gives-up-place af granted_in_order
# Lists come in an order that is not that of the line: a constant of the run, the file's seed.
write g 'seed=0' 'a b: acquire release' '' at_most_one_holder
probe g broken-no-sort g at_most_one_holder
# A client stands still while its session ends, then runs what lies in its socket.
write i '' 'a b: acquire release' 'expire<=1 pause<=1' no_lost_wakeup
probe i broken-trusts-calls i no_lost_wakeup
# Answers are dropped at close: a constant of the run. A client that never stands still has none left then.
write j 'defects=drop-at-close' 'a b: acquire release' 'expire<=1' no_lost_wakeup
probe j broken-waits-for-answers ij no_lost_wakeup
# The directory is swept, and its counter starts again.
write k '' 'a b: acquire write release' 'sweep<=1' no_stale_effect
probe k broken-sequence-token k no_stale_effect
# The first event comes before init returns: a constant of the run.
write l callbacks-in-init 'a b: acquire release' '' no_lost_wakeup
probe l broken-early-events l no_lost_wakeup

# h, the order of a synchronous call's return and queued events, is none that a world has.
for letters in h z A a,b ' a' abch; do
    expect_line "lockstep check: expected letters of choice points (a to g, i to l) after --without, found '$letters'" \
        "$LOCKSTEP" check --verbose --without="$letters" "$scratch/a.scn"
done
expect_line "lockstep check: expected a value after --without, found ''" "$LOCKSTEP" check --without= "$scratch/a.scn"
expect 0 'in a world without choice points acl;' "${check[@]}" --recipe textbook --without=lac "$scratch/a.scn"
# What is left without several still comes to its end, and is judged there.
write rest 'servers=2' 'a b: acquire release' 'loss<=1 expire<=1 pause<=1 crash<=1 total<=1' 'at_most_one_holder no_lost_wakeup'
for letters in abcdefgijkl afi fi abef ai; do
    expect 0 "in a world without choice points $letters;" "${check[@]}" --without="$letters" "$scratch/rest.scn"
done
# A rule that drops what another one has left would end runs early: there would be fewer states without a and i.
same '195468 328713' "$(sed -n 's/^pass .*(\([0-9]*\) states, \([0-9]*\) transitions, .*/\1 \2/p' "$scratch/output")" \
    'states and transitions without a and i'
expect 0 '"without":"al"' "${check[@]}" --json --without=al "$scratch/a.scn"
expect 0 '"without":null' "${check[@]}" --json "$scratch/a.scn"

# The counts of a file are those of the whole world, and are neither compared with others nor replaced by them.
{
    cat "$scratch/a.scn"
    echo 'states 1'
} >"$scratch/counted.scn"
expect 1 'states' "${check[@]}" "$scratch/counted.scn"
expect 0 '1 passed' "${check[@]}" --without=a "$scratch/counted.scn"
expect 0 'not rewritten' "${check[@]}" --rewrite --without=a "$scratch/counted.scn"

# trace_without LETTERS RECIPE POINT: a violation found in a world without them, as a trace.
trace_without()
{
    rm -rf "$scratch/reports"
    expect 1 'FAIL' "${check[@]}" --recipe "$2" --without="$1" "$scratch/$3.scn"
    traces=("$scratch"/reports/*.trace)
    same 2 "${#traces[@]}" "traces of $2 without $1, with the shrunk one"
}
# A trace says what its world lacked and replays, and so does the shrunk one. What the lack takes away are choices: the
# run is one of the whole world too.
for row in 'acek broken-release-once b' 'bf broken-waits-for-absent a' 'bce broken-gives-up-place f'; do
    # shellcheck disable=SC2086 # several words
    trace_without $row
    for trace in "${traces[@]}"; do
        expect 1 "without  ${row%% *}" "$LOCKSTEP" replay "$trace"
        sed 's/ without=.*//' "$trace" >"$scratch/whole.trace"
        expect 1 'is violated at step' "$LOCKSTEP" replay "$scratch/whole.trace"
    done
done
# One that lacks a constant of the run replays in the world that it was found in.
trace_without l broken-no-sort l
for trace in "${traces[@]}"; do
    expect 1 'at_most_one_holder is violated at step' "$LOCKSTEP" replay "$trace"
    sed 's/ without=l/ without=h/' "$trace" >"$scratch/wrong.trace"
    expect 2 "expected letters of choice points (see lockstep check --help), found 'h'" "$LOCKSTEP" replay \
        "$scratch/wrong.trace"
    sed 's/ without=l/ besides/' "$trace" >"$scratch/wrong.trace"
    expect 2 "expected 'given', 'swept', 'without=LETTERS' or the end of the line, found 'besides'" "$LOCKSTEP" replay \
        "$scratch/wrong.trace"
done
finish
