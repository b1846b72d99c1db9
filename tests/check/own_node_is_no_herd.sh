#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A holder watches its own node, to hear requests to give the lock back. Its session may have ended before it receives the reply
# that sets this watch. The watch is still on its own node, so its end is no herd for at_most_one_wakeup_per_release.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$LOCKSTEP" check --max-states 20000000 --no-shrink --out "$scratch" - <<'SCENARIO'
world servers=1 used
mutex /locks/x
process a: revocable acquire release acquire release
process b: acquire release
properties at_most_one_wakeup_per_release
explore expire<=1
----
holds at_most_one_wakeup_per_release
SCENARIO
