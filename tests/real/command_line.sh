#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The command line of locked_counter: help, bad options, no server, an interrupt; and nothing is left running.
set -euo pipefail
source "$LOCKSTEP_SOURCE_DIR/tests/real/lib_counter.sh"

# expect STATUS TEXT ARGUMENTS...
expect()
{
    local wanted=$1 text=$2 status=0
    shift 2
    "$program" "$@" >"$scratch/output" 2>&1 </dev/null || status=$?
    if [[ $status != "$wanted" || $(<"$scratch/output") != *"$text"* ]]; then
        echo "locked_counter $*: expected exit status $wanted and '$text', found $status and:"
        cat "$scratch/output"
        failed=1
    elif [[ $wanted == 2 && $(wc -l <"$scratch/output") != 1 ]]; then
        echo "locked_counter $*: expected one line, found:"
        cat "$scratch/output"
        failed=1
    fi
}

expect 0 'usage: locked_counter' --help
expect 2 "--zk: expected HOST:PORT of a server, found 'nothing'"
expect 2 "expected an option that --help lists, found '--bogus'" --zk h:1 --bogus
expect 2 "expected a value, found 'nothing'" --zk
expect 2 "found 'extra'" --zk h:1 extra
for hosts in '' h h: h:0 h:65536 h:1x :1 h:1, h:1,,h:2; do
    expect 2 "--zk: expected HOST:PORT, found '$hosts'" --zk "$hosts"
done
for number in '' 0 65 -1 2x 99999999999999999999; do
    expect 2 "--processes: expected a number from 1 to 64, found '$number'" --zk h:1 --processes "$number"
done
expect 2 '--rounds: expected a number from 1' --zk h:1 --rounds 0
expect 2 '--seed: expected a number from 0' --zk h:1 --seed x
expect 2 '--session-timeout: expected a number from 100' --zk h:1 --session-timeout 99
for path in '' / x /x/ /x//y; do
    expect 2 "--path: expected an absolute path such as /locks/x, found '$path'" --zk h:1 --path "$path"
done
expect 2 'expected one of --strict, --long-stops and --no-lock' --zk h:1 --strict --no-lock
expect 2 '--processes: expected at least 2 in this mode' --zk h:1 --long-stops --processes 1
expect 4 '127.0.0.1:1: no ZooKeeper server answers there' --zk 127.0.0.1:1
expect 4 "$scratch/none/out: No such file or directory" --zk "$LOCKSTEP_ZK" --out "$scratch/none/out"

# Without --out nothing of a good run is left, and its last lines are for people.
mkdir "$scratch/tmp"
TMPDIR=$scratch/tmp expect 0 ' passed, 0 failed' --zk "$LOCKSTEP_ZK/chroot" --processes 1 --rounds 3
[[ -z $(ls "$scratch/tmp") ]] || wrong "left in the temporary folder: $(ls "$scratch/tmp")"

# An interrupt ends the run, leaves the figures, and ends every worker.
interrupt()
{
    local pid status=0 worker
    rm -rf "$scratch/out"
    # A shell without job control makes its background commands ignore the signal; env brings it back.
    env --default-signal=INT "$program" --zk "$LOCKSTEP_ZK" --rounds 100000 --out "$scratch/out" >"$scratch/output" 2>&1 &
    pid=$!
    while [[ ! -f $scratch/out/journal || $(journal_count wrote) -lt 3 ]]; do
        kill -0 "$pid" || break
        sleep 0.05
    done
    kill -"$1" "$pid"
    wait "$pid" || status=$?
    [[ $status == 3 ]] || wrong "after SIG$1: expected exit status 3, found $status"
    grep -qE '^  rounds +[1-9]' "$scratch/output" || wrong "after SIG$1 no figures: $(<"$scratch/output")"
    grep -qE ' passed, 0 failed, [0-9]+ skipped$' <(tail -n 1 "$scratch/output") || wrong "after SIG$1 no closing line"
    for worker in $(sed -nE 's/.* started .*value=([0-9]+) .*/\1/p' "$scratch/out/journal"); do
        if kill -0 "$worker" 2>/dev/null; then
            wrong "the worker $worker is still there"
        fi
    done
}
: >"$scratch/json" >"$scratch/errors"
interrupt INT
interrupt TERM
exit $failed
