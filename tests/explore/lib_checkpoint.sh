# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Sourced by the tests of checkpoints: functions that read the result of a search, and that stop a search.
source "$(dirname "$0")/../cli/lib.sh"

# found SCENARIO OPTION...: what a search says of a scenario, but for what depends on the machine and on how workers share.
found()
{
    "$LOCKSTEP" check --quiet --json --out "$scratch/reports" "${@:2}" "$1" 2>"$scratch/complaint" </dev/null |
        sed -E 's/"(seconds|states_per_second|bytes_per_state|depth)":[^,]*,//g' || true
}

# The kept file of the only scenario in a folder.
kept_in()
{
    echo "$1/$(basename "$scenario" .scn).checkpoint"
}

# How often one was.
killed_writing=0

# kill_when_writing FOLDER TIMES OPTION...: a search that is kept in the folder all the time is killed at some moment while it
# writes for the TIMESth time. What it leaves is either nothing or a file that another search can go on with.
kill_when_writing()
{
    local folder=$1 times=$2 file seen=0
    shift 2
    file=$(kept_in "$folder")
    "$LOCKSTEP" check --quiet --out "$scratch/reports" --checkpoint-every 0 "$@" "$scenario" >"$scratch/killed" 2>&1 &
    while kill -0 $! 2>/dev/null && ((seen < times)); do
        # It is there while it is written.
        if [[ -e $file.new ]]; then
            ((seen += 1))
            ((seen < times)) || break
            while [[ -e $file.new ]]; do :; done
        fi
    done
    if kill -KILL $! 2>/dev/null && ((seen == times)); then
        ((killed_writing += 1))
    fi
    wait $! 2>/dev/null || true
    nobody_works
}

# A search dies with the command that was killed, and writes nothing more.
nobody_works()
{
    local i
    for ((i = 0; i < 500; i++)); do
        grep -qsz -- "^$scratch/report[s]" /proc/[0-9]*/cmdline || return 0
        sleep 0.01
    done
    echo "a search goes on though its command was killed"
    failed=1
}

# go_on WANTED FOLDER OPTION...: to the end, with what was wanted.
go_on()
{
    local wanted=$1 folder=$2 start=(--resume "$2")
    shift 2
    [[ -e $(kept_in "$folder") ]] || start=(--checkpoint "$folder")
    same "$wanted" "$(found "$scenario" "${start[@]}" "$@")" "a search that goes on ($*)"
}
