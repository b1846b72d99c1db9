#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# ./dev bench lock understands its arguments, says what is missing, and makes the right tables of figures. Neither a
# server nor a peer is needed; tests/real/bench_lock.sh runs the programs that take the locks.
source "$(dirname "$0")/../cli/lib.sh"
source bench/lock/tables.sh

# ---- arguments ----

# refused MESSAGE ARGUMENT...: usage, before anything is built or looked for.
refused()
{
    local message=$1 status=0
    shift
    ./dev bench lock "$@" >"$scratch/said" 2>&1 || status=$?
    same "2 dev: bench lock: $message" "$status $(<"$scratch/said")" "bench lock $*"
}
refused "unexpected 'moon', expected --rwlock, --semaphore, --multi, --election, --rounds N or --round-ms N" moon
refused "unexpected 'moon', expected --rwlock, --semaphore, --multi, --election, --rounds N or --round-ms N" --rwlock moon
refused "--rounds wants a value" --rounds
refused "--rounds: expected a number from 5 to 99, found '4'" --rounds 4
refused "--rounds: expected a number from 5 to 99, found '100'" --rounds 100
refused "--round-ms: expected a number from 100 to 60000, found '1e3'" --rounds 5 --round-ms 1e3
grep -qx lock <<<"$(./dev bench --list)" || same lock "$(./dev bench --list)" 'the list of benchmarks'
grep -q -- '--round-ms' <<<"$(./dev bench --help)" || same '--round-ms' 'nothing' 'the help'

mkdir "$scratch/bin"
ln -s /usr/bin/* "$scratch/bin/"
rm -f "$scratch/bin/javac"
status=0
PATH=$scratch/bin ./dev bench lock --rounds 05 >"$scratch/said" 2>&1 || status=$?
same '4 dev: bench lock: a Java compiler is not here; to install what it needs: ./dev setup bench' \
    "$status $(<"$scratch/said")" 'without a Java compiler'

# ---- rates and ratios ----

# Of ours the rounds have 2000, 1000 and 3000 locks/s; of Curator always half of that but in the second, where it is 0.8.
cat >"$scratch/runs" <<'TEXT'
0 create+delete 1 4000 1000000000 400000 800000 100000 8000
0 ours 1 4000 2000000000 400000 800000 200000 12000
0 curator 1 1000 1000000000 100000 200000 100000 3000
0 ours 4 1200 1000000000 120000 120000 100000 6000
0 curator 4 1000 1000000000 100000 100000 100000 5000
1 create+delete 1 2000 1000000000 400000 800000 300000 4000
1 ours 1 1000 1000000000 200000 300000 300000 3001
1 curator 1 800 1000000000 80000 160000 300000 2400
2 create+delete 1 4000 1000000000 400000 800000 200000 8000
2 ours 1 3000 1000000000 300000 600000 200000 9000
2 curator 1 1500 1000000000 150000 300000 200000 4500
TEXT
expected='locks/s        contenders    median   slowest   fastest   spread client us server us  requests  others
create+delete           1      4000      2000      4000      50%       100       200       2.0     20%
ours                    1      2000      1000      3000     100%       100       200       3.0     20%
curator                 1      1000       800      1500      70%       100       200       3.0     20%
ours                    4      1200      1200      1200       0%       100       100       5.0     10%
curator                 4      1000      1000      1000       0%       100       100       5.0     10%

ours : curator               1 contender    2.00  (1.25 to 2.00)  goal 1.60: reached
curator : create+delete      1 contender    0.38  (0.25 to 0.40)  
ours : curator               4 contenders   1.20  (1.20 to 1.20)  goal 1.50: missed'
status=0
awk -f bench/lock/table.awk "$scratch/runs" >"$scratch/table" || status=$?
same "1 $expected
peer suspect: curator takes 0.38 times as many locks as the first floor, expected 0.45 or more" \
    "$status $(<"$scratch/table")" 'the table of a slow peer'

sed 's/^\(. create+delete 1\) \(.\)000/\1 2000/' "$scratch/runs" >"$scratch/fair"
status=0
awk -f bench/lock/table.awk "$scratch/fair" >"$scratch/table" || status=$?
same '0 0' "$status $(grep -c suspect "$scratch/table" || true)" 'a peer that is not slow'

status=0
echo '0 ours 1 2000 1000000000 1 2' | awk -f bench/lock/table.awk >"$scratch/table" || status=$?
same '1 line 1 is no run: 0 ours 1 2000 1000000000 1 2' "$status $(<"$scratch/table")" 'a line with a gap'

# ---- hand-overs ----

# Three contenders, each with its lines together; times as large as those of a machine that has run for weeks.
cat >"$scratch/holds" <<'TEXT'
4000000000001000 4000000000001010
4000000000004000 4000000000004100
4000000000002000 4000000000002500
4000000000009000 4000000000009001
4000000000003000 4000000000003250
TEXT
same '990 500 750 4900' "$(lock_handovers "$scratch/holds" | xargs)" 'hand-overs'
echo '4000000000003100 4000000000003200' >>"$scratch/holds"
status=0
lock_handovers "$scratch/holds" >/dev/null 2>"$scratch/said" || status=$?
same '1 granted at 4000000000003100 although released only at 4000000000003250' "$status $(<"$scratch/said")" \
    'two that hold at once'

same '5 10 1 10' "$(for p in 50 99 1 100; do
    seq 10 -1 1 | lock_percentile $p
done | xargs)" 'percentiles of ten'
same '990' "$(seq 1000 | lock_percentile 99)" 'the 99th percentile of a thousand'
same '' "$(lock_percentile 50 </dev/null)" 'the median of nothing'
seq 1000 1000 100000 >"$scratch/handovers"
same 'ours                  100        50        99' "$(lock_handover_row ours "$scratch/handovers")" 'a row of hand-overs'

# ---- the crowd ----

printf 'zk_version\t3.8.0\nzk_watch_count\t7\nzk_max_node_deleted_watch_count\t1\nzk_avg_x\t0.5\n' >"$scratch/before"
printf 'zk_watch_count\t19\n' >"$scratch/after"
same '7 12' "$(lock_metric "$scratch/before" watch_count) \
$(lock_metric_growth "$scratch/before" "$scratch/after" watch_count)" 'metrics'
lock_metric "$scratch/before" watch >/dev/null && same 'nothing' 'something' 'a metric that is not there'

same '' "$(lock_crowd_verdict 1000 1000 1000 1000 1 1000 0)" 'a crowd without a herd'
# wrong LINE FIGURE...: a crowd that is refused with that line.
wrong()
{
    local line=$1 status=0
    shift
    lock_crowd_verdict "$@" >"$scratch/said" || status=$?
    same "1 $line" "$status $(<"$scratch/said")" "the crowd $*"
}
wrong 'watches while all wait: expected 1000, found 1001' 1000 1001 1000 1000 1 1000 0
wrong 'deletions that woke somebody: expected 1000, found 999' 1000 1000 999 1000 1 1000 0
wrong 'watches that fired: expected 1000, found 5500' 1000 1000 1000 5500 1 1000 0
wrong 'woken by one deletion at most: expected 1, found 10' 1000 1000 1000 1000 10 1000 0
wrong 'grants: expected 1000, found 998' 1000 1000 1000 1000 1 998 0
wrong 'grants out of turn: expected 0, found 3' 1000 1000 1000 1000 1 1000 3
exit $failed
