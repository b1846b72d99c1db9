#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# --partial-order: the numbers of states do not depend on the order of search, the workers and the memory of steps. There are fewer
# states than without it, and the same verdicts: here of five broken recipes, in slow_reductions.sh of twelve drawn ones.
source "$(dirname "$0")/lib_counts.sh"
plain_build_only

write plain 'world used' 'a b: acquire release'
write loss 'world used' 'a b: acquire release' 'loss<=1'
write cancel 'world used' 'a b: acquire timeout=1s release' 'cancel<=1'
write followers 'world used servers=2' 'a b: acquire release'
write three 'world used' 'a b c: acquire release'

# expect_counts NAME PLAIN RENAMED
expect_counts()
{
    local mode
    for mode in '' '--strategy bfs' --no-memo '--workers 2' --exact; do
        # shellcheck disable=SC2086 # several words
        same "$2" "$(counts "$1" --partial-order --no-renaming $mode)" "states and transitions of $1 with $mode"
        # shellcheck disable=SC2086
        same "$3" "$(counts "$1" --partial-order $mode)" "states and transitions of $1, renamed, with $mode"
    done
}
expect_counts plain '434 760' '219 406'
expect_counts loss '9335 19210' '4222 8892'
expect_counts cancel '5210 13392' '2215 5784'
expect_counts followers '6606 14190' '5082 11510'
same '4498 10803' "$(counts three --partial-order)" 'states and transitions of three'

same "$(counts three --partial-order)" "$(counts three --partial-order --trust)" 'three, without doubts'

for recipe in broken-no-sort broken-session-token broken-waits-for-absent broken-never-deletes broken-herd; do
    expect 1 'FAIL' "$LOCKSTEP" check --verbose --quiet --no-shrink --partial-order --recipe "$recipe" --out "$scratch/reports" \
        "$scratch/loss.scn" "$scratch/three.scn"
done
expect 1 'violated at_most_one_holder' "$LOCKSTEP" check --verbose --partial-order --symmetry --out "$scratch/reports" --recipe broken-no-sort \
    "$scratch/plain.scn"
# What another handle of the process brings may come before what has come already.
write handles 'world used' 'a: acquire timeout=100ms' 'loss<=1'
"$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$LOCKSTEP_BUILD_DIR/CMakeCache.txt")" -std=c11 -Wall -Wextra -Werror -Iinclude -fPIC -shared \
    -o "$scratch/two_handles.so" tests/explore/two_handles.c
for options in '' --partial-order '--partial-order --no-memo'; do
    # shellcheck disable=SC2086 # several words
    expect 1 'violated at_most_one_holder' "$LOCKSTEP" check --verbose --no-shrink $options --recipe "$scratch/two_handles.so" --out "$scratch/reports" \
        "$scratch/handles.scn"
done
expect 0 'no partial order: a world' "$LOCKSTEP" check --verbose --partial-order --without a --out "$scratch/reports" "$scratch/plain.scn"
expect 2 'expected no --rewrite with --partial-order' "$LOCKSTEP" check --partial-order --rewrite "$scratch/plain.scn"
finish
