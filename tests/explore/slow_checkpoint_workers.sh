#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A search by several workers that is killed again and again, while it writes and at random moments, and goes on with one, two or
# three workers. It ends with the counts of an uninterrupted search, the premises of its judges included.
source "$(dirname "$0")/lib_checkpoint.sh"
# Large enough to be killed several times.
scenario=$scratch/expiry.scn
printf '%s\n' 'world used' 'mutex /locks/x' 'process a b c: acquire release' 'explore expire<=1' ---- \
    'holds at_most_one_holder no_stale_effect no_lost_wakeup granted_in_order' >"$scenario"

# start_options FOLDER: as $start, how a search that may have been killed before its first checkpoint is begun again.
start_options()
{
    start=(--resume "$1")
    [[ -e $(kept_in "$1") ]] || start=(--checkpoint "$1")
}

for options in '' '--no-layers' '--no-layers --no-renaming'; do
    # shellcheck disable=SC2086 # several words
    wanted=$(found "$scenario" $options)
    for round in 1 2 3; do
        folder="$scratch/writing$round$options"
        for times in 1 3 2 5 1 4; do
            start_options "$folder"
            # shellcheck disable=SC2086
            kill_when_writing "$folder" $times --workers 2 "${start[@]}" $options
        done
        # shellcheck disable=SC2086
        go_on "$wanted" "$folder" --workers $round $options
    done
    ((killed_writing > 9)) || { echo "$killed_writing were killed while they wrote"; failed=1; }
    killed_writing=0
    folder="$scratch/anywhere$options"
    for ((kills = 0; kills < 20; kills++)); do
        start_options "$folder"
        # shellcheck disable=SC2086
        "$LOCKSTEP" check --quiet --out "$scratch/reports" --checkpoint-every 0 --workers $((RANDOM % 3 + 1)) "${start[@]}" $options \
            "$scenario" >"$scratch/killed" 2>&1 &
        sleep 0.$((RANDOM % 90 + 10))
        kill -KILL $! 2>/dev/null || true
        wait $! 2>/dev/null || true
        nobody_works
    done
    # shellcheck disable=SC2086
    go_on "$wanted" "$folder" --workers 2 $options
done

# Told to end, by a signal to the command or by time, with several at once.
wanted=$(found "$scenario" --no-renaming)
for workers in 1 2 3; do
    folder=$scratch/told$workers
    for ((turn = 0; turn < 6; turn++)); do
        start_options "$folder"
        "$LOCKSTEP" check --quiet --out "$scratch/reports" --no-renaming --workers "$workers" "${start[@]}" "$scenario" \
            >"$scratch/told" 2>&1 &
        sleep 0.$((RANDOM % 50 + 30))
        kill -TERM $! 2>/dev/null || true
        wait $! || true
    done
    start_options "$folder"
    found "$scenario" --no-renaming --workers "$workers" --max-time 1 "${start[@]}" >"$scratch/told"
    go_on "$wanted" "$folder" --no-renaming --workers "$workers"
done
finish
