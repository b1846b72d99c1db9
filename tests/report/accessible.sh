#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# axe-core finds no serious barrier in the page of a run, in both colour schemes, on a screen and on a phone.
source "${BASH_SOURCE[0]%/*}/../cli/lib.sh"
source "${BASH_SOURCE[0]%/*}/lib_browser.sh"
source dev.d/setup.sh

[[ -e $(axe_path) ]] || { echo 'skipped: ./dev setup test fetches axe-core, if there is npm' && exit 77; }
expect 1 'violates' "$LOCKSTEP" run --no-shrink --recipe broken-no-protection --out "$scratch/lost" scenarios/mutex/create_reply_lost.scn
expect 0 '' "$LOCKSTEP" report -o "$scratch/page.html" "$(echo "$scratch"/lost/*.trace)"
status=0
timeout 250 /usr/bin/python3 tests/report/accessible.py "$(axe_path)" "$scratch/page.html" || status=$?
((status != 77)) || exit 77
((status == 0)) || failed=1
finish
