#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# lockstep check: what it says, what its limits do, and that nothing is lost when something goes wrong.
source "$(dirname "$0")/lib.sh"
plain_build_only
check=("$LOCKSTEP" check --verbose --out "$scratch/reports")

# scenario NAME EXPLORE [LINE...]: two processes that take a lock once each; the lines are the expected part.
scenario()
{
    local name=$1 explore=$2
    shift 2
    printf 'world used\nmutex /locks/x\nprocess a b: acquire release\nexplore %s\n----\n' "$explore" >"$scratch/$name.scn"
    printf '%s\n' "$@" >>"$scratch/$name.scn"
}
scenario small 'loss<=1' 'holds at_most_one_holder no_lost_wakeup'
scenario large 'loss<=9 expire<=9 crash<=9'

# field NAME: the text of a field of the JSON object in $scratch/output.
field()
{
    grep -o "\"$1\":[^,}]*" "$scratch/output" | sed -n 1p | cut -d: -f2-
}

# What is said is the same in each call, in both orders, and without layers; depths apart.
expect 0 'all runs with at most 1 fault; expected omissions: ' "${check[@]}" "$scratch/small.scn"
said=$(<"$scratch/output")
same 6 "$(wc -l <"$scratch/output")" 'lines about a search'
for options in '' '--no-layers' '--strategy bfs' '--strategy bfs --no-layers'; do
    # shellcheck disable=SC2086
    "${check[@]}" $options "$scratch/small.scn" >"$scratch/output"
    same "$(sed 's/depth [0-9]*//' <<<"$said")" "$(sed 's/depth [0-9]*//' "$scratch/output")" "a search with '$options'"
done
expect 0 '1 passed, 0 failed' "${check[@]}" --quiet "$scratch/small.scn"
same '1 passed, 0 failed' "$(<"$scratch/output")" 'what --quiet leaves'

# JSON says it too, and the rest.
expect 0 '"verdict":"holds"' "${check[@]}" --json --strategy bfs "$scratch/small.scn"
same true "$(field exhausted)" exhausted
same 1 "$(field complete_faults)" complete_faults
same '"bfs"' "$(field strategy)" strategy
[[ $said == *"($(field states) states, $(field transitions) transitions, "* ]] || { echo 'JSON counts otherwise'; failed=1; }
awk -v found="$(field expected_omissions)" -v states="$(field states)" \
    'BEGIN { wanted = states * states / 2 ^ 65; exit !(found > 0.999 * wanted && found < 1.001 * wanted) }' ||
    { echo "expected_omissions of $(field states) states: $(field expected_omissions)"; failed=1; }
same 0 "$(field unrenamed)" 'steps to states that were not renamed'
awk -v bytes="$(field bytes_per_state)" -v rate="$(field states_per_second)" \
    'BEGIN { exit !(bytes >= 8 && rate > 1000) }' || { cat "$scratch/output"; failed=1; }

# Depth first, endless programs come to numbers that are too large to be renamed: that is counted and told.
printf 'world used\nmutex /locks/x\nprocess a b c: acquire release forever\n----\nholds at_most_one_holder\n' >"$scratch/endless.scn"
expect 3 '  not renamed: ' "$LOCKSTEP" check --verbose --strategy dfs --max-states 40000 "$scratch/endless.scn"
"$LOCKSTEP" check --json --strategy dfs --max-states 40000 "$scratch/endless.scn" >"$scratch/endless.json" 2>"$scratch/errors" || true
grep -qE '"unrenamed":[1-9]' "$scratch/endless.json" || { cat "$scratch/endless.json"; failed=1; }

# A worker goes on with the next scenario, also behind one that is violated; each has its own time.
for number in 1 2 3 4; do
    sed 's/loss<=1/loss<=0/' "$scratch/small.scn" >"$scratch/series$number.scn"
done
scenario series3 'loss<=1'
expect 1 '3 passed, 1 failed' "${check[@]}" --jobs 1 --json --recipe broken-no-protection "$scratch"/series?.scn
same 'holds holds violated holds' "$(sed -n 's/.*"verdict":"\([a-z]*\)".*/\1/p' "$scratch/output" | paste -sd' ')" 'four in a row'
sed -n 's/.*"states_per_second":\([0-9]*\).*/\1/p' "$scratch/output" | awk '$1 < 1000 || $1 > 1e9 { exit 1 }' ||
    { cat "$scratch/output"; failed=1; }

# A limit is no verdict, also if nothing has been judged until then. What was done for fewer faults stands.
expect 3 'the number of states reached its limit (see --max-states)' "${check[@]}" --max-states 10 "$scratch/small.scn"
same "limit $scratch/small.scn  (10 states, 10 transitions, depth 2)" "$(head -n 1 "$scratch/output")" 'ten states'
same '0 passed, 0 failed, 1 skipped' "$(tail -n 1 "$scratch/output")" 'last line of a limit'
states=$(sed -n '1s/.*(\([0-9]*\) states.*/\1/p' <<<"$said")
expect 3 'no run without faults violates anything' "${check[@]}" --max-states $((states - 1)) "$scratch/small.scn"
expect 0 'all runs with at most 1 fault' "${check[@]}" --max-states $((states + 1)) "$scratch/small.scn"
expect 3 '  no layer is complete; ended among runs with at most 1 fault
' "${check[@]}" --no-layers --max-states 100 "$scratch/small.scn"
expect 3 '"complete_faults":null' "${check[@]}" --json --no-layers --max-states 100 "$scratch/small.scn"
same false "$(field exhausted)" 'exhausted at a limit'
for strategy in dfs bfs; do
    expect 3 '(see --max-memory)' "${check[@]}" --strategy $strategy --max-memory 1M "$scratch/large.scn"
    expect 3 'the time is over (see --max-time)' "${check[@]}" --strategy $strategy --max-time 1 "$scratch/large.scn"
done
expect 3 'the time is over (see --max-time)' "$LOCKSTEP" run --verbose --max-time 1 "$scratch/large.scn"

# The largest world has a search, and one without an end ends at a limit.
printf 'world servers=5\nmutex /locks/x\nprocess%s: acquire release\nexplore expire<=9\n----\n' "$(printf ' p%s' {1..32})" \
    >"$scratch/crowd.scn"
expect 3 '(see --max-states)' "${check[@]}" --max-states 3000 "$scratch/crowd.scn"
printf 'world used\nmutex /locks/x\nprocess a b: acquire release forever\n----\n' >"$scratch/endless.scn"
expect 3 '(see --max-memory)' "${check[@]}" --no-renaming --max-memory 16M "$scratch/endless.scn"
# A deadline is a timer that may fire at any moment.
printf 'world used\nmutex /locks/x\nprocess a b: acquire timeout=1s release\n----\nholds at_most_one_holder\n' \
    >"$scratch/deadline.scn"
expect 0 '1 passed' "${check[@]}" "$scratch/deadline.scn"

# What cannot be searched is said before anything is.
expect_line "scenarios/mutex/create_reply_lost.scn:1:1: expected an exploring scenario (process a b: acquire release), \
found a directed one" "$LOCKSTEP" check --verbose scenarios/mutex/create_reply_lost.scn
printf 'world servers=1 timed\nmutex /locks/x\nprocess a: acquire release\n----\n' >"$scratch/timed.scn"
expect_line "$scratch/timed.scn:1:17: expected an untimed world: a search goes through orders, not through times, \
found 'timed'" "$LOCKSTEP" check --verbose "$scratch/timed.scn" "$scratch/small.scn"
expect_line "$scratch/timed.scn:1:17: expected an untimed world: a search goes through orders, not through times, \
found 'timed'" "$LOCKSTEP" check --verbose --max-states 10 "$scratch"
expect 3 "write 'world untimed'" "$LOCKSTEP" run --verbose "$scratch/timed.scn"
rm "$scratch/timed.scn"
expect_line "lockstep check: expected a scenario file or a folder (lockstep check FILE.scn), or --suite, found 'no path'" "$LOCKSTEP" check
expect_line "lockstep check: expected dfs or bfs after --strategy, found 'deep'" "$LOCKSTEP" check --strategy deep x.scn
for size in 1023K 5 1T 1025G 8Gi -1G ''; do
    expect 2 'after --max-memory, found' "$LOCKSTEP" check --max-memory "$size" x.scn
done
expect_line "lockstep check: expected a number from 1 to 10000000 after --max-time, found '0'" \
    "$LOCKSTEP" check --verbose --max-time 0 x.scn

# Memory that is refused is a limit, wherever it is missed. Sanitizers need more than they would get, and with counters of coverage
# time runs out first.
if ! is_slow_build; then
    for strategy in dfs bfs; do
        (
            ulimit -v 100000
            expect 3 ' violates anything' "${check[@]}" --strategy $strategy --max-time 60 \
                "$scratch/large.scn"
            exit $failed
        ) || failed=1
        same 0 "$(grep -c max-time "$scratch/output")" "reasons with too little memory ($strategy)"
    done
    # A small search needs little, however much it may take: it does not take all addresses for what may come.
    (
        ulimit -v 918000
        for size in {1080..1160..4}M; do
            expect 0 '1 passed' "${check[@]}" --max-memory "$size" "$scratch/small.scn"
        done
        exit $failed
    ) || failed=1
fi

# A violation is told also if its trace cannot be written; a report that cannot be written is a failure.
expect 1 "replay: $LOCKSTEP replay " "${check[@]}" --recipe broken-no-sort "$scratch/small.scn"
trace=$(sed -n 's/^replay: .* replay //p' "$scratch/output")
expect 1 'at_most_one_holder is violated at step' "$LOCKSTEP" replay "$trace"
# The folder for traces that is not asked for is missed when there is a trace to write.
mkdir "$scratch/closed"
: >"$scratch/closed/build"
(
    cd "$scratch/closed"
    expect 1 "no trace could be written below build/reports: Not a directory" "$LOCKSTEP" check --verbose \
        --recipe broken-no-sort "$scratch/small.scn"
    grep -q '^violated at_most_one_holder ' "$scratch/output" || { cat "$scratch/output"; failed=1; }
    exit $failed
) || failed=1
if [[ -w /dev/full ]]; then
    for format in --seed=0 --json; do
        status=0
        "${check[@]}" $format "$scratch/small.scn" >/dev/full 2>"$scratch/output" || status=$?
        same 4 $status 'exit status without room for the report'
        same 'lockstep check: standard output cannot be written' "$(tail -n 1 "$scratch/output")" 'what is said of it'
    done
fi

# The examples of --help work.
mkdir -p "$scratch/scenarios/explore"
cp "$scratch/small.scn" "$scratch/scenarios/explore/mutex_2.scn"
cp "$scratch/small.scn" "$scratch/scenarios/explore/mutex_3.scn"
mkdir -p "$scratch/build/release"
ln -s "$LOCKSTEP_BUILD_DIR/recipes" "$scratch/build/release/recipes"
"$LOCKSTEP" check --help | sed -n '/^examples:/,$p' | tail -n +2 >"$scratch/examples"
same 10 "$(grep -c '^  ' "$scratch/examples")" 'examples'
while read -r line; do
    status=0
    (cd "$scratch" && PATH=$(dirname "$LOCKSTEP"):$PATH bash -c "$line" >output 2>&1 </dev/null) || status=$?
    wanted=0
    [[ $line != *broken-* && $line != *naive_* ]] || wanted=1
    same "$wanted" $status "exit status of the example '$line'"
done <"$scratch/examples"

# Counts that the file claims are compared when the search has come to its end, and only then.
transitions=$(sed -n '1s/.* \([0-9]*\) transitions.*/\1/p' <<<"$said")
scenario counted 'loss<=1' 'states 40645' 'holds at_most_one_holder' 'transitions 7  # a comment'
f=$scratch/counted.scn
cp "$f" "$scratch/copy"
expect 1 "  states: expected 40645, found $states" "${check[@]}" "$f"
grep -qx "  transitions: expected 7, found $transitions" "$scratch/output" || { cat "$scratch/output"; failed=1; }
grep -qx "$f is not what the file expects" "$scratch/output" || { cat "$scratch/output"; failed=1; }
expect 3 '1 skipped' "${check[@]}" --max-states 5000 "$f"
expect 0 '1 passed' "${check[@]}" --seed 3 "$f"
expect 0 '1 passed' "${check[@]}" --no-renaming "$f"
expect 0 '1 passed' "${check[@]}" --recipe textbook "$f"
expect 3 '  not rewritten' "${check[@]}" --rewrite --max-states 5000 "$f"
expect 0 '  not rewritten' "${check[@]}" --rewrite --seed 3 "$f"
cmp "$f" "$scratch/copy" || failed=1
expect 0 '  rewritten' "${check[@]}" --rewrite "$f"
same "$(sed "s/40645/$states/; s/transitions 7/transitions $transitions/" "$scratch/copy")" "$(<"$f")" 'the rewritten file'
for options in '' '--no-layers' '--strategy bfs' '--rewrite'; do
    # shellcheck disable=SC2086
    expect 0 '1 passed' "${check[@]}" $options "$f"
done
printf 'world used\nmutex /locks/x\nprocess a: acquire release\n----' >"$f"
expect 0 '  rewritten' "${check[@]}" --rewrite "$f"
same '----
states 14
transitions 16' "$(tail -n +4 "$f")" 'counts that were not there'
expect 0 '1 passed' "$LOCKSTEP" run --verbose --out "$scratch/reports" "$f"
expect_line "lockstep check: expected a file that can be rewritten with --rewrite, found '-'" "$LOCKSTEP" check --rewrite -

# A worker that is killed costs its own scenario and is no verdict.
"${check[@]}" --jobs 2 "$scratch/large.scn" "$scratch/small.scn" >"$scratch/output" 2>&1 &
pid=$!
worker=
while [[ -z $worker ]] && kill -0 $pid 2>/dev/null; do
    worker=$(cat "/proc/$pid/task/$pid/children" 2>/dev/null || true)
    worker=${worker%% *}
done
kill -KILL "$worker"
status=0
wait $pid || status=$?
same 4 $status 'exit status with a killed worker'
[[ $(head -n 1 "$scratch/output") == "ERROR $scratch/large.scn"* ]] || { cat "$scratch/output"; failed=1; }
same '  the worker died: Killed' "$(sed -n 2p "$scratch/output")" 'the reason'
same '1 passed, 1 failed' "$(tail -n 1 "$scratch/output")" 'last line with a killed worker'

# Progress: on a terminal only, and taken away at the end. A root without /dev/pts has none.
if script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
    line="$LOCKSTEP check --max-time 1 --out $scratch/reports $scratch/large.scn"
    script -qec "stty cols 60; $line >/dev/null" /dev/null >"$scratch/output" </dev/null || true
    lines=$(tr '\r' '\n' <"$scratch/output" | grep -c 'large.scn faults [0-9]*/27: .* states ' || true)
    ((lines > 2)) || { echo "lines of progress in a second: $lines"; failed=1; }
    awk 'BEGIN { RS = "\r" } { sub(/\033.*/, "") } length > 59 { exit 1 }' "$scratch/output" || { echo 'too long:'; failed=1; }
fi
"${check[@]}" --max-time 1 "$scratch/large.scn" >/dev/null 2>"$scratch/output" || true
same '' "$(<"$scratch/output")" 'progress without a terminal'
# A log has a line a minute, or as often as it is told.
LOCKSTEP_PROGRESS_SECONDS=1 "$LOCKSTEP" check --quiet --jobs 1 --max-time 3 scenarios/explore/mutex_3.scn "$scratch/small.scn" 2>"$scratch/output" >/dev/null ||
    true
grep -q '^progress: 0 of 2 scenarios  mutex_3[.]scn faults [0-9]*/[0-9]*: [0-9.kM]* states' "$scratch/output" || { cat "$scratch/output"; failed=1; }
same '' "$(grep -v '^progress: [01] of 2 scenarios\(  \|, some [0-9]* seconds left\)' "$scratch/output" || true)" 'other lines than those of progress'

finish
