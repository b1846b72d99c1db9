#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Two clients want all leases of a semaphore, and a connection breaks. A holder whose watch is gone reserves no room for it: the
# invariants of the lock say so after each step.
source "$(dirname "$0")/../cli/lib.sh"
plain_build_only
printf 'world servers=1 used\nsemaphore /locks/x capacity=2 count=2\nprocess a b: acquire release\nexplore loss<=1\n----\n' >"$scratch/all.scn"
expect 0 '(1057801 states, 3004736 transitions' "$LOCKSTEP" check --recipe semaphore --out "$scratch/reports" "$scratch/all.scn"
finish
