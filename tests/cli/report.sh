#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# lockstep report and lockstep replay --json: the page has the same steps, states and choices as the JSON, and both say what the
# replay says as text. Names from outside harm neither. tests/report/page.sh opens a page in a browser.
source "${BASH_SOURCE[0]%/*}/lib.sh"
source tests/report/lib_runs.sh

# page_equals_json TRACE: the page's steps are those of the JSON, and the texts of both those of the replay.
page_equals_json()
{
    expect 0 '' "$LOCKSTEP" report -o "$scratch/page.html" "$1"
    "$LOCKSTEP" replay --json "$1" >"$scratch/steps.json" || true
    "$LOCKSTEP" replay "$1" >"$scratch/steps.txt" || true
    python3 tests/report/same_steps.py "$scratch/page.html" "$scratch/steps.json" "$scratch/steps.txt" || failed=1
}

expect 1 'violates' "$LOCKSTEP" run --no-shrink --recipe broken-no-protection --out "$scratch/lost" scenarios/mutex/create_reply_lost.scn
lost=$(echo "$scratch"/lost/*.trace)
page_equals_json "$lost"
expect 1 'FAIL' "$LOCKSTEP" check --no-shrink --recipe broken-no-sort --out "$scratch/found" scenarios/explore/mutex_2.scn
page_equals_json "$(echo "$scratch"/found/*.trace)"
round_trace
page_equals_json "$trace"
grep -q '"label":"cycle"' "$scratch/steps.json" || { echo 'no circle'; failed=1; }

# ---- the cause ----
# run_of PAGE EXPRESSION: what Python finds in the run of a page.
run_of()
{
    python3 tests/report/page_run.py "$1" "$2"
}

# behind STEP CHOICE: what was found behind a choice.
behind()
{
    run_of "$scratch/cause.html" "[one[1] for one in run['behind']['steps'][$1] if one[0] == '$2']"
}

lost_min=$(echo "$scratch"/lost/*.trace)
expect 0 "$scratch/cause.html" "$LOCKSTEP" report --explain -o "$scratch/cause.html" "$lost_min"
same "$("$LOCKSTEP" explain --no-shrink "$lost_min")" "$(run_of "$scratch/cause.html" 'run["cause"]' | sed '$d')" 'the cause on the page'
# The loss of the answer decides; a loss that keeps the answer does no harm, and nothing helps behind the loss.
same "['always']" "$(behind 9 'cut a keep=0 apply=0 rc=-4')" 'behind the loss of the answer'
same "['never']" "$(behind 9 'cut a keep=1 apply=0 rc=-4')" 'behind a loss that keeps the answer'
same "['always']" "$(behind 10 'deliver a session-connecting')" 'behind the step after the loss'
same "['sometimes']" "$(behind 3 'connect b s1')" 'behind a step before the loss'
"$LOCKSTEP" report --explain --max-states 1 -o "$scratch/cause.html" "$lost_min" >/dev/null
same "['undecided']" "$(behind 3 'connect b s1')" 'behind a step, with a bound of one state'
# No event breaks a promise about waiting for ever, so no search says that it is never broken.
expect 1 'FAIL' "$LOCKSTEP" check --recipe broken-expects-create --out "$scratch/waits" scenarios/explore/live_once_2.scn
"$LOCKSTEP" report --explain -o "$scratch/cause.html" "$(find "$scratch/waits" -name '*.trace' | sort | head -n 1)" >/dev/null
same "['always', 'undecided']" "$(run_of "$scratch/cause.html" "sorted({one[1] for step in run['behind']['steps'] for one in step})")" 'behind the choices of a run that waits'
expect 2 'expected a run that violates a property, for --explain, found one that violates nothing' "$LOCKSTEP" report --explain \
    -o "$scratch/holds.html" scenarios/mutex/create_reply_lost.scn
[[ ! -e $scratch/holds.html ]] || { echo 'a run without a cause has a page'; failed=1; }

# ---- where the page goes ----
expect 0 "$scratch/lost/" "$LOCKSTEP" report "$lost"
[[ -s ${lost%.trace}.html ]] || { echo 'there is no page beside the trace'; failed=1; }
cat "$lost" | "$LOCKSTEP" report - >"$scratch/stdout.html"
same "$(head -n 1 "$scratch/stdout.html")" '<!doctype html>' 'the first line of a page on standard output'
expect 4 'expected a file that can be written' "$LOCKSTEP" report -o "$scratch/no/such/folder.html" "$lost"
expect_line "lockstep report: expected one trace, scenario or journal, found ''" "$LOCKSTEP" report
expect 2 'found ' "$LOCKSTEP" report "$scratch/nowhere.trace"
sed 's/ deliver a create-reply$/ deliver a delete-reply/' "$lost" >"$scratch/unfit.trace"
expect 2 'unfit.trace:' "$LOCKSTEP" report "$scratch/unfit.trace"
[[ ! -e $scratch/unfit.html ]] || { echo 'a trace that does not fit has a page'; failed=1; }

# ---- scenarios ----
page=$scratch/page.html
# The page of a scenario that violates has all steps of the page of its trace, and may go on.
expect 0 "$page" "$LOCKSTEP" report --recipe broken-no-protection -o "$page" scenarios/mutex/create_reply_lost.scn
"$LOCKSTEP" report -o "$scratch/trace.html" "$lost" >/dev/null
count=$(run_of "$scratch/trace.html" 'len(run["steps"])')
same "$(run_of "$scratch/trace.html" '[step["label"] for step in run["steps"]]')" \
    "$(run_of "$page" "[step['label'] for step in run['steps'][:$count]]")" 'the steps of a scenario and of its trace'
same "$(run_of "$scratch/trace.html" 'run["end"]["violated"]')" "$(run_of "$page" 'run["end"]["violated"]')" 'what both violate'
same 'again: --recipe=broken-no-protection scenarios/mutex/create_reply_lost.scn' \
    "$(run_of "$page" '"again: " + run["head"]["again"].split(" run ")[1]')" 'the line to paste'
"$LOCKSTEP" report --explain --max-states 1000 --recipe broken-no-protection -o "$scratch/again.html" scenarios/mutex/create_reply_lost.scn >/dev/null || true
same 'again: --recipe=broken-no-protection scenarios/mutex/create_reply_lost.scn' \
    "$(run_of "$scratch/again.html" '"again: " + run["head"]["again"].split(" run ")[1]')" 'the line to paste, without a bound of --explain'
"$LOCKSTEP" report --recipe broken-no-protection -o "$scratch/again.html" "$lost" >/dev/null
same "again: --recipe=broken-no-protection $lost" "$(run_of "$scratch/again.html" '"again: " + run["head"]["again"].split(" replay ")[1]')" \
    'the line to paste, with the recipe that was given'
# A run that holds has a page, too, also from standard input.
cp scenarios/mutex/create_reply_lost.scn "$scratch/holds.scn"
expect 0 "$scratch/holds.html" "$LOCKSTEP" report "$scratch/holds.scn"
same "[] nothing directed" "$(run_of "$scratch/holds.html" '"%s %s %s" % (run["end"]["violated"], run["head"]["found"], run["head"]["schedule"])')" 'a run that holds'
(cd "$scratch" && "$LOCKSTEP" report - <holds.scn >stdin.html)
same "$(run_of "$scratch/holds.html" '[step["label"] for step in run["steps"]]')" \
    "$(run_of "$scratch/stdin.html" '[step["label"] for step in run["steps"]]')" 'the steps of a scenario from standard input'
# Contents come first: a trace may have any name.
cp "$lost" "$scratch/trace.scn"
expect 0 "$scratch/trace.html" "$LOCKSTEP" report "$scratch/trace.scn"
same "directed 5" "$(expect 0 '' "$LOCKSTEP" report --seed 5 -o "$page" "$scratch/holds.scn"; run_of "$page" '"%s %s" % (run["head"]["schedule"], run["head"]["seed"])')" 'the seed of run constants'
# An exploring scenario has one run for each seed.
explore=scenarios/explore/mutex_2.scn
expect_line "$explore:1:1: expected a directed one, or --seed N for one random run (lockstep check FILE finds a violation, and lockstep report TRACE draws it), found an exploring scenario" \
    "$LOCKSTEP" report "$explore"
expect 0 "$page" "$LOCKSTEP" report --seed 8 --strategy pct --depth 2 -o "$page" "$explore"
same 'pct 8' "$(run_of "$page" '"%s %s" % (run["head"]["schedule"], run["head"]["seed"])')" 'the schedule of a random run'
same "--seed=8 --strategy=pct --depth=2 --seeds=1 --no-search $explore" "$(run_of "$page" 'run["head"]["again"].split(" run ")[1]')" 'the line to paste'
cp "$page" "$scratch/first.html"
"$LOCKSTEP" report --seed 8 --strategy pct --depth 2 -o "$page" "$explore" >/dev/null
cmp "$page" "$scratch/first.html" || failed=1
expect_line "lockstep report: expected no --seed, --strategy and --depth with a trace, found '$lost'" "$LOCKSTEP" report --seed 1 "$lost"
expect_line "lockstep report: expected an exploring scenario with --strategy and --depth, found '$scratch/holds.scn'" "$LOCKSTEP" report --depth 2 "$scratch/holds.scn"
printf 'mutex /locks/x\nprocess a\na aquire\n' >"$scratch/bad.scn"
expect 2 "$scratch/bad.scn:3:3: expected" "$LOCKSTEP" report "$scratch/bad.scn"
[[ ! -e $scratch/bad.html ]] || { echo 'a scenario that cannot be read has a page'; failed=1; }

# ---- journals of real runs ----
forked_journal >"$scratch/journal"
expect 0 "$scratch/journal.html" "$LOCKSTEP" report "$scratch/journal"
page=$scratch/journal.html
same "$(sed -E 's/^[0-9]+ ([a-z-]+) worker=([0-9]+).*/worker\2 \1/' "$scratch/journal" | tr '\n' ' ')" \
    "$(run_of "$page" '" ".join(step["label"] for step in run["steps"][1:]) + " "')" 'the steps of a journal'
same "['worker0', 'worker1'] 0 journal" "$(run_of "$page" '"%s %s %s" % (run["head"]["processes"], run["head"]["servers"], run["head"]["schedule"])')" 'the head'
same '[8, 18]' "$(run_of "$page" '[step["step"] for step in run["steps"] if step.get("fault")]')" 'the faults'
same '[12, 19]' "$(run_of "$page" '[step["step"] for step in run["steps"] if step.get("heals")]')" 'the ends of faults'
# Between its enter and its leave or death a worker believes, unless it says that it does not.
same 'worker0: 3 4 5 9 10 11 12 13 14 20, worker1: 7 8 9 10 11 12 13 16 17 24 25 26' \
    "$(run_of "$page" '", ".join(name + ": " + " ".join(str(step["step"]) for step in run["steps"] for one in step["beliefs"] if one["process"] == name) for name in run["head"]["processes"])')" 'beliefs'
same '[1, 2, 6, 14, 15, 19]' "$(run_of "$page" '[step["step"] for step in run["steps"] for event in step["events"] if event["kind"] == "asked"]')" 'the beginnings of waits'
same '[3, 7, 9, 16, 20, 24]' "$(run_of "$page" '[step["step"] for step in run["steps"] for event in step["events"] if event["kind"] == "granted"]')" 'grants'
same "[('no overlap', 9), ('no lost update', 26)]" "$(run_of "$page" '[(one["property"], step["step"]) for step in run["steps"] for one in step["violated"]]')" 'what goes wrong'
same "[('no overlap', 9), ('no lost update', 26)]" "$(run_of "$page" '[(one["property"], one["number"]) for one in run["end"]["violated"]]')" 'the end'
real_journal | "$LOCKSTEP" report - >"$scratch/stdin.html"
same "['no overlap']" "$(run_of "$scratch/stdin.html" '[one["property"] for one in run["end"]["violated"]]')" 'a journal from standard input'
same '[0, 1, 20, 931]' "$(run_of "$scratch/stdin.html" '[run["steps"][k]["now_ms"] for k in (1, 2, 3, 12)]')" 'times since the first line'
# wrong_line LINE COLUMN EXPECTED: the second line of a journal.
wrong_line()
{
    { journal_line 0 started 0.0; echo "$1"; } >"$scratch/wrong"
    expect 2 "$scratch/wrong:2:$2: expected $3, found " "$LOCKSTEP" report "$scratch/wrong"
    same 1 "$(wc -l <"$scratch/output")" 'lines about a wrong journal'
    [[ ! -e $scratch/wrong.html ]] || { echo 'a wrong journal has a page'; failed=1; }
}
wrong_line 'x enter worker=0.0 id=0 basis=0 value=0 token=0' 1 'a number'
wrong_line '9223372036854775808 enter worker=0.0 id=0 basis=0 value=0 token=0' 19 'a number'
wrong_line '5 enters worker=0.0 id=0 basis=0 value=0 token=0' 3 'enter, writes, wrote, refused, doubted, leave, started, stopped, goes-on, killed or ended'
wrong_line '5 enter worker=64.0 id=0 basis=0 value=0 token=0' 17 'the number of a worker, 0 to 63'
wrong_line '5 enter worker=0.-1 id=0 basis=0 value=0 token=0' 18 'the number of a process'
wrong_line '5 enter worker=0.0 id=10000000000000000 basis=0 value=0 token=0' 39 'a hexadecimal number'
wrong_line '5 enter worker=0.0 id=0 basis=0 value=0' 40 ' token='
wrong_line '5 enter worker=0.0 id=0 basis=0 value=0 token=0 </script>' 48 'the end of the line'
expect_line "lockstep report: expected no option but --out with a journal, found '--recipe=mutex'" "$LOCKSTEP" report --recipe mutex "$scratch/journal"
expect_line "lockstep report: expected no option but --out with a journal, found '--explain'" "$LOCKSTEP" report --explain "$scratch/journal"

# ---- the page alone ----
# The names of SVG's elements are the only address in it.
if grep -oE '(https?:)?//[a-z0-9.]+[a-z]/' "$scratch/page.html" | grep -v '^http://www.w3.org/'; then
    echo 'the page names an address'
    failed=1
fi
(($(stat -c %s "$scratch/page.html") < 300000)) || { echo 'the page of a short run is too long'; failed=1; }

# ---- names from outside ----
hostile_trace
page_equals_json "$trace"
same 2 "$(grep -c '</script>' "$scratch/page.html")" 'ends of scripts in the page'
finish
