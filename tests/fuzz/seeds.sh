#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# What a fuzzer begins with: each scenario and each trace becomes an input, and one that is made of a violated run is violated.
source "$(dirname "$0")/../cli/lib.sh"
bin=$LOCKSTEP_BUILD_DIR/fuzz
mkdir "$scratch/seeds" "$scratch/broken"

# Worlds of a fuzzer have mutexes: traces of other kinds of lock are none.
mapfile -t traces < <(grep -l '^| mutex ' reports/findings/*.trace)
((${#traces[@]} > 0)) || { echo 'no trace is of a mutex'; failed=1; }
files=(scenarios/*/*.scn "${traces[@]}")
"$bin/make_seeds" "$scratch/seeds" "${files[@]}" || { echo 'seeds are not made'; failed=1; }
same "${#files[@]}" "$(find "$scratch/seeds" -type f | wc -l)" 'number of inputs'
# What lies in a lock's directory and is no contender is there in the input's world, too: the highest bit of byte 2.
for pair in foreign_child:81 three_clients:01; do
    same "${pair#*:}" "$(od -An -tx1 -j2 -N1 "$scratch/seeds/suite-${pair%:*}.scn" | tr -d ' ')" "what is in the world of ${pair%:*}"
done
expect 0 'a grant in 100 %' "$bin/fuzz_session_loss" "$scratch/seeds/"*

# violated PROPERTY RECIPE SCENARIO
violated()
{
    local trace
    "$LOCKSTEP" check --quiet --recipe "$2" --out "$scratch/$2" "$3" >"$scratch/out" 2>&1 || true
    trace=$(grep -l "^found $1" "$scratch/$2"/*.trace | sed -n 1p) || { echo "$2 leaves no trace of $1"; failed=1; return; }
    "$bin/make_seeds" "$scratch/broken" "$trace" || { echo "$2: no seed is made of its trace"; failed=1; }
    expect 134 "$1: " env LOCKSTEP_RECIPE="$2" "$bin/fuzz_session_loss" "$scratch/broken/"*
    rm -f "$scratch/broken/"*
}
violated at_most_one_holder broken-no-sort scenarios/explore/mutex_2.scn
violated at_most_one_holder broken-event-is-grant scenarios/explore/mutex_2.scn
violated no_lost_wakeup broken-by-name-only scenarios/explore/lag_2.scn
violated at_most_one_wakeup_per_release broken-herd scenarios/explore/mutex_2.scn
violated no_orphan_node broken-cancel-leaks scenarios/explore/cancel_2.scn

# ---- scripts: each is run twice by a server of the fake ----
mkdir "$scratch/scripts"
scripts=(fuzz/scripts/*.lua)
"$bin/make_seeds" "$scratch/scripts" "${scripts[@]}" || { echo 'seeds are not made of scripts'; failed=1; }
same "${#scripts[@]}" "$(find "$scratch/scripts" -type f | wc -l)" 'number of inputs of scripts'
if [[ -x $bin/fuzz_redis_calls ]]; then
    expect 0 '2 strings, 10 arrays, 8 integers, 2 nils, 2 statuses, 2 errors' \
        "$bin/fuzz_redis_calls" "$scratch/scripts/scripts-replies.lua"
    expect 0 '1 inputs, 2.0 calls each, 1 ended by a limit' "$bin/fuzz_redis_calls" "$scratch/scripts/scripts-limits.lua"
fi

# ---- what is not right on the command line ----
expect 2 'usage: ' "$bin/make_seeds"
expect 2 'usage: ' "$bin/make_seeds" "$scratch/seeds"
expect 2 'nothing.scn:1:1: expected a ' "$bin/make_seeds" "$scratch/seeds" "$scratch/nothing.scn"
head -c 2000 /dev/zero >"$scratch/long.lua"
expect 2 'long.lua:1:1: expected a script of less than ' "$bin/make_seeds" "$scratch/seeds" "$scratch/long.lua"
expect 2 'nothing.lua:1:1: expected a script of less than ' "$bin/make_seeds" "$scratch/seeds" "$scratch/nothing.lua"
echo nonsense >"$scratch/bad.trace"
expect 2 'bad.trace:1:1: expected ' "$bin/make_seeds" "$scratch/seeds" "$scratch/bad.trace"
expect 1 "$scratch/nowhere: expected a folder to write into, found 'No such file or directory'" \
    "$bin/make_seeds" "$scratch/nowhere" scenarios/explore/mutex_2.scn
finish
