#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# What a page draws: messages that are lost or under way, sessions that are over, faults that last, owners, the clock, requests and
# answers. marks.py looks at the pages of runs that have them.
source "${BASH_SOURCE[0]%/*}/../cli/lib.sh"
source "${BASH_SOURCE[0]%/*}/lib_browser.sh"

# page_of NAME PROGRAM: the page of the trace in $scratch/NAME, and the same run as JSON.
page_of()
{
    expect 0 '' "$2" report -o "$scratch/$1.html" "$(echo "$scratch/$1"/*.trace)"
    "$2" replay --json "$scratch/$1"/*.trace >"$scratch/$1.json" || true
}

# scripted NAME PROGRAM RECIPE: the scenario of standard input expects an event that does not come, so that its run has a trace.
scripted()
{
    { cat && printf -- '----\n[    0ms] a lost\n'; } >"$scratch/$1.scn"
    expect 1 'differs' "$2" run --no-shrink --recipe "$3" --out "$scratch/$1" "$scratch/$1.scn"
    page_of "$1" "$2"
}

expect 1 'violates' "$LOCKSTEP" run --no-shrink --recipe broken-no-protection --out "$scratch/lost" scenarios/mutex/create_reply_lost.scn
page_of lost "$LOCKSTEP"
expect 1 'FAIL' "$LOCKSTEP" check --no-shrink --recipe broken-herd --out "$scratch/herd" scenarios/explore/mutex_3.scn
page_of herd "$LOCKSTEP"
expect 1 'FAIL' "$LOCKSTEP" check --no-shrink --recipe broken-session-token --out "$scratch/token" scenarios/explore/mutex_2.scn
page_of token "$LOCKSTEP"
scripted pause "$LOCKSTEP" mutex <<'SCENARIO'
world used
mutex /locks/x
process a b c

a acquire
settle
b acquire
settle
pause a
advance 30s
expire b
c acquire
settle
resume a
partition c
advance 30s
heal c
settle
SCENARIO
scripted owners "$LOCKSTEP" mutex <<'SCENARIO'
world used
mutex /locks/x
process a b

a acquire owner=0
a acquire owner=1
b acquire
settle
b cancel
settle
SCENARIO
# A request is sent while an older one waits for the news of its loss.
scripted again "$LOCKSTEP" mutex <<'SCENARIO'
world used
mutex /locks/x
process a b

a acquire
before deliver a create-reply
cut a
a acquire owner=1
settle
SCENARIO
# A lag lasts until a thaw, though no search chooses its end.
scripted lag "$LOCKSTEP" mutex <<'SCENARIO'
world servers=2 used
mutex /locks/x
process a

lag s2
a acquire
settle
thaw s2
settle
SCENARIO
pages=(lost herd token pause owners again lag)
redis=$LOCKSTEP_BUILD_DIR/lockstep-redis
if [[ -x $redis ]]; then
    printf 'coordinator redis\nmutex /locks/x\nprocess a b: acquire\nexplore expire<=1\n----\nholds held_lease_is_renewed\n' >"$scratch/lease.scn"
    expect 1 'FAIL' "$redis" check --no-shrink --recipe naive_setnx --out "$scratch/lease" "$scratch/lease.scn"
    page_of lease "$redis"
    pages+=(lease)
fi
status=0
timeout 250 /usr/bin/python3 tests/report/marks.py "$scratch" "${pages[@]}" || status=$?
((status != 77)) || exit 77
((status == 0)) || failed=1
finish
