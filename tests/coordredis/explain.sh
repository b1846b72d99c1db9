#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The causes of violations on Redis: `lockstep explain` knows no coordinator, so it has the same answers there.
source "$(dirname "$0")/../cli/lib.sh"
redis=$LOCKSTEP_BUILD_DIR/lockstep-redis

# explains RECIPE SCENARIO TEXT: the first violation of the recipe in the scenario has this in its explanation.
explains()
{
    local trace
    rm -rf "$scratch/reports"
    "$redis" run --quiet --no-shrink --recipe "$1" --out "$scratch/reports" "tests/coordredis/scenarios/$2.scn" >/dev/null 2>&1 || true
    trace=$(find "$scratch/reports" -name '*.trace' | sort | sed -n 1p)
    expect 0 "$3" "$redis" explain "$trace"
}

explains dlock_shared_lease_thread two_threads 'no fault was needed: the run has none'
explains dlock_late_renewal keeps "link=2': it mattered: without it, no run breaks the promise"
explains dlock_error_as_answer refused "'reject b': it mattered: without it, no run breaks the promise"
explains setnx_owned failover_of_a_holder "'failover s1': it mattered: without it, no run breaks the promise"
explains setnx_owned failover_of_a_holder "b believed that it holds x: its node is gone since step"
finish
