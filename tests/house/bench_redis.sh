#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# ./dev bench redis understands its arguments, says what is missing, and makes the right tables of figures. No server is needed;
# tests/realredis/slow_bench.sh runs the programs that take the locks.
source "$(dirname "$0")/../cli/lib.sh"
source bench/lock/tables.sh

# refused MESSAGE ARGUMENT...: usage, before anything is built or looked for.
refused()
{
    local message=$1 status=0
    shift
    ./dev bench redis "$@" >"$scratch/said" 2>&1 || status=$?
    same "2 dev: bench redis: $message" "$status $(<"$scratch/said")" "bench redis $*"
}
refused "unexpected 'moon', expected --rounds N, --round-ms N or --lease-ms N" moon
refused "--rounds wants a value" --rounds
refused "--rounds: expected a number from 1 to 99, found '0'" --rounds 0
refused "--lease-ms: expected a number from 300 to 60000, found '299'" --rounds 1 --lease-ms 299
grep -qx redis <<<"$(./dev bench --list)" || same redis "$(./dev bench --list)" 'the list of benchmarks'
grep -q -- 'bench redis' <<<"$(./dev bench --help)" || same 'bench redis' 'nothing' 'the help'

# ---- waits ----

# Contender 1 holds once of six times, and waits from the first grant of all until then.
cat >"$scratch/holds" <<'TEXT'
4000000000000000 4000000000000010 0
4000000001000000 4000000001000010 0
4000000005000000 4000000005000010 0
4000000006000000 4000000006000010 0
4000000006500000 4000000006500010 0
4000000004500000 4000000004500010 1
TEXT
same '33.3 4.5' "$(lock_waits 2 "$scratch/holds")" 'a contender that seldom holds'
same '0.0 4.5' "$(lock_waits 3 "$scratch/holds")" 'a contender that never holds'

# ---- ratios ----

cat >"$scratch/runs" <<'TEXT'
0 floor 1 4000 1000000000 400000 800000 100000 8000
0 dlock 1 2000 1000000000 400000 800000 100000 4000
0 ours 1 1000 1000000000 400000 800000 200000 2000
0 dlock 4 1000 1000000000 120000 120000 100000 6000
0 ours 4 1500 1000000000 100000 100000 100000 5000
TEXT
expected='ours : floor                 1 contender    0.25  (0.25 to 0.25)
dlock : floor                1 contender    0.50  (0.50 to 0.50)
ours : dlock                 1 contender    0.50  (0.50 to 0.50)
ours : dlock                 4 contenders   1.50  (1.50 to 1.50)'
same "$expected" "$(awk -f bench/lock/table.awk "$scratch/runs" | grep ' : ' | sed 's/ *$//')" 'the ratios'
exit $failed
