#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Without the lock updates are lost, and the program says so: the counter of a run that loses nothing proves something.
set -euo pipefail
source "$LOCKSTEP_SOURCE_DIR/tests/real/lib_counter.sh"

run_counter 1 --zk "$LOCKSTEP_ZK" --no-lock --processes 4 --rounds 50
expect_property violated 'no lost update'
expect_property violated 'no overlap'
expect_figure lost_updates -gt 0
expect_figure overlaps -gt 0
read -r value _ <"$scratch/out/counter"
[[ $value == $((200 - $(figure lost_updates))) ]] || wrong "200 updates, $(figure lost_updates) lost, counter at $value"
grep -qE '^[0-9]+ passed, [1-9][0-9]* failed$' "$scratch/errors" || wrong 'no closing line with failures'
exit $failed
