#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# lockstep-redis debug: gdb stands in the recipe's code at a step of a trace, at a call of a caller and at a callback of hiredis.
source "$(dirname "$0")/lib.sh"
source tests/cli/lib_debug.sh
may_trace
export LOCKSTEP=$redis

breaks redis_py_lease_later no_lost_wakeup again.scn
trace=$(sed -n 's/.* replay \([^ ]*\.min\.trace\).*/\1/p' "$scratch/output" | sed -n 1p)
[[ -n $trace ]] || trace=$(find "$scratch/reports" -name '*.min.trace' | sed -n 1p)
for step in $("$redis" replay "$trace" | sed -nE 's/^ *([0-9]+)  (. acquire|deliver .*)$/\1/p' | sed -n '1,2p;$p' || true); do
    debug "$trace@$step" 'info symbol $pc' 'bt -1' >"$scratch/seen"
    if ! grep -qF "$(label "$trace" "$step")" "$scratch/seen" || grep -q 'calls no function' "$scratch/seen" || ! grep -q 'in section .text' "$scratch/seen"; then
        echo "$trace@$step: expected gdb in the recipe, found:"
        cat "$scratch/seen"
        failed=1
    fi
    asked=$((${asked:-0} + 1))
done
((${asked:-0} >= 2)) || { echo 'no step calls the recipe'; failed=1; }
finish
