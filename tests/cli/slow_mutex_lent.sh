#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The mutex on handles that the application lends violates nothing in the whole suite, nor in the first small worlds. Slow builds try
# situations in which sessions end.
source "${BASH_SOURCE[0]%/*}/lib.sh"
check=("$LOCKSTEP" check --suite --recipe mutex-lent --no-shrink --out "$scratch/reports")

if [[ -n ${LOCKSTEP_SANITIZE:-} ]]; then
    expect 0 ', 0 failed' "${check[@]}" --filter '*expir*' --max-states 3000 --budget 0
    expect 0 '1 passed, 0 failed' "${check[@]}" --filter new_session_without_a_word.scn --max-states 3000 --budget 0
else
    situations=$(find scenarios/suite -name '*.scn' | wc -l)
    expect 0 "$situations passed, 0 failed" "${check[@]}" --budget 1000000
fi
finish
