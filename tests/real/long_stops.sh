#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Workers that stand still for longer than their session meet others inside, and are refused by the fence; nothing is lost.
set -euo pipefail
source "$LOCKSTEP_SOURCE_DIR/tests/real/lib_counter.sh"

run_counter 0 --zk "$LOCKSTEP_ZK" --long-stops --processes 3 --rounds 35 --session-timeout 600 --seed 5
expect_property holds 'no lost update'
expect_property holds 'stale tokens are refused'
expect_property holds 'overlaps are seen'
expect_figure session_timeout_ms -eq 600
expect_figure halts -gt 0
expect_figure refused -gt 0
expect_figure overlaps -gt 0
expect_figure lost_updates -eq 0
[[ $(journal_count refused) == "$(figure refused)" ]] || wrong "the journal has $(journal_count refused) refusals"

# The stored token is the largest that was ever inside.
largest=$(sed -nE 's/.* enter .* token=([0-9]+)$/\1/p' "$scratch/out/journal" | sort -n | tail -n 1)
grep -qE " token=$largest\$" "$scratch/out/counter" || wrong "the largest token is $largest: $(<"$scratch/out/counter")"
exit $failed
