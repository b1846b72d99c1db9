#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Workers that are killed at any time and stopped for less than the margin lose no update and are never inside twice; and
# what the program says of it is what the journal and the counter say.
set -euo pipefail
source "$LOCKSTEP_SOURCE_DIR/tests/real/lib_counter.sh"

run_counter 0 --zk "$LOCKSTEP_ZK" --processes 3 --rounds 30 --seed 3
expect_property holds 'no lost update'
expect_property holds 'no overlap'
expect_property holds 'every round is done'
expect_property holds 'workers were killed and stopped'
expect_figure rounds -eq 90
expect_figure lost_updates -eq 0
expect_figure overlaps -eq 0
[[ $(journal_count wrote) == 90 ]] || wrong "the journal has $(journal_count wrote) acknowledged writes"
[[ $(journal_count killed) == "$(figure kills)" ]] || wrong "the journal has $(journal_count killed) kills"
[[ $(journal_count stopped) == "$(figure stops)" ]] || wrong "the journal has $(journal_count stopped) stops"
read -r value _ <"$scratch/out/counter"
[[ $value == $((90 + $(figure unheard))) ]] || wrong "the counter is at $value"
exit $failed
