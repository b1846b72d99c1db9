#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The recipe semaphore-shared: each process knows the count at rest, also if memory was short. slow_shared_count_mistakes.sh has more
# worlds, and mistakes.
source "$LOCKSTEP_SOURCE_DIR/tests/cli/lib.sh"

expect 0 "1 passed" "$LOCKSTEP" check --no-shrink --out "$scratch" --recipe semaphore-shared tests/kinds/shared_count/memory.scn
finish
