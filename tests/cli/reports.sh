#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# --json: one object per scenario and nothing else on standard output. --junit: a well-formed file. --sarif: a log that has what
# SARIF 2.1.0 asks for, and nothing that it does not know.
source "$(dirname "$0")/lib.sh"
write_small "$scratch/a.scn"
sed 's/fence=4/fence=5/' "$scratch/a.scn" >"$scratch/b.scn"
printf 'world used\nmutex /locks/x\nprocess a b: acquire release\nexplore loss<=1\n----\nholds at_most_one_holder\n' \
    >"$scratch/c.scn"
status=0
"$LOCKSTEP" run --json --junit "$scratch/junit.xml" --out "$scratch/reports" "$scratch" >"$scratch/json" \
    2>"$scratch/err" || status=$?
same 1 $status 'exit status'
same 3 "$(wc -l <"$scratch/json")" 'lines of JSON'
same '2 passed, 1 failed' "$(tail -n 1 "$scratch/err")" 'last line on standard error'

# field LINE NAME: the text of a field.
field()
{
    sed -n "$1p" "$scratch/json" | grep -o "\"$2\":[^,}]*" | head -n 1 | cut -d: -f2-
}
same '"holds"' "$(field 1 verdict)" 'verdict of a.scn'
same '"differs"' "$(field 2 verdict)" 'verdict of b.scn'
same '"holds"' "$(field 3 verdict)" 'verdict of c.scn'
same "\"$scratch/a.scn\"" "$(field 1 scenario)" 'name of a.scn'
same '"mutex"' "$(field 1 recipe)" 'recipe'
same null "$(field 1 trace)" 'trace of what passes'
same null "$(field 1 states)" 'states of a run'
same 0 "$(field 3 schedules)" 'schedules of an exploring file'
(($(field 3 states) > 1000)) || { echo "states of a search: $(field 3 states)"; failed=1; }
(($(field 3 transitions) > $(field 3 states))) || { echo "transitions of a search: $(field 3 transitions)"; failed=1; }
for name in properties judged transitions depth seconds bytes_per_state replay message; do
    grep -q "\"$name\":" <(sed -n 2p "$scratch/json") || { echo "no field $name"; failed=1; }
done
same '"holds"' "$(field 3 at_most_one_holder)" 'a property that was judged'
[[ $(field 2 trace) == "\"$scratch/reports/"*.trace\" ]] || { echo "trace: $(field 2 trace)"; failed=1; }
same "\"$LOCKSTEP replay $(field 2 trace | tr -d '"')\"" "$(field 2 replay)" 'the line to paste'

grep -q '<testsuite name="lockstep" tests="3" failures="1" errors="0" skipped="0">' "$scratch/junit.xml" ||
    { cat "$scratch/junit.xml"; failed=1; }
same 3 "$(grep -c '<testcase ' "$scratch/junit.xml")" 'test cases'
same 1 "$(grep -c '<failure message="differs" type="differs">' "$scratch/junit.xml")" 'failures'
same 1 "$(grep -c '</testsuite>' "$scratch/junit.xml")" 'end of the report'

expect 4 'expected a file that can be written after --junit' "$LOCKSTEP" run --junit "$scratch/no/junit.xml" \
    "$scratch/a.scn"
same 0 "$(grep -c 'I/O error' "$scratch/output")" 'words of the XML library'
# What is violated: the run that is told first, with its traces, and what other runs violate.
"$LOCKSTEP" check --json --recipe broken-any-event-is-grant --out "$scratch/reports" scenarios/explore/mutex_2.scn >"$scratch/json" 2>/dev/null || true
python3 - "$scratch/json" "$LOCKSTEP" <<'PYTHON' || failed=1
import json, os, subprocess, sys
answer = json.load(open(sys.argv[1]))
violations = answer["violations"]
told = [v for v in violations if v["also"] is None]
others = [v for v in violations if v["also"] is not None]
assert told and others and violations == told + others, violations
assert {v["property"] for v in violations} == {p for p, said in answer["properties"].items() if said == "violated"}, violations
assert [v["step"] for v in told] == sorted(v["step"] for v in told)
for v in told:
    assert v["schedule"] == "search" and v["seed"] == 0 and v["sentence"] in answer["message"], v
    assert os.path.exists(v["trace"]) and v["trace"] == answer["trace"] and v["shrunk"] == answer["shrunk"], v
    assert v["replay"] == f"{sys.argv[2]} replay {v['shrunk']}", v
for v in others:
    assert v["trace"] is None and v["replay"] is None and v["also"] in ("in another run", "if the run goes on"), v
    assert (v["seed"] is None) == (v["schedule"] is None) == (v["also"] == "in another run"), v
said = subprocess.run(told[0]["replay"].split(), capture_output=True, text=True)
assert said.returncode == 1 and " is violated at step " in said.stdout, said
PYTHON
grep -q '"violations":\[\]' <<<"$("$LOCKSTEP" check --json --out "$scratch/reports" scenarios/explore/mutex_2.scn 2>/dev/null)" ||
    { echo 'what holds has violations'; failed=1; }

# ---- SARIF ----

"$LOCKSTEP" check --recipe broken-any-event-is-grant --out "$scratch/reports" --sarif "$scratch/violated.sarif" --json \
    scenarios/explore/dropped_2.scn >"$scratch/json" 2>/dev/null || true
sed 's/^states .*/states 5/' scenarios/explore/dropped_2.scn >"$scratch/wrong count é.scn"
"$LOCKSTEP" check --sarif "$scratch/differs.sarif" "$scratch/wrong count é.scn" scenarios/explore/dropped_2.scn >/dev/null || true
"$LOCKSTEP" check --sarif "$scratch/holds.sarif" scenarios/explore/dropped_2.scn >/dev/null
python3 - "$scratch" <<'PYTHON' || failed=1
import json, os, sys, urllib.parse
folder = sys.argv[1]
# Objects of the standard as far as they are used here: the members that have to be there, and those that may be.
def has(value, needed, known):
    assert set(needed) <= set(value) <= set(known), value
def results_of(name):
    log = json.load(open(os.path.join(folder, name)))
    has(log, ["version", "runs"], ["$schema", "version", "runs"])
    assert log["version"] == "2.1.0" and len(log["runs"]) == 1, log
    run = log["runs"][0]
    has(run, ["tool", "results"], ["tool", "results"])
    driver = run["tool"]["driver"]
    has(driver, ["name"], ["name", "version", "rules"])
    rules = [rule["id"] for rule in driver["rules"]]
    assert len(rules) == len(set(rules)) and "no_lost_wakeup" in rules, rules
    for rule in driver["rules"]:
        has(rule, ["id"], ["id", "shortDescription"])
        has(rule["shortDescription"], ["text"], ["text"])
    for result in run["results"]:
        has(result, ["message"], ["ruleId", "level", "message", "locations"])
        has(result["message"], ["text"], ["text"])
        assert result["level"] == "error" and result["ruleId"] in rules, result
        (place,) = result["locations"]
        has(place, [], ["physicalLocation"])
        has(place["physicalLocation"], ["artifactLocation"], ["artifactLocation", "region"])
        has(place["physicalLocation"]["artifactLocation"], [], ["uri"])
        assert place["physicalLocation"]["region"]["startLine"] >= 1, place
    return run["results"]
def path_of(result):
    return urllib.parse.unquote(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])
violations = [v for v in json.load(open(os.path.join(folder, "json")))["violations"] if v["also"] is None]
results = results_of("violated.sarif")
assert [r["ruleId"] for r in results] == [v["property"] for v in violations], results
for result, violation in zip(results, violations):
    assert result["message"]["text"] == f"{violation['sentence']}\nagain: {violation['replay']}", result
    assert path_of(result) == "scenarios/explore/dropped_2.scn", result
(differs,) = results_of("differs.sarif")
assert differs["ruleId"] == "scenario-differs" and path_of(differs) == "file://" + os.path.join(folder, "wrong count é.scn"), differs
assert results_of("holds.sarif") == []
PYTHON
expect 4 "expected a file that can be written after --sarif, found '$scratch/no/x.sarif': No such file or directory" \
    "$LOCKSTEP" check --sarif "$scratch/no/x.sarif" "$scratch/c.scn"
for i in 1 2; do "$LOCKSTEP" check --shard $i/2 --out "$scratch/parts" "$scratch/wrong count é.scn" >/dev/null 2>&1 || true; done
"$LOCKSTEP" merge --sarif "$scratch/merged.sarif" "$scratch"/parts/shard-*-of-2.json >/dev/null 2>&1 || true
"$LOCKSTEP" check --out "$scratch/parts" --sarif "$scratch/one.sarif" "$scratch/wrong count é.scn" >/dev/null 2>&1 || true
cmp "$scratch/merged.sarif" "$scratch/one.sarif" || failed=1
finish
