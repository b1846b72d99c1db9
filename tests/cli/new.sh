#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# lockstep new recipe: the folder that it makes works as its last line says, and nothing that was there is touched.
source "${BASH_SOURCE[0]%/*}/lib.sh"
[[ -z $LOCKSTEP_SANITIZE ]] || exit 77 # the recipe is not instrumented
cd "$scratch"
expect 0 "  my_lock/my_lock.c
  my_lock/first.scn
  my_lock/Makefile
next: make -C my_lock check" "$LOCKSTEP" new recipe my_lock
expect 0 '1 passed, 0 failed' make -C my_lock check
grep -q 'faults in a run: at most 1 (loss, expire)' "$scratch/output" || { cat "$scratch/output"; failed=1; }
grep -qx '    .name = "my_lock",' my_lock/my_lock.c || { echo 'the recipe has another name'; failed=1; }
# One line of the recipe that is wrong is found by the same command.
sed -i 's/number >= 0 && number < claim->number/number < -1/' my_lock/my_lock.c
expect 2 'violates at_most_one_holder' make -C my_lock check
expect_line "lockstep new: expected a folder that is not there yet, found 'my_lock'" "$LOCKSTEP" new recipe my_lock
expect_line "lockstep new: expected recipe, found 'the end of the line'" "$LOCKSTEP" new
expect_line "lockstep new: expected recipe, found 'recip'" "$LOCKSTEP" new recip x
for name in 1x ../x 'a b' '' "$(printf 'x%.0s' {1..32})"; do
    expect_line "lockstep new: expected one name of at most 31 letters, digits, - and _ after recipe, found '$name'" \
        "$LOCKSTEP" new recipe "$name"
done
expect_line "lockstep new: expected one name of at most 31 letters, digits, - and _ after recipe, found 'b'" "$LOCKSTEP" new recipe a b
expect 0 'examples:' "$LOCKSTEP" new --help
exit $failed
