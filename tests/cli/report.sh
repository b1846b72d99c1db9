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

# ---- where the page goes ----
expect 0 "$scratch/lost/" "$LOCKSTEP" report "$lost"
[[ -s ${lost%.trace}.html ]] || { echo 'there is no page beside the trace'; failed=1; }
cat "$lost" | "$LOCKSTEP" report - >"$scratch/stdout.html"
same "$(head -n 1 "$scratch/stdout.html")" '<!doctype html>' 'the first line of a page on standard output'
expect 4 'expected a file that can be written' "$LOCKSTEP" report -o "$scratch/no/such/folder.html" "$lost"
expect_line "lockstep report: expected one trace, found ''" "$LOCKSTEP" report
expect 2 'found ' "$LOCKSTEP" report "$scratch/nowhere.trace"
sed 's/ deliver a create-reply$/ deliver a delete-reply/' "$lost" >"$scratch/unfit.trace"
expect 2 'unfit.trace:' "$LOCKSTEP" report "$scratch/unfit.trace"
[[ ! -e $scratch/unfit.html ]] || { echo 'a trace that does not fit has a page'; failed=1; }

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
