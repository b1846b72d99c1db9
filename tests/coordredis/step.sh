#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# lockstep-redis replay --step: the states of its session are those of the JSON, and a run that has left its trace is saved. No
# test in C comes of such a trace: there is no library to link it with.
source "$(dirname "$0")/lib.sh"
plain_build_only

breaks dlock_one_host hold_keeps_its_node two_clients.scn
trace=$(find "$scratch/reports" -name '*.min.trace' | head -n 1)
states()
{
    python3 tests/cli/same_states.py "$redis" "$@" >"$scratch/told" 2>&1 || { tail -n 3 "$scratch/told"; failed=1; }
}
states "$trace"
printf 'violation\nprint s1\nback\nprint s1\nprint line\nback 4\nchoices\ntake 2\nnext 1000\nsave %s\n' "$scratch/saved.trace" |
    "$redis" replay --step "$trace" >"$scratch/out" || true
for text in '^nothing about s1$' '^s1 .*: text ' '^  x 1: [ab], session' 'has left its trace' '^violates '; do
    grep -q "$text" "$scratch/out" || { echo "no line $text:"; cat "$scratch/out"; failed=1; }
done
found=$(sed -n 's/^violates //p' "$scratch/out")
grep -qx "found $found" "$scratch/saved.trace" || { echo "$found is not in the trace" && failed=1; }
states "$scratch/saved.trace"
expect_line "$trace:7:1: expected a scenario of zookeeper (liblockstep_sim has no other worlds), found redis" "$redis" export "$trace"
finish
