#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Ctrl-C ends the workers, tells what has been finished, and is not success.
source "$(dirname "$0")/lib.sh"
printf 'mutex /locks/x\nprocess a b: acquire release\n----\n' >"$scratch/c.scn"

# Far more schedules than can be run.
"$LOCKSTEP" run --jobs 1 --seeds 1000000000 --out "$scratch/reports" "$scratch/c.scn" >"$scratch/out" 2>&1 &
pid=$!
# The worker is there when the parent has a child.
while [[ -z $(cat "/proc/$pid/task/$pid/children" 2>/dev/null) ]] && kill -0 $pid 2>/dev/null; do
    :
done
children=$(cat "/proc/$pid/task/$pid/children")
kill -TERM $pid
status=0
wait $pid || status=$?
same 3 $status 'exit status'
same 'interrupted
0 passed, 0 failed, 1 skipped' "$(<"$scratch/out")" 'what is told'
for child in $children; do
    ! kill -0 "$child" 2>/dev/null || { echo "worker $child is still there"; failed=1; }
done
finish
