#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Locks that are no mutex, by the recipe line.c: a semaphore and a read-write lock pass every search, and each mistake is
# caught by the property that promises the contrary. A recipe is given no kind of lock that it does not know.
source "$LOCKSTEP_SOURCE_DIR/tests/cli/lib.sh"
plain_build_only
kinds=$LOCKSTEP_SOURCE_DIR/tests/kinds

# build NAME: the recipe with -DNAME.
build()
{
    "${CC:-cc}" -std=c11 -g -Wall -Wextra -Werror -shared -fPIC -D"$1" -Iinclude "$kinds/line.c" -o "$scratch/$1.so"
}

check()
{
    "$LOCKSTEP" check --no-shrink --out "$scratch" --recipe "$scratch/$1.so" "$kinds/$2.scn"
}

# caught MISTAKE WORLD PROPERTY: the property is violated.
caught()
{
    local status=0
    check "$1" "$2" >"$scratch/output" 2>&1 || status=$?
    if [[ $status != 1 ]] || ! grep -qE "  violates (.*, )?$3(,|$)" "$scratch/output"; then
        echo "$1 in $2: expected $3 to be violated, found exit status $status and:"
        tail -5 "$scratch/output"
        failed=1
    fi
}

for name in CORRECT TELLS_LOST PRESENCE ONE_TOO_MANY HERD PASSES_WRITERS FARTHEST READER_BEHIND TRUSTS_WRITER UNMARKED CRIES_LOST \
    OUT_OF_GROUP; do
    build $name
done

for world in semaphore_3 semaphore_try semaphore_whole rwlock_3 rwlock_writers rwlock_waits \
    rwlock_two_locks; do
    expect 0 "1 passed" check CORRECT $world
done
expect 0 "1 passed" check PRESENCE presence
expect 3 "1000 random schedules, which is no proof" "$LOCKSTEP" run --no-search --seeds 1000 --recipe "$scratch/CORRECT.so" --out "$scratch" \
    "$kinds/semaphore_4.scn"
expect 0 "1 passed" "$LOCKSTEP" run --recipe "$scratch/TELLS_LOST.so" --out "$scratch" "$kinds/evicted.scn"

caught ONE_TOO_MANY semaphore_3 at_most_one_holder
caught HERD semaphore_4 at_most_one_wakeup_per_release
caught UNMARKED semaphore_4 no_lost_wakeup
caught PASSES_WRITERS rwlock_3 at_most_one_holder
caught FARTHEST rwlock_writers at_most_one_wakeup_per_release
caught CRIES_LOST semaphore_3 answers_have_reasons

# Faults meet the contenders of the lock that they name, and labels name the lock.
expect 1 "a acquire x.write" check PASSES_WRITERS rwlock_3
cat >"$scratch/evicted.scn" <<'SCENARIO'
world untimed
rwlock /locks/x
process a b
a acquire x.read
settle
b acquire x.write
settle
evict a x.write
evict b x.write
evict a x.read
settle
----
SCENARIO
expect 1 "- cannot   evict a x.write" "$LOCKSTEP" run --recipe "$scratch/CORRECT.so" --out "$scratch" "$scratch/evicted.scn"

# A lock that is none, and the wrong kind.
expect 3 "says lock 100 of a node at /locks/x, which is none of the group's" check OUT_OF_GROUP rwlock_3
expect 3 "the recipe mutex knows no semaphore" "$LOCKSTEP" check --recipe mutex --out "$scratch" "$kinds/semaphore_3.scn"

# The suite has situations for each kind; those of other kinds are passed over without a word.
suite()
{
    "$LOCKSTEP" check --suite --budget 0 --max-states 50000 --no-shrink --recipe "$scratch/$1.so" --out "$scratch"
}

expect 0 "scenarios/suite/rwlock: 20 of 20 passed" suite CORRECT
grep -q "^scenarios/suite/semaphore: 24 of 24 passed" "$scratch/output" || failed=1
! grep '^left out' "$scratch/output" || failed=1
# Small worlds have mutexes. A recipe that knows none is done without one, whatever the budget.
expect 0 "44 passed, 0 failed" timeout 60 "$LOCKSTEP" check --suite --budget 1000000 --max-states 1000 --no-shrink \
    --recipe "$scratch/CORRECT.so" --out "$scratch"
expect 1 "at_most_one_holder is violated" suite PASSES_WRITERS
expect 1 "at_most_one_wakeup_per_release is violated" suite FARTHEST
expect 1 "at_most_one_holder is violated" suite READER_BEHIND
expect 1 "at_most_one_holder is violated" suite TRUSTS_WRITER

# Each file of a folder runs with the recipe that knows its locks; with a recipe that is given, those that it does not know are left out.
mkdir "$scratch/both"
sed '/^states/d' "$kinds/rwlock_two_locks.scn" >"$scratch/both/rwlock.scn"
printf 'world used\nmutex /locks/x\nprocess a b: acquire release\nexplore total<=0\n----\n' >"$scratch/both/mutex.scn"
expect 0 "2 passed, 0 failed" "$LOCKSTEP" check --out "$scratch" "$scratch/both"
expect 0 "left out $scratch/both/rwlock.scn: the recipe does not know this kind of lock" "$LOCKSTEP" check --recipe mutex --out "$scratch" "$scratch/both"
grep -q '^1 passed, 0 failed' "$scratch/output" || failed=1
expect 0 '"recipe":"rwlock"' "$LOCKSTEP" check --json --out "$scratch" "$scratch/both/rwlock.scn"

# wrong LINE COLUMN EXPECTED FOUND: a header line that is refused.
wrong()
{
    printf 'world used\n%s\n' "$1" >"$scratch/wrong.scn"
    expect_line "$scratch/wrong.scn:2:$2: expected $3, found $4" "$LOCKSTEP" check "$scratch/wrong.scn"
}

wrong 'semaphore /locks/x' 19 'capacity=N, not below count=N' 'the end of the line'
wrong 'semaphore /locks/x capacity=0' 29 'a number from 1 to 1000' "'0'"
wrong 'semaphore /locks/x capacity=2 count=3' 38 'capacity=N, not below count=N' 'the end of the line'
wrong 'semaphore /locks/x units=2' 20 "capacity=N, count=N, 'as' or the end of the line" "'units=2'"
wrong 'rwlock /locks/x capacity=2' 17 "'as' or the end of the line" "'capacity=2'"
wrong 'rwlock /locks/0123456789a' 15 'a name that is new and short enough with .read behind it' \
    "'0123456789a'"
exit $failed
