#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# What docs/findings.md says about the recipes that do as Curator and kazoo do: its traces replay and violate what its table says,
# and its stories are theirs. slow_findings_of_the_suite.sh compares reports/findings.md.
source "$(dirname "$0")/lib.sh"
page=docs/findings.md

# cell N LINE: the N-th cell of a table's line.
cell()
{
    awk -F' *[|] *' -v n="$1" '{ print $(n + 1) }' <<<"$2"
}

# ---- traces: each is in the table, and shows the properties of its line ----
for trace in reports/findings/*.trace; do
    name=$(basename "$trace" .trace)
    line=$(grep "(../reports/findings/$name.trace)" "$page" || true)
    [[ -n $line ]] || { echo "$page does not know $trace"; failed=1; continue; }
    sed "s|^recipe .*/recipes/|recipe $LOCKSTEP_BUILD_DIR/recipes/|" "$trace" >"$scratch/$name.trace"
    status=0
    "$LOCKSTEP" replay "$scratch/$name.trace" >"$scratch/story" 2>&1 || status=$?
    same 1 "$status" "exit status of $trace"
    shown=$(sed -n 's/^\([a-z_]*\) is violated at .*/\1/p' "$scratch/story" | sort -u | paste -sd, | sed 's/,/, /g')
    wanted=$(cell 2 "$line" | tr -d ' ' | tr , '\n')
    while read -r property; do
        grep -q "^$property\$" <<<"$wanted" || { echo "$trace shows $property, which its line does not name"; failed=1; }
    done < <(sed -n 's/^\([a-z_]*\) is violated at .*/\1/p' "$scratch/story" | sort -u)
    [[ -n $shown ]] || { echo "$trace shows nothing"; failed=1; }
    if grep -q "replay $trace" "$page"; then
        awk -v trace="$trace" 'index($0, "replay " trace) { on = 1; next } on && /^```$/ { if (inside) exit; inside = 1; next } inside' \
            "$page" >"$scratch/told"
        sed "s|^recipe .*/recipes/|recipe   build/release/recipes/|" "$scratch/story" >"$scratch/story.named"
        diff "$scratch/told" "$scratch/story.named" || { echo "$page tells another story of $trace"; failed=1; }
    fi
done

finish
