#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The page of a run in a browser: Chromium opens it from the disk, and a program uses it. slow_pages.sh has more pages.
source "${BASH_SOURCE[0]%/*}/../cli/lib.sh"
source "${BASH_SOURCE[0]%/*}/lib_browser.sh"
source "${BASH_SOURCE[0]%/*}/lib_runs.sh"

expect 1 'violates' "$LOCKSTEP" run --no-shrink --recipe broken-no-protection --out "$scratch/lost" scenarios/mutex/create_reply_lost.scn
opens "$(echo "$scratch"/lost/*.trace)" --explain

# The page of a real run, from its journal.
forked_journal >"$scratch/journal"
expect 0 '' "$LOCKSTEP" report "$scratch/journal"
opens_page "$scratch/journal.html"
finish
