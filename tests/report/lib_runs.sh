# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Sourced by the tests of pages, behind tests/cli/lib.sh: traces of runs with something of their own. Each sets `trace`.

# A run that goes round, with marks that are no actions.
round_trace()
{
    printf 'world used\nmutex /locks/x\nprocess a b: acquire release forever\nproperties can_always_be_served served_under_weak_fairness\n----\n' >"$scratch/round.scn"
    expect 1 'FAIL' "$LOCKSTEP" check --no-shrink --recipe broken-steps-aside --out "$scratch/round" "$scratch/round.scn"
    trace=$(echo "$scratch"/round/*.trace)
}

# Names and comments that are markup.
hostile_trace()
{
    local scenario="$scratch/<img src=x onerror=alert(1)>\"'&]]>@page.js@.scn"
    printf '# </script><script>alert(2)</script> <!-- \302\205 \177\nworld used\nmutex /lo<i>"ks&amp;/x\nprocess a b: acquire release\n----\n' >"$scenario"
    expect 1 'FAIL' "$LOCKSTEP" check --no-shrink --recipe broken-no-sort --out "$scratch/hostile" "$scenario"
    trace=$(echo "$scratch"/hostile/*.trace)
}

# journal_line MS WORD WORKER [FIELD=VALUE...]: a line of the journal of a real run, as src/trace/real_line.c writes it.
journal_line()
{
    local ms=$1 word=$2 worker=$3 id=0 basis=0 value=0 token=0
    shift 3
    [[ $# == 0 ]] || local "$@"
    echo "$((ms + 5000))000000 $word worker=$worker id=$id basis=$basis value=$value token=$token"
}

# The journal of two workers: a stop with an overlap and a refused token, a kill between a write and its acknowledgement, a start.
real_journal()
{
    journal_line 0 started 0.0 value=4711
    journal_line 1 started 1.0 value=4712
    journal_line 20 enter 0.0 id=1000000000001 token=7
    journal_line 24 writes 0.0 id=1000000000001 value=1 token=7
    journal_line 25 wrote 0.0 id=1000000000001 value=1 token=7
    journal_line 26 leave 0.0 id=1000000000001 value=1 token=7
    journal_line 30 enter 1.0 id=2000000000001 token=9
    journal_line 31 stopped 1.0 value=900
    journal_line 700 enter 0.0 id=1000000000002 token=12
    journal_line 702 writes 0.0 id=1000000000002 basis=1000000000001 value=2 token=12
    journal_line 703 wrote 0.0 id=1000000000002 basis=1000000000001 value=2 token=12
    journal_line 931 goes-on 1.0
    journal_line 932 refused 1.0 id=2000000000001 token=9
    journal_line 933 leave 1.0 id=2000000000001 value=903 token=9
    journal_line 934 leave 0.0 id=1000000000002 value=1 token=12
    journal_line 940 enter 1.0 id=2000000000002 token=15
    journal_line 941 writes 1.0 id=2000000000002 basis=1000000000002 value=3 token=15
    journal_line 942 killed 1.0
    journal_line 950 started 1.1 value=4713
    journal_line 2950 enter 0.0 id=1000000000003 token=18
    journal_line 2951 doubted 0.0 id=1000000000003 token=18
    journal_line 2952 leave 0.0 id=1000000000003 value=1 token=18
    journal_line 2960 ended 0.0
}

# Two acknowledged writes that were built on the same one.
forked_journal()
{
    real_journal
    journal_line 3000 enter 1.1 id=2000000100001 token=21
    journal_line 3001 writes 1.1 id=2000000100001 basis=1000000000001 value=2 token=21
    journal_line 3002 wrote 1.1 id=2000000100001 basis=1000000000001 value=2 token=21
}
