#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# docs/your-own-recipe.md, followed to the letter: its blocks make the example, with the bug that the page is about, its commands
# show what it says, and its change mends the bug.
source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/lib_page.sh"
page=$PWD/docs/your-own-recipe.md
example=$PWD/examples/recipes/next_in_line.c
page_clone scenarios

expect 0 '1 passed, 0 failed' bash -c "$(block sh 1)"
same "$(block '' 1)" "$(<output)" 'what the page says of three clients'
expect 1 'violates no_lost_wakeup, no_orphan_node' bash -c "$(block sh 2)"
story=$(block '' 2)
[[ $(<output) == *"$story"* ]] || { echo 'the story is not that of the page'; failed=1; }
block diff 1 >mend.diff
patch --quiet -p1 <mend.diff
cmp mine.c "$example" || failed=1
expect 0 "$(block '' 3)" bash -c "$(block sh 3)"
is_slow_build || expect 0 "$(block '' 4)" bash -c "$(block sh 4)"
finish
