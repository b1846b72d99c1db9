#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# What is reached. Each mark in src/lock is reached by some scenario, some search or some random run, or docs/coverage.md says why
# not and which test of tests/lock has its situation. And of all pairs of an event and a state that these come to, the standard suite
# comes to nearly all; the page lists the others.
source "$(dirname "$0")/lib.sh"
page=docs/coverage.md
share=95

# cover NAME COMMAND...: what it has covered, in NAME.txt. Random schedules prove nothing: a limit is fine.
cover()
{
    local name=$1 status=0
    shift
    "$LOCKSTEP" "$@" --coverage --quiet --out "$scratch/reports" >"$scratch/$name.txt" || status=$?
    if ((status != 0 && status != 3)); then
        cat "$scratch/$name.txt" >&2
        return 1
    fi
}

# never_reached NAME: its marks that no recipe has reached, sorted.
never_reached()
{
    sed -n 's/^never reached: \([a-z-]*\) .*/\1/p' "$scratch/$1.txt" | sort | uniq -c |
        awk -v recipes="$(grep -c '^coverage of ' "$scratch/$1.txt")" '$1 == recipes { print $2 }'
}

# pairs NAME...: all of them, `EVENT, STATE`, sorted. The names of states are cut off in the table.
pairs()
{
    local name
    for name in "$@"; do
        awk '$1 == "event" { states = NF - 1; for (i = 1; i <= states; i++) state[i] = $(i + 1); next }
            / were seen$/ { states = 0 }
            states > 0 && NF > states { event = $1; for (i = 2; i <= NF - states; i++) event = event " " $i
                for (i = 1; i <= states; i++) if ($(NF - states + i) == "x") print event ", " state[i] }' "$scratch/$name.txt"
    done | sort -u
}

searches=()
for name in cancel_2 given_up_2 leftover_2 mutex_2 crash_2 early_2 sweep_2 revoke_2 pause_2 late_2; do
    searches+=("scenarios/explore/$name.scn")
done
cover mixed run --no-search --seeds 500
cover swarm run --no-search --seeds 500 --strategy swarm
cover searches check --max-time 120 "${searches[@]}"
cover suite check --suite --budget 0
comm -12 <(never_reached mixed) <(never_reached swarm) | comm -12 - <(never_reached searches) >"$scratch/missing"

# The page's list: | `name` | reason |
sed -n '/^## Marks that no run reaches/,/^## /s/^| `\([a-z-]*\)` |.*/\1/p' "$page" | sort >"$scratch/explained"
if ! diff "$scratch/explained" "$scratch/missing"; then
    echo "< marks that $page explains; > marks that were never reached"
    failed=1
fi
# A mark that is explained by a test has one.
while read -r test; do
    [[ -f $test ]] || { echo "$page names $test, which is not there" && failed=1; }
done < <(sed -n '/^## Marks that no run reaches/,/^## /p' "$page" | grep -o 'tests/lock/[a-z_]*\.c')

# The suite, and the page's list of what it lacks: | `event` | states | why |
# Answers of servers that refuse requests by their settings are left out: the suite has none of these but a read-only one.
settings='reply rc=-(15|120|124|127), |^session-read-only, '
pairs mixed swarm searches suite | grep -vE "$settings" >"$scratch/all"
pairs suite | grep -vE "$settings" >"$scratch/of_suite"
comm -23 "$scratch/all" "$scratch/of_suite" >"$scratch/lacking"
sed -n '/^## Pairs that the suite lacks/,/^## /s/^| `\([a-z -]*\)` | \([a-z, ]*\) |.*/\1|\2/p' "$page" |
    awk -F'|' '{ count = split($2, state, ", "); for (i = 1; i <= count; i++) print $1 ", " state[i] }' | sort >"$scratch/told"
if ! diff "$scratch/told" "$scratch/lacking"; then
    echo "< pairs that $page lists; > pairs that the suite lacks"
    failed=1
fi
echo "the suite comes to $(wc -l <"$scratch/of_suite") of $(wc -l <"$scratch/all") pairs"
(($(wc -l <"$scratch/of_suite") * 100 >= $(wc -l <"$scratch/all") * share)) || { echo "that is less than $share %" && failed=1; }
finish
