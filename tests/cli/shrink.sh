#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# lockstep shrink, and the shorter trace that run and check find by themselves: the same violation, the same bytes each
# time, nothing more to gain the second time, near the shortest that there is; nothing is lost when something fails.
source "${BASH_SOURCE[0]%/*}/lib.sh"
plain_build_only

printf 'world untimed used\nmutex /locks/x\nprocess a b: acquire release\nexplore loss<=1 expire<=1\n----\n' \
    >"$scratch/two.scn"

# record NAME RECIPE SCENARIO [OPTION...]: the trace of a violation, unshrunk, in $scratch/NAME.trace.
record()
{
    local command=check status=0
    [[ $3 == *two* ]] || command=run
    "$LOCKSTEP" $command --recipe "$2" --no-shrink --out "$scratch/$1" "${@:4}" "$3" >"$scratch/told" || status=$?
    same 1 $status "the exit status with $2"
    mv "$scratch/$1"/*.trace "$scratch/$1.trace"
}

# ---- a shorter trace of the same violation ----

record no-sort broken-no-sort "$scratch/two.scn" --no-layers
expect 0 'at_most_one_holder: whoever is granted' "$LOCKSTEP" shrink "$scratch/no-sort.trace"
expect 1 'at_most_one_holder is violated at step 11 of 11' "$LOCKSTEP" replay "$scratch/no-sort.min.trace"
before=$(steps "$scratch/no-sort.trace" at_most_one_holder)
((before > 22)) || { echo "expected a search that begins with a long run, found $before steps"; failed=1; }

"$LOCKSTEP" shrink --quiet --out "$scratch/again" "$scratch/no-sort.trace" >"$scratch/told"
same "replay: $LOCKSTEP replay $scratch/again" "$(<"$scratch/told")" 'what --quiet says'
cmp "$scratch/no-sort.min.trace" "$scratch/again" || { echo 'a second run gives another trace'; failed=1; }
"$LOCKSTEP" shrink --quiet --out "$scratch/twice" - <"$scratch/again" >/dev/null
cmp "$scratch/again" "$scratch/twice" || { echo 'the result can be shrunk further'; failed=1; }
expect 0 'it cannot get shorter' "$LOCKSTEP" shrink --out "$scratch/twice" "$scratch/again"

# Of several violations the one that is asked for.
record orphan broken-no-protection "$scratch/two.scn"
expect 0 'no_orphan_node: at rest every' "$LOCKSTEP" shrink --property no_orphan_node "$scratch/orphan.trace"
expect 1 'no_orphan_node is violated at step' "$LOCKSTEP" replay "$scratch/orphan.min.trace"
grep -q '^found no_orphan_node$' "$scratch/orphan.min.trace" || { echo 'another violation was kept'; failed=1; }
grep -qE '^\| process [ab]: acquire release$' "$scratch/orphan.min.trace" || { echo 'both processes stay'; failed=1; }

"$LOCKSTEP" shrink --quiet --out "$scratch/again" "$scratch/orphan.min.trace" >/dev/null
cmp "$scratch/orphan.min.trace" "$scratch/again" || { echo 'what was asked for is not kept'; failed=1; }

# ---- nearly as short as breadth first ----

# short RECIPE PROPERTY: the shrunk trace of a depth-first search is at most half as long again as the shortest there is.
short()
{
    local shrunk shortest
    printf 'world untimed used\nmutex /locks/x\nprocess a b: acquire release\nproperties %s\n' "$2" >"$scratch/one.scn"
    printf 'explore loss<=1 expire<=1\n----\n' >>"$scratch/one.scn"
    rm -rf "$scratch/dfs" "$scratch/bfs"
    "$LOCKSTEP" check --verbose --quiet --recipe "$1" --no-layers --out "$scratch/dfs" "$scratch/one.scn" >/dev/null || true
    "$LOCKSTEP" check --verbose --quiet --recipe "$1" --strategy bfs --no-shrink --out "$scratch/bfs" "$scratch/one.scn" \
        >/dev/null || true
    shrunk=$(steps "$scratch"/dfs/*.min.trace "$2")
    shortest=$(steps "$scratch"/bfs/*.trace "$2")
    if [[ -z $shrunk || -z $shortest ]] || ((2 * shrunk > 3 * shortest)); then
        echo "$1: expected at most 1.5 times the ${shortest:-?} steps of the shortest run, found ${shrunk:-none}"
        failed=1
    fi
}

short broken-full-name-order at_most_one_holder
short broken-any-event-is-grant at_most_one_holder
short broken-session-token no_stale_effect
short broken-mixed-orders no_lost_wakeup
short broken-release-once no_orphan_node
short broken-exists-watch no_watch_left_behind
short broken-suspension-untold every_loss_is_told

# ---- what run and check do by themselves ----

expect 1 '  |   promised: whoever is granted the lock was first' \
    "$LOCKSTEP" check --verbose --recipe broken-no-sort --no-layers --out "$scratch/auto" "$scratch/two.scn"
trace=$(sed -nE 's/^shrunk: .* replay (.*)  \(at_most_one_holder in 11 steps, was [0-9]+\)$/\1/p' "$scratch/output")
cmp "$trace" "$scratch/no-sort.min.trace" || { echo 'check finds another one than shrink'; failed=1; }
grep -q '^  |    11  deliver a list-reply: ok: 0000000008 (a), 0000000007 (b)$' "$scratch/output" || { echo 'there is no story'; failed=1; }
cmp "${trace%.min.trace}.trace" "$scratch/no-sort.trace" || { echo 'the full trace is not kept'; failed=1; }
"$LOCKSTEP" check --json --recipe broken-no-sort --no-layers --out "$scratch/auto" "$scratch/two.scn" \
    >"$scratch/told" 2>/dev/null || true
grep -qF "\"shrunk\":\"$trace\"" "$scratch/told" || { echo 'JSON does not name the shrunk trace'; failed=1; }
"$LOCKSTEP" check --json --no-shrink --recipe broken-no-sort --no-layers --out "$scratch/plain" "$scratch/two.scn" \
    >"$scratch/told" 2>/dev/null || true
grep -qF '"shrunk":null' "$scratch/told" || { echo 'JSON names a trace in spite of --no-shrink'; failed=1; }
same 1 "$(find "$scratch/plain" -type f | wc -l)" 'traces with --no-shrink'

printf 'world used\nmutex /locks/x\nprocess a b\na acquire\nb acquire\ncut a keep=0 apply=1\nsettle\nrest\n----\n' \
    >"$scratch/lost.scn"
expect 1 '  | no_orphan_node is violated at step' \
    "$LOCKSTEP" run --verbose --recipe broken-no-protection --seeds 100 --out "$scratch/seeds" "$scratch/lost.scn"
grep -q '^shrunk: ' "$scratch/output" || { echo 'the random run is not shrunk'; failed=1; }

# A shorter trace that cannot be written costs nothing else.
mkdir -p "$scratch/auto2/$(basename "$trace")/in-the-way"
expect 1 'no shorter trace could be written: Is a directory' \
    "$LOCKSTEP" check --verbose --recipe broken-no-sort --no-layers --out "$scratch/auto2" "$scratch/two.scn"
grep -q '^replay: ' "$scratch/output" || { echo 'the full trace is lost'; failed=1; }

# ---- bad input ----

expect 0 'usage: lockstep shrink [OPTION...] TRACE' "$LOCKSTEP" shrink --help
expect_line "lockstep shrink: expected one trace, found ''" "$LOCKSTEP" shrink
expect_line "lockstep shrink: expected one trace, found 'b'" "$LOCKSTEP" shrink a b
expect_line "lockstep shrink: expected --out FILE with a trace from standard input, found '-'" "$LOCKSTEP" shrink -
expect_line "lockstep shrink: expected a property (see lockstep list properties) after --property, found 'safe'" \
    "$LOCKSTEP" shrink --property safe "$scratch/no-sort.trace"
expect 2 'expected a number from 1 to' "$LOCKSTEP" shrink --max-steps 0 "$scratch/no-sort.trace"
expect 2 'missing.trace:1:1: expected' "$LOCKSTEP" shrink "$scratch/missing.trace"
expect 2 'two.scn:1:1: expected' "$LOCKSTEP" shrink "$scratch/two.scn"

# A run that violates nothing, and one that is not possible any more.
count=$(sed -nE 's/^choices //p' "$scratch/no-sort.min.trace")
sed -E "/^choices/s/ .*/ 3/; /^end/s/ .*/ 3/" "$scratch/no-sort.min.trace" |
    awk '/^choices/ { print; left = 3; next } left > 0 { print; left--; if (!left) past = 1; next }
         past && !/^end/ { next } { print }' >"$scratch/well.trace"
expect_line "$scratch/well.trace:1:1: expected a trace that violates a property that its scenario does not declare, \
found one that does not" "$LOCKSTEP" shrink "$scratch/well.trace"
expect_line "$scratch/no-sort.trace:1:1: expected a trace that violates bounded_work, found one that does not" \
    "$LOCKSTEP" shrink --property bounded_work "$scratch/no-sort.trace"
sed 's/apply s1 b create/apply s1 b delete/' "$scratch/no-sort.min.trace" >"$scratch/drift.trace"
expect 2 'are possible at choice' "$LOCKSTEP" shrink "$scratch/drift.trace"
[[ $count == 11 && ! -e $scratch/well.min.trace && ! -e $scratch/drift.min.trace ]] ||
    { echo 'a refused trace left a file behind'; failed=1; }

# ---- limits, and files that cannot be written ----

expect 3 'a limit was reached after' \
    "$LOCKSTEP" shrink --max-steps 50 --out "$scratch/limited" "$scratch/no-sort.trace"
expect 1 'at_most_one_holder is violated at step' "$LOCKSTEP" replay "$scratch/limited"

expect 4 'expected a file that can be written' \
    "$LOCKSTEP" shrink --out "$scratch/nowhere/x.trace" "$scratch/no-sort.trace"
mkdir "$scratch/folder"
expect 4 'expected a file that can be written' "$LOCKSTEP" shrink --out "$scratch/folder" "$scratch/no-sort.trace"
if [[ -w /dev/full ]]; then
    expect 4 'No space left on device' "$LOCKSTEP" shrink --out /dev/full "$scratch/no-sort.trace"
fi
# No file may grow: the old one stays as it was, and there is no half of a new one.
echo old >"$scratch/kept.trace"
status=0
(
    trap '' XFSZ
    ulimit -f 0
    "$LOCKSTEP" shrink --out "$scratch/kept.trace" "$scratch/no-sort.trace" 2>&1
) | cat >"$scratch/told" || status=$?
same 4 $status 'the exit status when no file may grow'
grep -q "expected a file that can be written, found 'File too large'" "$scratch/told" || { cat "$scratch/told"; failed=1; }
same old "$(<"$scratch/kept.trace")" 'the file that could not be replaced'
[[ ! -e $scratch/kept.trace.new ]] || { echo 'half a trace is left'; failed=1; }

# ---- long runs, and interrupts ----

{
    printf 'world used\nmutex /locks/x\nprocess'
    printf ' p%d' {1..28}
    printf '\n'
    printf 'p%d acquire\n' {1..28}
    printf 'settle\nrest\n----\n'
} >"$scratch/many.scn"
record many broken-busy-wait "$scratch/many.scn"
expect 0 'no choice can be left out of it' "$LOCKSTEP" shrink "$scratch/many.trace"
before=$(steps "$scratch/many.trace" bounded_work)
after=$(steps "$scratch/many.min.trace" bounded_work)
((10 * after < before)) || { echo "expected a tenth of the $before steps, found $after"; failed=1; }
"$LOCKSTEP" shrink --out "$scratch/best" "$scratch/many.trace" >"$scratch/told" 2>&1 &
pid=$!
# The program is there and catches SIGINT, bit 1 of the mask.
until [[ $(</proc/$pid/comm) == lockstep ]] && (($(sed -nE 's/^SigCgt:\s*/0x/p' "/proc/$pid/status") & 2)); do
    kill -0 $pid
done
kill -INT $pid
status=0
wait $pid || status=$?
same 3 $status 'the exit status after Ctrl-C'
grep -q '^interrupted after' "$scratch/told" || { echo 'expected "interrupted after", found:'; cat "$scratch/told"; failed=1; }
expect 1 'bounded_work is violated at step' "$LOCKSTEP" replay "$scratch/best"

# A search that has found something and is interrupted while it looks for less of it tells what it has found. Shrinking
# this one takes far longer than to notice its trace.
"$LOCKSTEP" check --verbose --recipe broken-event-is-grant --no-layers --out "$scratch/stopped" "$scratch/two.scn" \
    >"$scratch/told" 2>&1 &
pid=$!
until ls "$scratch"/stopped/*.trace >/dev/null 2>&1; do
    kill -0 $pid
done
kill -TERM $pid
status=0
wait $pid || status=$?
same 1 $status 'the exit status of an interrupted search that has found something'
grep -q '^replay: ' "$scratch/told" || { echo 'the violation is not told:'; cat "$scratch/told"; failed=1; }
grep -q '^interrupted$' "$scratch/told" || { echo 'the interrupt came too late'; failed=1; }
finish
