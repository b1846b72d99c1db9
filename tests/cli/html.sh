#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# run --html and check --html: the index says what --json says, its links lead to pages, each page is that of the trace, and equal
# calls write equal bytes. Names from outside harm nothing. tests/report/index.sh opens the index in a browser.
source "${BASH_SOURCE[0]%/*}/lib.sh"

# index_equals_json COMMAND...: the index that the command writes into $scratch/html, which it must make, says what its JSON says.
index_equals_json()
{
    local status=0
    rm -rf "$scratch/html" "$scratch/traces"
    "$LOCKSTEP" "$@" --json --html "$scratch/html/deep" --out "$scratch/traces" >"$scratch/json" 2>"$scratch/err" || status=$?
    ((status <= 1)) || { echo "$*: exit status $status"; cat "$scratch/err"; failed=1; }
    python3 tests/report/same_index.py "$scratch/html/deep" "$scratch/json" || { echo "  in the index of: $*"; failed=1; }
}

# Passing, differing, violating and declared scenarios; a herd; a search.
mkdir "$scratch/some"
cp scenarios/mutex/create_reply_lost.scn scenarios/mutex/c*_in_flight.scn scenarios/mutex/holder_*.scn "$scratch/some"
printf 'mutex /locks/x\nprocess a\na acquire\nsettle\n----\n[    0ms] a lost\n' >"$scratch/some/differs.scn"
index_equals_json run "$scratch/some"
index_equals_json run --recipe broken-no-protection "$scratch/some"
index_equals_json run --recipe broken-herd "$scratch/some"
grep -q 'more than it admits' "$scratch/html/deep/index.html" || { echo 'no herd in the index'; failed=1; }
index_equals_json check --coverage scenarios/explore/mutex_2.scn
same 1 "$(grep -c 'class="heat"' <(grep 'Scenarios, of 1' -B1 "$scratch/html/deep/index.html"))" 'heat maps'
same "$("$LOCKSTEP" check --coverage scenarios/explore/mutex_2.scn | sed -nE 's/^([0-9]+ of [0-9]+ pairs).*/\1/p')" \
    "$(grep -oE '[0-9]+ of [0-9]+ pairs' "$scratch/html/deep/index.html")" 'the pairs of the heat map'
"$LOCKSTEP" check scenarios/explore/mutex_2.scn | grep -E '^(searched to the end|promises kept|  states are)' >"$scratch/proved"
while read -r line; do
    grep -qF "$line" "$scratch/html/deep/index.html" || { echo "the index does not say: $line"; failed=1; }
done <"$scratch/proved"

# ---- pages of runs; equal calls write equal bytes ----
index_equals_json check --recipe broken-no-sort --coverage scenarios/explore/mutex_2.scn
trace=$(echo "$scratch"/traces/*.min.trace)
page=$scratch/html/deep/$(basename "${trace%.min.trace}").html
expect 0 '' "$LOCKSTEP" report -o "$scratch/page.html" "$trace"
cmp "$page" "$scratch/page.html" || failed=1
cp -r "$scratch/html/deep" "$scratch/first"
index_equals_json check --recipe broken-no-sort --coverage scenarios/explore/mutex_2.scn
diff -r "$scratch/first" "$scratch/html/deep" || failed=1
expect 1 violated "$LOCKSTEP" check --jobs 1 --verbose --html "$scratch/html/deep" --out "$scratch/traces" --recipe broken-no-sort \
    --coverage scenarios/explore/mutex_2.scn
diff -r "$scratch/first" "$scratch/html/deep" || failed=1

# ---- small worlds, with no scenario of a file ----
expect 0 'next: worlds/' "$LOCKSTEP" check --suite --filter 'worlds/*' --budget 3000 --html "$scratch/worlds"
grep -F 'next: worlds/' "$scratch/output" | grep -qFf - "$scratch/worlds/index.html" || { echo 'the index does not say which world is next'; failed=1; }

# A failing world has a page, and no coverage.
expect 1 'fails first' "$LOCKSTEP" check --suite --filter 'worlds/*' --budget 100000 --recipe broken-no-protection --coverage \
    --html "$scratch/failing" --out "$scratch/traces"
same 2 "$(find "$scratch/failing" -name '*.html' | wc -l)" 'pages of a failing world'

# ---- the index alone ----
if grep -oE '(https?:)?//[a-z0-9.]+[a-z]/' "$scratch/html/deep/index.html"; then
    echo 'the index names an address'
    failed=1
fi

# ---- names from outside ----
names="$scratch/<img src=x onerror=alert(1)>\"'&amp;@css@"
mkdir "$names"
printf 'mutex /lo<i>"ks&amp;/x\nprocess a b: acquire release\n----\n' >"$names/"$'\e[31m\302\205\342\200\256\r<td>.scn'
cp "$scratch/some/differs.scn" "$names/"$'not UTF-8 \377\300\200\355\240\200.scn'
index_equals_json run --recipe broken-no-sort "$names"
grep -qF 'not UTF-8 \xff\xc0\x80\xed\xa0\x80.scn' "$scratch/html/deep/index.html" || { echo 'bytes that are no UTF-8 are not shown'; failed=1; }
# A trace has a plain form of a name that is no UTF-8, so each of the two runs has a page.
same 2 "$(find "$scratch/html/deep" -name '*.html' ! -name index.html | wc -l)" 'pages of runs'

# ---- what cannot be ----
expect 4 "lockstep run: expected a folder that can be written after --html, found '/proc/pages'" "$LOCKSTEP" run --html /proc/pages "$scratch/some"
expect_line "lockstep check: expected no --html with --shard, found '--html'" "$LOCKSTEP" check --shard 1/2 --html "$scratch/x" scenarios/explore/mutex_2.scn
mkdir -p "$scratch/taken/index.html"
expect 4 "$scratch/taken/index.html:1:1: expected a file that can be written" "$LOCKSTEP" run --html "$scratch/taken" scenarios/mutex/create_reply_lost.scn
finish
