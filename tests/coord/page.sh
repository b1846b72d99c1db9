#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The page of a run with the small coordinator: its requests and answers are arrows, as those of the coordinators of lockstep are.
source "${BASH_SOURCE[0]%/*}/../cli/lib.sh"
source tests/report/lib_browser.sh

register=$LOCKSTEP_BUILD_DIR/tests/coord/lockstep_register
expect 1 'violated no_lost_wakeup' "$register" check --verbose --no-shrink --recipe register-polls-once --out "$scratch/register" tests/coord/scenarios/keeps.scn
expect 0 '' "$register" report -o "$scratch/register.html" "$(echo "$scratch/register"/*.trace)"
"$register" replay --json "$scratch"/register/*.trace >"$scratch/register.json" || true
status=0
timeout 250 /usr/bin/python3 tests/report/marks.py "$scratch" register || status=$?
((status != 77)) || exit 77
((status == 0)) || failed=1
finish
