#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Workers that search together: one that is killed ends the search as an error, an interrupt ends it with what it has
# found, and none of them outlives the command.
source "$(dirname "$0")/lib.sh"
printf 'world used\nmutex /locks/x\nprocess a b: acquire release\nexplore loss<=9 expire<=9\n----\n' >"$scratch/large.scn"

children_of()
{
    cat "/proc/$1/task/$1/children" 2>/dev/null || true
}

# start: a search with three workers, in the background, as $pid with $leader and the array `workers`.
start()
{
    "$LOCKSTEP" check --jobs 1 --workers 3 --no-layers --out "$scratch/reports" "$scratch/large.scn" >"$scratch/out" 2>&1 &
    pid=$!
    workers=()
    while ((${#workers[@]} < 3)) && kill -0 $pid 2>/dev/null; do
        leader=$(children_of $pid)
        leader=${leader%% *}
        read -r -a workers <<<"$(children_of "${leader:-0}")"
    done
    for worker in "${workers[@]}"; do
        while (($(cut -d ' ' -f 14 "/proc/$worker/stat" 2>/dev/null || echo 99) < 10)); do
            sleep 0.01
        done
    done
}

# ended STATUS WHAT
ended()
{
    local status=0
    wait $pid || status=$?
    same "$1" $status "exit status of $2"
    for worker in "$leader" "${workers[@]}"; do
        for _ in {1..200}; do
            kill -0 "$worker" 2>/dev/null || break
            sleep 0.01
        done
        ! kill -0 "$worker" 2>/dev/null || { echo "$2: process $worker is still there"; failed=1; }
    done
}

start
kill -KILL "${workers[1]}"
ended 4 'a search whose worker is killed'
same '  the worker died: Killed' "$(sed -n 2p "$scratch/out")" 'the reason'
same '0 passed, 1 failed' "$(tail -n 1 "$scratch/out")" 'last line with a killed worker'

# The limit that one of several workers meets is told with its reason.
cc -std=c11 -D_GNU_SOURCE -w -fPIC -shared -DFILL_THE_HEAP -Iinclude -o "$scratch/recipe.so" tests/cli/rude_recipe.c
printf 'world used\nmutex /locks/x\nprocess a b: acquire release acquire release\nproperties release_matches_acquire\n----\n' \
    >"$scratch/full.scn"
expect 3 '  limit: the heap of a process is full' "$LOCKSTEP" check --workers 2 --no-layers --recipe "$scratch/recipe.so" \
    --verbose --out "$scratch/reports" "$scratch/full.scn"

start
kill -KILL "$leader"
ended 4 'a search whose leader is killed'

start
kill -KILL $pid
ended 137 'a command that is killed' 2>/dev/null

start
kill -TERM $pid
ended 3 'a search that is interrupted'
grep -qE '^limit .*large.scn  \([0-9]+ states, [0-9]+ transitions, depth [0-9]+\)' "$scratch/out" ||
    { cat "$scratch/out"; failed=1; }
grep -q '^  interrupted' "$scratch/out" || { cat "$scratch/out"; failed=1; }
finish
