#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# docs/your-own-redis-recipe.md, followed to the letter: its blocks make a lock, its commands find what the page says, and its changes
# make the example of it.
source "$(dirname "$0")/../cli/lib.sh"
source "$(dirname "$0")/../cli/lib_page.sh"
page=$PWD/docs/your-own-redis-recipe.md
example=$PWD/examples/redis/leased.c
[[ -x $LOCKSTEP_BUILD_DIR/lockstep-redis ]] || { echo "no program lockstep-redis" && exit 1; }

# says NUMBER: the output has this block of the page in it.
says()
{
    local text
    text=$(block '' "$1")
    [[ -n $text && $(<output) == *"$text"* ]] || { echo "block $1 is not what the program says:"; cat output; failed=1; }
}

# mend NUMBER: that change of the page.
mend()
{
    block diff "$1" >change.diff
    patch --quiet -p1 <change.diff || failed=1
}

# step NUMBER STATUS TEXT: the next change of the page, and its commands.
step()
{
    mend "$(($1 - 1))"
    expect "$2" "$3" bash -c "$(block sh "$1")"
}

page_clone scenarios
block '' 1 >first.scn

expect 1 'found    held_lease_is_renewed' bash -c "$(block sh 1)"
says 2
says 3
step 2 1 'violates held_lease_is_renewed'
says 4
step 3 1 'violated in 1 scenario: held_lease_is_renewed'
says 5
if is_slow_build; then
    exit $failed
fi
step 4 0 '1 passed, 0 failed'
says 6
expect 1 '21 passed, 2 failed' bash -c "$(block sh 5)"
says 7
mend 4
expect 0 "$(block '' 8)" bash -c "$(block sh 6)"
cmp mine.c "$example" || failed=1
finish
