#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Runs in which somebody waits for ever are counterexamples like others: they get shorter, the circle still closes and is fair, and
# they become tests that fail for as long as somebody waits. Who does not matter to it is no part of it any more.
source "${BASH_SOURCE[0]%/*}/lib.sh"
source "${BASH_SOURCE[0]%/*}/lib_export.sh"
plain_build_only

# scenario NAME PROCESS EXPLORE
scenario()
{
    printf 'world used\nmutex /locks/x\nprocess %s\n%sproperties can_always_be_served served_under_weak_fairness\n----\n' \
        "$2" "${3:+explore $3$'\n'}" >"$scratch/$1.scn"
}
scenario once 'a b c: acquire release' 'loss<=1'
scenario forever 'a b c: acquire release forever' ''

# shortens RECIPE SCENARIO PROPERTY FROM TO
shortens()
{
    local folder=$scratch/$1 short
    expect 1 "($3 in $5 steps, was $4)" "$LOCKSTEP" check --verbose --recipe "$1" --out "$folder" "$scratch/$2.scn"
    short=$(echo "$folder"/*.min.trace)
    expect 1 "$3 is violated at step " "$LOCKSTEP" replay "$short"
    grep -q "and so on: the state is that of the mark 'cycle' again" "$scratch/output" || { echo "$1: no circle"; failed=1; }
    grep -q '^| process a b c:' "$short" && { echo "$1: the third process is still there"; cat "$short"; failed=1; }
    expect 0 'it cannot get shorter' "$LOCKSTEP" shrink --out "$scratch/again.trace" "$short"
    cmp "$short" "$scratch/again.trace" || failed=1
    fails_and_passes "$short" "$3"
    grep -q '^not violated in ' "$scratch/output" || { echo "$1: the mended recipe is not judged"; cat "$scratch/output"; failed=1; }
}
shortens broken-expects-create once can_always_be_served 16 12
shortens broken-steps-aside once served_under_weak_fairness 21 19
shortens broken-tries-again forever served_under_weak_fairness 23 21

# The plain question has a plain answer: without the mark of who is hopeless, where only fairness is asked.
hopeless=$(find "$scratch/broken-expects-create" -name '*.trace' ! -name '*.min.trace')
expect 0 'served_under_weak_fairness: ' "$LOCKSTEP" shrink --property served_under_weak_fairness --out "$scratch/fair.trace" "$hopeless"
grep -q '^- hopeless' "$scratch/fair.trace" && { echo 'a mark that nobody asks about'; failed=1; }
grep -q '^- cycle' "$scratch/fair.trace" || { echo 'no circle'; failed=1; }

# Who has nothing to do with it may be the first process.
sed '/^choices/,/^end/{s/ a\b/ A/; s/ c\b/ a/; s/ A\b/ c/}' "$hopeless" >"$scratch/swapped.trace"
expect 0 'processes       3       1' "$LOCKSTEP" shrink --out "$scratch/swapped.min.trace" "$scratch/swapped.trace"
grep -q '^| process c:' "$scratch/swapped.min.trace" || { echo 'c is not left'; cat "$scratch/swapped.min.trace"; failed=1; }

# Where more can follow than is looked through, nobody is shown to be hopeless; the circle alone can still get shorter.
sed 's/acquire release$/acquire release acquire release acquire release acquire release/' "$hopeless" >"$scratch/long.trace"
expect 1 'it waits in the first 20000 states that can follow, and there are more' "$LOCKSTEP" replay "$scratch/long.trace"
expect 2 'expected a state of which all that follows can be seen, found one that too many can follow' \
    "$LOCKSTEP" shrink --out "$scratch/none" "$scratch/long.trace"
expect 0 'processes       3       1' "$LOCKSTEP" shrink --property served_under_weak_fairness --out "$scratch/fair.trace" "$scratch/long.trace"

# What a replay does not believe is not shortened and not exported.
choices()
{
    local choices
    choices=$(sed '1,/^choices /d; /^end /d' "$1" | wc -l)
    sed -i "s/^choices .*/choices $choices/; s/^end .*/end $choices/" "$1"
}
sed '/^- hopeless/s/ a$/ b/' "$hopeless" >"$scratch/edited.trace"
expect 2 ': it can still be served' "$LOCKSTEP" shrink --out "$scratch/none" "$scratch/edited.trace"
expect 2 'a run that violates can_always_be_served and fits to its end' "$LOCKSTEP" export -o "$scratch/none" "$scratch/edited.trace"
sed '/^- cycle/,/^end/{/^- cycle\|^end/!d}' "$hopeless" >"$scratch/edited.trace"
choices "$scratch/edited.trace"
expect 2 'a circle in which somebody waits for ever, found' "$LOCKSTEP" shrink --out "$scratch/none" "$scratch/edited.trace"
expect 2 'and fits to its end' "$LOCKSTEP" export -o "$scratch/none" "$scratch/edited.trace"
[[ ! -e $scratch/none ]] || { echo 'something was written'; failed=1; }
finish
