#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The numbers of states and transitions do not depend on the order of search, the number of workers and the memory of steps.
# The numbers below are those of the present model. A deliberate change of the model changes them; this test finds a change
# of the model that was not intended.
source "$(dirname "$0")/lib_counts.sh"
plain_build_only

write plain 'world used' 'a b: acquire release'
write loss 'world used' 'a b: acquire release' 'loss<=1'
write cancel 'world used' 'a b: acquire timeout=1s release' 'cancel<=1'
write followers 'world used servers=2' 'a b: acquire release'
write fresh 'world containers=no' 'a b: acquire release'
write epochs 'world used servers=2' 'a: try' 'server<=1'

# expect_counts NAME PLAIN RENAMED SYMMETRIC
expect_counts()
{
    local mode
    for mode in '' '--strategy bfs' --no-memo '--no-memo --strategy bfs' '--workers 2' '--workers 3' --exact \
        '--exact --strategy bfs'; do
        # shellcheck disable=SC2086 # several words
        same "$2" "$(counts "$1" --no-renaming $mode)" "states and transitions of $1 with $mode"
        # shellcheck disable=SC2086
        same "$3" "$(counts "$1" $mode)" "states and transitions of $1, renamed, with $mode"
    done
    for mode in '' '--strategy bfs' --no-memo '--workers 2'; do
        # shellcheck disable=SC2086
        same "$4" "$(counts "$1" --symmetry $mode)" "states and transitions of $1, up to names, with $mode"
    done
}
expect_counts plain '610 1244' '279 598' '143 307'
expect_counts loss '12685 31610' '5394 13926' '2702 6980'
expect_counts cancel '5288 14878' '2255 6436' '1135 3238'
expect_counts followers '9008 22508' '6862 18126' '6862 18126'
expect_counts epochs '625 1104' '432 863' '432 863'
expect_counts fresh '23237 46136' '1990 4384' '1007 2220'

# Sets of run constants are searched one after the other, and counted together.
printf 'world used\nmutex /locks/x\nprocess a b: acquire release\nexplore loss<=1 constants=8\n----\n' >"$scratch/swept.scn"
for mode in '' '--workers 2' '--strategy bfs'; do
    # shellcheck disable=SC2086
    same '38544 97264' "$(counts swept $mode)" "states and transitions of 8 sets of run constants with $mode"
done
expect 0 'in each of 8 sets of run constants;' "$LOCKSTEP" check --verbose --out "$scratch/reports" "$scratch/swept.scn"
expect 0 'all runs with at most 1 fault; expected' "$LOCKSTEP" check --verbose --seed 3 --out "$scratch/reports" "$scratch/swept.scn"
expect 1 'violated no_orphan_node' "$LOCKSTEP" check --verbose --out "$scratch/swept" --recipe broken-minus-seven "$scratch/swept.scn"
expect 0 'pass' "$LOCKSTEP" check --verbose --out "$scratch/swept" --seed 1 --recipe broken-minus-seven "$scratch/swept.scn"
for trace in "$scratch"/swept/*.trace; do
    expect 0 'seed 1 swept' sed -n 5p "$trace"
    expect 1 'no_orphan_node' "$LOCKSTEP" replay "$trace"
done

# Layers come to the same end.
same '5394 13926' "$("$LOCKSTEP" check --verbose --out "$scratch/reports" "$scratch/loss.scn" |
    sed -n 's/^pass .*(\([0-9]*\) states, \([0-9]*\) transitions, .*/\1 \2/p')" 'states and transitions of the last layer'

# A violation is found by all, and told with the same words by the shortest way.
for mode in '' '--workers 2' '--exact' '--strategy bfs'; do
    # shellcheck disable=SC2086
    expect 1 'violated at_most_one_holder' "$LOCKSTEP" check --verbose --out "$scratch/reports" --recipe broken-no-sort $mode \
        "$scratch/plain.scn"
done
expect 2 'expected --strategy dfs with several --workers' "$LOCKSTEP" check --workers 2 --strategy bfs "$scratch/plain.scn"
expect 0 'no symmetry: processes, their order' "$LOCKSTEP" check --verbose --symmetry "$scratch/followers.scn"
expect 2 'expected --symmetry without --exact and --no-renaming' "$LOCKSTEP" check --symmetry --exact "$scratch/plain.scn"
expect 0 'no symmetry: processes, their order' "$LOCKSTEP" check --verbose --symmetry --without a --out "$scratch/reports" "$scratch/plain.scn"
expect 2 'expected no --subsume with --symmetry' "$LOCKSTEP" check --symmetry --subsume "$scratch/plain.scn"
# What is violated is found, by all ways of searching.
printf 'world used defects=silent-session\nmutex /locks/x\nprocess a b: acquire release\nexplore expire<=1\n----\n' >"$scratch/silent.scn"
for mode in '' '--strategy bfs' '--workers 2'; do
    # shellcheck disable=SC2086
    expect 1 'violated at_most_one_holder' "$LOCKSTEP" check --verbose --symmetry --out "$scratch/reports" $mode "$scratch/silent.scn"
done
expect 2 'expected no --rewrite with --symmetry' "$LOCKSTEP" check --symmetry --rewrite "$scratch/plain.scn"
expect 2 'expected no --exact with --subsume' "$LOCKSTEP" check --subsume --exact "$scratch/plain.scn"
expect 2 'expected no --rewrite with --subsume' "$LOCKSTEP" check --subsume --rewrite "$scratch/plain.scn"
expect 2 'expected one worker with --exact' "$LOCKSTEP" check --workers 2 --exact "$scratch/plain.scn"
expect 2 'expected a number from 1 to 64 after --workers' "$LOCKSTEP" check --workers 65 "$scratch/plain.scn"
finish
