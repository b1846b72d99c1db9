#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The mutex on handles that the application lends violates nothing in the whole suite, nor in the first small worlds.
source "${BASH_SOURCE[0]%/*}/lib.sh"
check=("$LOCKSTEP" check --suite --recipe mutex-lent --no-shrink --out "$scratch/reports")

situations=$(find scenarios/suite -maxdepth 1 -name '*.scn' | wc -l) # those of the mutex
expect 0 "$situations passed, 0 failed" "${check[@]}" --budget 1000000
finish
