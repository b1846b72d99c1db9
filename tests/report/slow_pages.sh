#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Pages of other runs in a browser: of a search, of a run that goes round, of names that are markup, and of 10,000 steps.
source "${BASH_SOURCE[0]%/*}/../cli/lib.sh"
source "${BASH_SOURCE[0]%/*}/lib_browser.sh"
source "${BASH_SOURCE[0]%/*}/lib_runs.sh"

expect 1 'FAIL' "$LOCKSTEP" check --no-shrink --recipe broken-herd --out "$scratch/herd" scenarios/explore/mutex_3.scn
opens "$(echo "$scratch"/herd/*.trace)"

round_trace
opens "$trace"
hostile_trace
opens "$trace"

# The trace of a run of many rounds that differs from what its file expects.
{
    printf 'world used\nmutex /locks/x\nprocess a b\n\n'
    for ((i = 0; i < 400; i++)); do
        printf 'a acquire\nb acquire\nsettle\na release\nsettle\nb release\nsettle\n'
    done
    printf -- '----\n[    0ms] a lost\n'
} >"$scratch/long.scn"
"$LOCKSTEP" run --no-shrink --out "$scratch/long" "$scratch/long.scn" >"$scratch/output" 2>&1 || true
opens "$(echo "$scratch"/long/*.trace)"
(($(wc -l <"$scratch/steps.json") >= 10000)) || { echo "the long run has only $(wc -l <"$scratch/steps.json") lines"; failed=1; }
per_thousand=$(($(stat -c %s "$scratch/page.html") * 1000 / $(wc -l <"$scratch/steps.json")))
((per_thousand < 1000000)) || { echo "1,000 steps of a page have $per_thousand bytes"; failed=1; }
finish
