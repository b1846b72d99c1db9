#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# What run and check say of many scenarios: what passes is counted, at most 20 of what fails are listed, and the shortest
# violation is told once, with a line to paste. --verbose tells all.
source "$(dirname "$0")/lib.sh"
f=$scratch/small.scn
write_small "$f"
mkdir "$scratch"/{good,bad,both}
write_lost "$scratch/lost.scn"
for i in {10..34}; do
    cp "$f" "$scratch/good/$i.scn"
    cp "$scratch/lost.scn" "$scratch/bad/$i.scn"
done
run=("$LOCKSTEP" run --jobs 1 --out "$scratch/reports")

# count PATTERN: lines of the output.
count()
{
    grep -c "$1" "$scratch/output" || true
}

# What passes is counted in its folder, unless it is named or --verbose asks for it; then comes what was proved.
expect 0 "$scratch/good: 25 of 25 passed" "${run[@]}" "$scratch/good"
same 0 "$(count '^pass')" 'scenarios that are listed'
same 'went as their files expect: 25' "$(grep '^went' "$scratch/output")" 'directed scenarios'
[[ $(<"$scratch/output") == *'promises kept: '*'; never put to the test: '* ]] || { cat "$scratch/output"; failed=1; }
same '25 passed, 0 failed' "$(tail -n 1 "$scratch/output")" 'the last line'
expect 0 '' "${run[@]}" --verbose "$scratch/good"
same 25 "$(count '^pass')" 'scenarios that --verbose lists'
expect 0 "pass  $scratch/good/10.scn" "${run[@]}" "$scratch/good/10.scn"
expect 0 "pass  $scratch/good/10.scn" "${run[@]}" --filter '1*.scn' "$scratch/good"
expect 0 '' "${run[@]}" --quiet "$scratch/good"
same '25 passed, 0 failed' "$(<"$scratch/output")" 'all that --quiet says'

# A search says how far its answer reaches.
printf 'world used\nmutex /locks/x\nprocess a b: acquire release\nexplore loss<=1 expire<=1 total<=1\n----\n' >"$scratch/both/two.scn"
expect 0 'clients: 2; faults in a run: at most 1 (loss, expire)' "$LOCKSTEP" check --out "$scratch/reports" "$scratch/both"
grep -qE '^  states are told apart by 64 bits: the odds .* are below 1 in 10\^[0-9]+$' "$scratch/output" ||
    { cat "$scratch/output"; failed=1; }

# Of many failures 20 are listed, and the shortest run is told once; its line to paste shows it again.
expect 1 'violated in 25 scenarios: no_orphan_node' "${run[@]}" --recipe broken-no-protection "$scratch/bad"
same '20 20' "$(count '^FAIL  .*  violates .*no_orphan_node') $(count FAIL)" 'failing scenarios that are listed'
same 'and 5 more: --verbose' "$(grep '^and' "$scratch/output")" 'the others'
same 1 "$(count '^the shortest run, ')" 'runs that are told'
same 0 "$(count '^went as\|^promises kept')" 'lines about what was proved'
same '0 passed, 25 failed' "$(tail -n 1 "$scratch/output")" 'the last line'
told=$(sed -n 's/^  | //p' "$scratch/output")
again=$(sed -n 's/^again: //p' "$scratch/output")
expect 1 'no_orphan_node is violated at step' bash -c "$again"
same "$(grep -v '^ *$' "$scratch/output")" "$(grep -v '^ *$' <<<"$told")" 'the story, and the replay'
{ "${run[@]}" --recipe broken-no-protection "$scratch/bad" || true; } | sed '/^  |/d' | wc -l >"$scratch/lines"
(($(<"$scratch/lines") <= 40)) || { echo "$(<"$scratch/lines") lines beside the story"; failed=1; }
expect 1 'violated no_orphan_node  step ' "${run[@]}" --verbose --recipe broken-no-protection "$scratch/bad"
same 25 "$(count '^FAIL')" 'failing scenarios that --verbose lists'

# What merely differs stands behind what violates a promise; alone, it is told.
sed 's/fence=4/fence=5/' "$f" >"$scratch/both/differs.scn"
cp "$scratch/lost.scn" "$scratch/both/lost.scn"
expect 1 '0 passed, 3 failed' "${run[@]}" --recipe broken-no-protection "$scratch/both/differs.scn" "$f" "$scratch/both/lost.scn"
same "lost.scn differs.scn small.scn" "$(sed -n 's/^FAIL  [^ ]*\/\([^ ]*\) .*/\1/p' "$scratch/output" | paste -sd ' ')" 'the order'
same 0 "$(count '^--- expected')" 'differences beside a violation'
expect 1 '-[   60ms] a held     fence=5' "${run[@]}" "$scratch/both/differs.scn"
same "FAIL  $scratch/both/differs.scn  differs from what the file expects" "$(head -n 1 "$scratch/output")" 'the first line'

# What a file says to be violated is not kept, and was put to the test. A folder without a name is the present one.
expect 0 'broken where a file says so: at_most_one_believer' "${run[@]}" scenarios/mutex/expire_of_holder_that_does_not_know_yet.scn
(cd "$scratch/good" && "${run[@]}" --filter '1*' . >"$scratch/output" && "${run[@]}" . >"$scratch/output" && grep -qx '[.]: 25 of 25 passed' "$scratch/output") || failed=1

# The same for our whole set of scenarios: a one-line bug does not flood. slow_flood.sh tries two more.
does_not_flood broken-no-sort
# What was not tried has a line for each of five scenarios; --verbose has all.
mkdir "$scratch/kept"
for i in 1 2 3 4 5 6 7; do
    printf 'mutex /locks/x\nprocess a: acquire\nexplore sweep<=1\n' >"$scratch/kept/$i.scn"
done
expect 0 'not tried: something in 2 more scenarios: --verbose
7 passed, 0 failed' "$LOCKSTEP" check "$scratch/kept"
same 5 "$(grep -c '^not tried: sweep .* in ' "$scratch/output")" 'scenarios with a line'
expect 0 '7 passed, 0 failed' "$LOCKSTEP" check --verbose "$scratch/kept"
same 7 "$(grep -c '^not tried: sweep .* in ' "$scratch/output")" 'scenarios with a line with --verbose'
finish
