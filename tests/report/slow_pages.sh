#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Pages of other runs in a browser: of a search, of a run that goes round, of names that are markup, and of 10,000 steps.
source "${BASH_SOURCE[0]%/*}/../cli/lib.sh"
source "${BASH_SOURCE[0]%/*}/lib_browser.sh"

expect 1 'FAIL' "$LOCKSTEP" check --no-shrink --recipe broken-herd --out "$scratch/herd" scenarios/explore/mutex_3.scn
opens "$(echo "$scratch"/herd/*.trace)"

printf 'world used\nmutex /locks/x\nprocess a b: acquire release forever\nproperties can_always_be_served served_under_weak_fairness\n----\n' >"$scratch/round.scn"
expect 1 'FAIL' "$LOCKSTEP" check --no-shrink --recipe broken-steps-aside --out "$scratch/round" "$scratch/round.scn"
opens "$(echo "$scratch"/round/*.trace)"

hostile="$scratch/<img src=x onerror=alert(1)>\"'&]]>@page.js@.scn"
printf '# </script><script>alert(2)</script> <!--\nworld used\nmutex /lo<i>"ks&amp;/x\nprocess a b: acquire release\n----\n' >"$hostile"
expect 1 'FAIL' "$LOCKSTEP" check --no-shrink --recipe broken-no-sort --out "$scratch/hostile" "$hostile"
opens "$(echo "$scratch"/hostile/*.trace)"

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
finish
