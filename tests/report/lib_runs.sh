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
