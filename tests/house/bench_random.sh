#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The comparison of random strategies names recipes and files that are there, gives the same numbers each time, and tells what
# is not found within its runs.
source "$(dirname "$0")/../cli/lib.sh"
bench=$LOCKSTEP_BUILD_DIR/bench/random

"$bench" --runs 40 --bases 1 >"$scratch/first"
"$bench" --bases 1 --runs 40 >"$scratch/again"
cmp "$scratch/first" "$scratch/again" || failed=1
same 'uniform pct swarm mixed' "$(head -n 1 "$scratch/first" | awk '{ print $(NF-3), $(NF-2), $(NF-1), $NF }')" 'strategies'
grep -qE '^broken-depth +reentrant_2( +[1-9][0-9]?){4}$' "$scratch/first" || { echo 'broken-depth is not found' && failed=1; }
grep -qE '^broken-by-name-only +mutex_2 .*>40' "$scratch/first" || { echo 'what is not found is not told' && failed=1; }
grep -qE '^different states +mutex_2( +[1-9][0-9]+){4}$' "$scratch/first" || { echo 'no states are counted' && failed=1; }
expect_line "bench random: expected --runs N (1 to 1000000) or --bases N (1 to 100), found '--bases'" "$bench" --bases 101
expect_line "bench random: expected --runs N (1 to 1000000) or --bases N (1 to 100), found '--runs'" "$bench" --runs
finish
