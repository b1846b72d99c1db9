#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# lockstep explain: the causes of five canaries (slow_explain.sh asks for all), each answer with its check; JSON, bounds, statuses.
source "$(dirname "$0")/../cli/lib.sh"
source tests/explain/lib_explain.sh

while IFS=$'\t' read -r name situation story moment _; do
    [[ $name == @(c09|e02|r04|z01|z05)_* ]] || continue
    ask "$name" "$LOCKSTEP_BUILD_DIR/canary/$name.so" "scenarios/suite/$situation.scn" - "$story" "$moment"
done < <(rows tests/canary/explain.tsv)
same '5 of 5' "$right of $asked" 'canaries that are explained as their stories tell'

# One fault, and the moment at which it happens: sentences.
trace_of "$LOCKSTEP_BUILD_DIR/canary/z01_create_without_protection.so" scenarios/suite/again_and_again.scn
expect 0 "it mattered: without it, no run breaks the promise" "$LOCKSTEP" explain "$trace"
expect 0 "checked: all runs of the scenario with no fault; " "$LOCKSTEP" explain "$trace"
expect 0 "this fault decided" "$LOCKSTEP" explain "$trace"
expect 0 "instead: 'apply s1 b create'" "$LOCKSTEP" explain "$trace"
expect 0 "with no new fault; 13 states, exhausted: all break the promise" "$LOCKSTEP" explain "$trace"
expect 0 "b did not know of its node at x (zxid 4), which stands since step 4: the answer was lost at step 6" "$LOCKSTEP" explain "$trace"
same "$("$LOCKSTEP" explain "$trace")" "$("$LOCKSTEP" explain - <"$trace")" 'the answer to a trace from standard input'

# The same of a shrunk trace; and of one that is not shrunk, with steps of its own.
"$LOCKSTEP" shrink --quiet --out "$scratch/short.trace" "$trace" >/dev/null
expect 0 "this fault decided" "$LOCKSTEP" explain --no-shrink "$scratch/short.trace"
expect 0 "it mattered: without it, no run breaks the promise" "$LOCKSTEP" explain --no-shrink "$trace"

# Programs without an end: while the others go round in a circle, the waiter waits all the same.
"$LOCKSTEP" check --quiet --recipe broken-expects-create --no-shrink --out "$scratch/live" scenarios/explore/live_2.scn >/dev/null || true
expect 0 "before step 4, 'cut a keep=0 apply=0 rc=-4': this fault decided" "$LOCKSTEP" explain --property can_always_be_served --no-shrink \
    "$scratch"/live/*.trace

# Either of two losses is enough. That some fault was needed is said only if the search without any has come to its end.
cat >"$scratch/two.scn" <<'SCENARIO'
world used
mutex /locks/x
process a b c

c acquire
settle
c release
settle
a acquire
before deliver a create-reply
cut a
b acquire
before deliver b create-reply
cut b
settle
rest
----
SCENARIO
"$LOCKSTEP" run --quiet --recipe broken-no-protection --no-shrink --out "$scratch/two" "$scratch/two.scn" >/dev/null || true
either=("$LOCKSTEP" explain --no-shrink --property no_orphan_node)
expect 0 'some fault was needed, and no single one: the others do as well' "${either[@]}" "$scratch"/two/*.trace
expect 3 "the fault that mattered
  not decided" "${either[@]}" --max-states 400 "$scratch"/two/*.trace

# A directed run, with a clock; and one of a random schedule.
cat >"$scratch/lost.scn" <<'SCENARIO'
world used
mutex /locks/x
process a b
a acquire
before apply s1 a create
cut a keep=0 apply=1
settle
b acquire
settle
rest
----
SCENARIO
trace_of broken-no-protection "$scratch/lost.scn"
expect 0 "all runs of the script's acts with no fault; " "$LOCKSTEP" explain "$trace"
expect 0 '"kind":"cut","process":"a","mattered":"yes"' "$LOCKSTEP" explain --json "$trace"

# If no fault is needed, none mattered.
sed 's/^world used/world used seed=1/; /^before /d; s/^cut .*/settle\ncut a/' "$scratch/lost.scn" >"$scratch/sorted.scn"
trace_of broken-no-sort "$scratch/sorted.scn"
expect 0 '"kind":"cut","process":"a","mattered":"no"' "$LOCKSTEP" explain --json --no-shrink "$trace"
expect 0 '"cause":"no-fault-needed"' "$LOCKSTEP" explain --json --no-shrink "$trace"

# The step behind which a check begins is an action, though a question for rest comes between it and the fault.
cat >"$scratch/rest.scn" <<'SCENARIO'
world used
mutex /locks/x
process a b
a acquire
settle
rest
expire a
b acquire
settle
rest
----
SCENARIO
trace_of broken-ignores-loss "$scratch/rest.scn"
expect 3 'all continuations of step 14 with no fault; ' "$LOCKSTEP" explain --no-shrink --max-states 20 "$trace"

# Bounds: no answer is guessed.
trace_of broken-no-protection "$scratch/lost.scn"
expect 3 "not decided within 1 states" "$LOCKSTEP" explain --max-states 1 "$trace"
expect 3 '"result":"undecided"' "$LOCKSTEP" explain --json --max-states 1 "$trace"

# Statuses and input.
expect 0 'usage: lockstep explain [OPTION...] TRACE' "$LOCKSTEP" explain --help
expect_line "lockstep explain: expected one trace, found ''" "$LOCKSTEP" explain
expect_line "lockstep explain: expected one trace, found 'b'" "$LOCKSTEP" explain a b
expect_line "lockstep explain: expected a property (see lockstep list properties) after --property, found 'safe'" \
    "$LOCKSTEP" explain --property safe "$trace"
expect_line "$trace:1:1: expected a trace that violates bounded_work, found one that does not" \
    "$LOCKSTEP" explain --property bounded_work "$trace"
expect 2 'missing.trace:1:1: expected' "$LOCKSTEP" explain "$scratch/missing.trace"
expect 2 'expected a number from' "$LOCKSTEP" explain --max-states 0 "$trace"
expect 2 'lost.scn:1:1: expected' "$LOCKSTEP" explain "$scratch/lost.scn"
if [[ -w /dev/full ]]; then
    status=0
    "$LOCKSTEP" explain "$trace" >/dev/full 2>"$scratch/err" || status=$?
    same 4 "$status" 'the status if the output cannot be written'
fi
finish
