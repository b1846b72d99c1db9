#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Ctrl-C ends the workers, tells what has been finished, and is not success.
source "$(dirname "$0")/lib.sh"
write_small "$scratch/directed.scn"
printf 'world used\nmutex /locks/x\nprocess a b: acquire release\nexplore loss<=9 expire<=9\n----\n' >"$scratch/large.scn"
printf 'world used\nmutex /locks/x\nprocess a: acquire release\n----\nholds at_most_one_holder\n' >"$scratch/tiny.scn"

# start COMMAND...: in the background, as $pid, until it has a worker, $worker, that has worked for some time.
start()
{
    "$LOCKSTEP" "$@" >"$scratch/out" 2>&1 &
    pid=$!
    worker=
    while [[ -z $worker ]] && kill -0 $pid 2>/dev/null; do
        worker=$(cat "/proc/$pid/task/$pid/children" 2>/dev/null || true)
        worker=${worker%% *}
    done
    while kill -0 $pid 2>/dev/null && (($(cut -d ' ' -f 14 "/proc/$worker/stat") < 10)); do
        sleep 0.01
    done
}

# ended STATUS WHAT: the command ends with that status, and its worker is gone.
ended()
{
    local status=0
    wait $pid || status=$?
    same "$1" $status "exit status of $2"
    ! kill -0 "$worker" 2>/dev/null || { echo "$2: worker $worker is still there"; failed=1; }
}

# Far more schedules than can be run: what is not finished is skipped.
start run --jobs 1 --seeds 1000000000 --out "$scratch/reports" "$scratch/directed.scn"
kill -TERM $pid
ended 3 'random schedules'
same 'interrupted
0 passed, 0 failed, 1 skipped' "$(<"$scratch/out")" 'what is told of random schedules'

# A search tells how far it came, and what is done has been done, in all reports.
for strategy in dfs bfs; do
    start check --jobs 2 --no-layers --strategy $strategy --junit "$scratch/junit.xml" --out "$scratch/reports" "$scratch/large.scn" \
        "$scratch/tiny.scn"
    kill -TERM $pid
    ended 3 "a search ($strategy)"
    same 'interrupted
1 passed, 0 failed, 1 skipped' "$(tail -n 2 "$scratch/out")" "last lines of a search ($strategy)"
    states=$(sed -n 's/^limit .*large.scn  (\([0-9]*\) states, .*/\1/p' "$scratch/out")
    ((${states:-0} > 100)) || { cat "$scratch/out"; failed=1; }
    same 1 "$(grep -c '^pass ' "$scratch/out")" 'scenarios that had passed'
    same 1 "$(grep -c '^  interrupted$' "$scratch/out")" 'reasons for the limit'
    grep -q 'tests="2" failures="0" errors="0" skipped="1"' "$scratch/junit.xml" || { cat "$scratch/junit.xml"; failed=1; }
done

# Random schedules of an exploring file begin when its search has ended; they are not worth waiting for.
start run --jobs 1 --seeds 1000000000 --out "$scratch/reports" "$scratch/tiny.scn"
kill -TERM $pid
ended 3 'random schedules after a search'
same '0 passed, 0 failed, 1 skipped' "$(tail -n 1 "$scratch/out")" 'what is told of random schedules after a search'

# A worker that does not listen is killed, at once if somebody asks a second time.
start check --jobs 1 --out "$scratch/reports" "$scratch/large.scn"
kill -STOP "$worker"
while ! grep -q '^State:.*T' "/proc/$worker/status"; do
    :
done
kill -TERM $pid
while kill -0 $pid 2>/dev/null && ! grep -qE '^S(ig|hd)Pnd:[[:space:]]*0*[1-9a-f]' "/proc/$worker/status" 2>/dev/null; do
    :
done
kill -TERM $pid
ended 3 'a worker that does not listen'
same '0 passed, 0 failed, 1 skipped' "$(tail -n 1 "$scratch/out")" 'what is told of it'
finish
