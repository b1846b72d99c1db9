#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# What a fuzzer has found becomes findings: inputs with the same shrunk shape are one, its trace replays, its scenario fails with the
# recipe that it is about.
source "$(dirname "$0")/lib.sh"
plain_build_only
bin=$LOCKSTEP_BUILD_DIR/fuzz/fuzz_session_loss
mkdir -p "$scratch/afl/main/crashes" "$scratch/afl/main/queue"

# one RECIPE SEED NAME: an input that violates something.
one()
{
    rm -rf "$scratch/run"
    mkdir "$scratch/run"
    (cd "$scratch/run" && LOCKSTEP_RECIPE=$1 "$bin" --fuzz 400000 "$2") >/dev/null 2>&1 || true
    cp "$scratch/run/build/reports/finding" "$scratch/afl/main/crashes/$3"
}

one broken-no-protection 1 id:1
one broken-no-protection 2 id:2
cp "$scratch/afl/main/crashes/id:1" "$scratch/afl/main/crashes/id:3"
printf '\0' >"$scratch/afl/main/queue/id:4"
echo 'not an input' >"$scratch/afl/main/crashes/README.txt"

out=$scratch/findings
expect 1 '3 inputs, 0 without a finding, ' "$LOCKSTEP" triage --recipe broken-no-protection --out "$out" "$scratch/afl"
cp "$scratch/output" "$scratch/told"
count=$(find "$out" -name '*.trace' | wc -l)
same "$count" "$(find "$out" -name '*.scn' | wc -l)" 'a scenario for each trace'
((count >= 1 && count <= 2)) || { echo "expected one or two findings, found $count"; failed=1; }
for trace in "$out"/*.trace; do
    property=$(basename "$trace")
    property=${property%-*}
    expect 1 "$property is violated" "$LOCKSTEP" replay "$trace"
    expect 1 "$property" "$LOCKSTEP" run --no-shrink --out "$scratch/reports" --recipe broken-no-protection "${trace%.trace}.scn"
    grep -q "^# A fuzzer's finding, $property" "${trace%.trace}.scn" || { head -1 "${trace%.trace}.scn"; failed=1; }
done
# The same again is the same, to the byte.
expect 1 'findings' "$LOCKSTEP" triage --recipe broken-no-protection --out "$scratch/again" "$scratch/afl"
diff -r "$out" "$scratch/again" || failed=1
# The scenario of a finding has the world of its trace, with a node that was there before.
one broken-no-protection 12 id:5
mv "$scratch/afl/main/crashes/id:5" "$scratch/with_node"
expect 1 '1 findings' "$LOCKSTEP" triage --recipe broken-no-protection --out "$scratch/node" "$scratch/with_node"
header=$(sed -nE 's/^\| ((world|mutex|node) .*)/\1/p' "$scratch/node"/*.trace)
[[ $header == *$'\nnode /locks/x/content'* ]] || { echo "no node in $header"; failed=1; }
same "$header" "$(grep -E '^(world|mutex|node) ' "$scratch/node"/*.scn)" 'the header of a scenario and of its trace'
# The recipe that is right has nothing to show.
expect 0 '3 inputs, 3 without a finding, 0 findings' "$LOCKSTEP" triage --out "$scratch/none" "$scratch/afl"
expect 0 '1 inputs, 1 without a finding, 0 findings' "$LOCKSTEP" triage --out "$scratch/none" "$scratch/afl/main/queue/id:4"

expect_line "lockstep triage: expected a file or folder with inputs, found ''" "$LOCKSTEP" triage
expect 2 ':1:1: expected a file that can be read' "$LOCKSTEP" triage --out "$scratch/none" "$scratch/nothing"
expect 0 'examples:' "$LOCKSTEP" triage --help
# What is not looked at is told.
part=$(printf 'a%.0s' {1..240})
long=$scratch/$part/$part/$part/$part
mkdir -p "$long"
printf 0 >"$long/$part"
expect 0 '1 left out: more than 100000 inputs, or a path of more than 1023 bytes' "$LOCKSTEP" triage --out "$out" "$long"
finish
