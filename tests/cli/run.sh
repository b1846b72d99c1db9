#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# lockstep run: exit statuses, closing line, standard input, filters, traces and their replay.
source "$(dirname "$0")/lib.sh"
f=$scratch/small.scn
write_small "$f"
run=("$LOCKSTEP" run --verbose --out "$scratch/reports")

expect 0 "pass  $f" "${run[@]}" "$f"
same '1 passed, 0 failed' "$(tail -n 1 "$scratch/output")" 'last line'
expect 0 '1 passed, 0 failed' "${run[@]}" --quiet "$f"
same 1 "$(wc -l <"$scratch/output")" 'lines with --quiet'
same '1 passed, 0 failed' "$("${run[@]}" - <"$f" | tail -n 1)" 'from standard input'
expect 0 '(25 random schedules)' "${run[@]}" --seeds 25 "$f"

# Words are divided by blanks or tabs, those of a claim too.
{ cat "$f" && printf 'holds\tat_most_one_holder\n'; } >"$scratch/tabs.scn"
expect 0 '1 passed, 0 failed' "${run[@]}" "$scratch/tabs.scn"

# A difference: shown as a diff, written as a trace, which replays.
sed 's/fence=4/fence=5/' "$f" >"$scratch/other.scn"
expect 1 '-[   60ms] a held     fence=5' "${run[@]}" "$scratch/other.scn"
expect 1 '+[   60ms] a held     fence=4' "${run[@]}" "$scratch/other.scn"
same '0 passed, 1 failed' "$(tail -n 1 "$scratch/output")" 'last line of a failure'
line=$(sed -n 's/^replay: .* replay //p' "$scratch/output")
expect 0 'a held     fence=4' "$LOCKSTEP" replay "$line"
expect 1 '1 passed, 1 failed' "${run[@]}" --jobs 1 "$f" "$scratch/other.scn"
expect 0 '1 passed, 0 failed' "${run[@]}" --filter '*small*' "$scratch"
expect 0 '1 passed, 0 failed' "${run[@]}" --filter 'small.scn' "$scratch"

# The clock of a world stops after 23 days: time that does not pass is told.
{
    printf 'world timed\nmutex /locks/x\nprocess a\n'
    for ((day = 1; day <= 23; day++)); do printf 'advance 1440m\n'; done
    printf -- '----\n'
} >"$scratch/days.scn"
expect 0 '1 passed, 0 failed' "${run[@]}" "$scratch/days.scn"
sed -i 's/^----$/advance 1440m\n----/' "$scratch/days.scn"
expect 1 '- cannot   advance 86400000ms' "${run[@]}" "$scratch/days.scn"

# What a file says holds must have been judged.
printf 'world used\nmutex /locks/x\nprocess a\nsettle\n----\nholds granted_in_order\n' >"$scratch/idle.scn"
expect 1 'granted_in_order: expected holds, found not-judged' "${run[@]}" "$scratch/idle.scn"
printf 'world used\nmutex /locks/x\nprocess a\na acquire\nsettle\n----\n[   60ms] a held     fence=4\n%s\n' \
    'violates at_most_one_holder' >"$scratch/claim.scn"
expect 1 'at_most_one_holder: expected violated, found holds' "${run[@]}" "$scratch/claim.scn"

# A broken recipe is caught, and its trace replays to the same violation.
write_lost "$scratch/lost.scn"
expect 1 'violated no_orphan_node  step ' "${run[@]}" --recipe broken-no-protection "$scratch/lost.scn"
step=$(sed -n 's/^violated no_orphan_node  step \([0-9]*\) of \([0-9]*\).*/\1 \2/p' "$scratch/output")
same "${step% *}" "${step#* }" 'a trace ends where it fails'
trace=$(sed -n 's/^replay: .* replay //p' "$scratch/output")
expect 1 "no_orphan_node is violated at step ${step% *} of ${step% *}" "$LOCKSTEP" replay "$trace"
cp "$scratch/output" "$scratch/first"
expect 1 '' "$LOCKSTEP" replay "$trace"
cmp "$scratch/first" "$scratch/output" || failed=1
# A trace is read again whatever the name of its scenario is.
odd=$scratch/$'two\nlines \xff.scn'
cp "$scratch/lost.scn" "$odd"
"${run[@]}" --recipe broken-no-protection "$odd" >"$scratch/output" || true
trace_of_odd=$(sed -n 's/^replay: .* replay //p' "$scratch/output")
expect 1 'no_orphan_node is violated at step ' "$LOCKSTEP" replay "$trace_of_odd"
# The name of a trace is made of its contents.
same "$trace" "$("${run[@]}" --recipe broken-no-protection "$scratch/lost.scn" | sed -n 's/^replay: .* replay //p')" \
    'the same failure again'
# A file may say that it shows a violation.
sed 's/^----$/----\nviolates no_orphan_node no_lost_wakeup/' "$scratch/lost.scn" >"$scratch/shows.scn"
expect 0 '' "${run[@]}" --rewrite --recipe broken-no-protection "$scratch/shows.scn"
expect 0 '1 passed, 0 failed' "${run[@]}" --recipe broken-no-protection "$scratch/shows.scn"

# Where nobody is granted anything, nobody passes by never doing wrong: these servers refuse all contenders.
printf 'world used settings=local-sessions\nmutex /locks/x\nprocess a b: acquire release\n----\nholds at_most_one_holder\n' \
    >"$scratch/refused.scn"
expect 1 'at_most_one_holder: expected holds, found not-judged' "${run[@]}" "$scratch/refused.scn"
printf 'world used\nmutex /locks/x\nprocess a b: acquire release\n----\nholds at_most_one_holder\n' >"$scratch/two.scn"
# An exploring file is searched to its end.
expect 0 '1 passed, 0 failed' "${run[@]}" "$scratch/two.scn"
expect 1 'violated release_matches_acquire' "${run[@]}" --recipe broken-never-deletes "$scratch/two.scn"
expect 1 '2 passed, 1 failed' "${run[@]}" "$f" "$scratch/other.scn" "$scratch/two.scn"

# A folder for traces that cannot be made is the environment's fault, and is said first if it was asked for. If it was not, a
# violation is worse, and is told all the same.
: >"$scratch/file"
expect 4 "expected a folder that can be written after --out, found '$scratch/file/reports': Not a directory" \
    "$LOCKSTEP" run --out "$scratch/file/reports" "$scratch/other.scn"
mkdir "$scratch/closed"
: >"$scratch/closed/build"
(
    cd "$scratch/closed"
    expect 4 'no trace could be written below' "$LOCKSTEP" run --verbose "$scratch/other.scn"
    expect 1 'no trace could be written below' "$LOCKSTEP" run --verbose --recipe broken-no-protection "$scratch/lost.scn"
    expect 1 'violated no_orphan_node' "$LOCKSTEP" run --verbose --recipe broken-no-protection "$scratch/lost.scn"
    exit $failed
) || failed=1

# The order of the results does not depend on the number of workers.
for i in 1 2 3 4 5 6 7 8; do
    cp "$f" "$scratch/folder-$i.scn"
done
"${run[@]}" --jobs 1 --filter 'folder-*' "$scratch" >"$scratch/one"
"${run[@]}" --jobs 8 --filter 'folder-*' "$scratch" >"$scratch/eight"
cmp "$scratch/one" "$scratch/eight" || failed=1

# The last example of the help is a whole scenario, and passes.
example=$("$LOCKSTEP" run --help | sed -n "s/^  \(printf .*\) | lockstep run -$/\1/p")
eval "$example" >"$scratch/help.scn"
expect 0 '1 passed, 0 failed' "${run[@]}" "$scratch/help.scn"
expect 0 'examples:' "$LOCKSTEP" run --help
expect 0 'examples:' "$LOCKSTEP" replay --help
expect 0 'examples:' "$LOCKSTEP" list --help
expect 0 'examples:' "$LOCKSTEP" --help
expect 0 'lockstep 0.' "$LOCKSTEP" --version
finish
