#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The index of --html in a browser: Chromium opens it from the disk, and a program uses it and follows its links. tests/cli/html.sh
# compares what the index says with --json.
source "${BASH_SOURCE[0]%/*}/../cli/lib.sh"
source "${BASH_SOURCE[0]%/*}/lib_browser.sh"

names="$scratch/<img src=x onerror=alert(1)>\"'&amp;"
mkdir "$names"
printf '# </script><script>alert(2)</script>\nmutex /lo<i>"ks&amp;/x\nprocess a b: acquire release\n----\n' >"$names/"$'\e[31m\302\205<td>.scn'
printf 'mutex /locks/x\nprocess a: acquire release\n----\n' >"$scratch/passes.scn"
expect 1 'FAIL' "$LOCKSTEP" run --html "$scratch/html" --out "$scratch/traces" --coverage --recipe broken-no-sort "$names" "$scratch/passes.scn" \
    scenarios/mutex/create_reply_lost.scn scenarios/mutex/cancel_while_create_is_in_flight.scn scenarios/explore/mutex_2.scn
status=0
timeout 300 /usr/bin/python3 tests/report/browser_index.py "$scratch/html" || status=$?
((status != 77)) || exit 77
((status == 0)) || failed=1
finish
