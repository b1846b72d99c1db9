#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Each result code, event type and session state of <zookeeper/zookeeper.h> has a row in tests/house/world/coverage.tsv, and comes up
# in the scenario that the row names; reports/world-coverage.md is what dev.d/world_coverage.sh makes of the rows. The check is
# first shown tables that are wrong.
source "$(dirname "$0")/../cli/lib.sh"
command -v cc >/dev/null || exit 77
[[ $LOCKSTEP_SANITIZE != *thread* ]] || exit 77 # the recipe is a shared object
recipe=$scratch/calls.so
cc -std=c11 -D_GNU_SOURCE -O1 -w -fPIC -shared -Iinclude -o "$recipe" tests/house/world/calls.c
header=$(printf '#include <zookeeper/zookeeper.h>\n' | cc -E - | sed -n 's/^# 1 "\(.*\/zookeeper\.h\)".*/\1/p' | head -1)
sed -nE 's/^ +(Z[A-Z]+) = -?[0-9]+.*/\1/p; s/.*const int (ZOO_[A-Z_]+_(EVENT|STATE));.*/\1/p' "$header" | sort >"$scratch/header"

# told SCENARIO RECIPE: what the run of this scenario was told, a name a line; each is run once.
told()
{
    local name=$scratch/told-${1//\//_}-$2 file=$recipe
    [[ $2 == calls ]] || file=$2
    if [[ ! -f $name ]]; then
        "$LOCKSTEP" run --coverage --recipe "$file" --out "$scratch/reports" "$1" >"$scratch/run" ||
            echo "the scenario does not pass" >"$name"
        sed -n 's/^told: //p' "$scratch/run" | tr ' ' '\n' >>"$name"
    fi
    cat "$name"
}

# check TABLE: one line per mistake; status 1 if there is any.
check()
{
    local name scenario recipe_name why rest wrong=0
    tail -n +2 "$1" | cut -f 1 | sort | uniq -d | sed 's/$/: more than one row/' >"$scratch/mistakes"
    tail -n +2 "$1" | cut -f 1 | sort -u | comm -23 "$scratch/header" - | sed 's/$/: no row/' >>"$scratch/mistakes"
    tail -n +2 "$1" | cut -f 1 | sort -u | comm -13 "$scratch/header" - | sed 's/$/: not in the header/' >>"$scratch/mistakes"
    while IFS=$'\t' read -r name scenario recipe_name why rest; do
        if [[ -z $why || -n $rest ]]; then
            echo "$name: expected four columns"
        elif [[ $scenario == - ]]; then
            ! grep -qx "$name" "$scratch"/told-* 2>/dev/null || echo "$name: it comes up after all"
        elif [[ ! -f $scenario ]]; then
            echo "$name: no scenario $scenario"
        elif ! grep -qx "$name" <<<"$(told "$scenario" "$recipe_name")"; then
            echo "$name: it does not come up in $scenario"
        fi
    done < <(tail -n +2 "$1") >>"$scratch/mistakes"
    cat "$scratch/mistakes"
    [[ ! -s $scratch/mistakes ]]
}

check tests/house/world/coverage.tsv || failed=1
grep -q '^ZOK$' "$scratch/header" && grep -q '^ZOO_READONLY_STATE$' "$scratch/header" || { echo "nothing found in $header" && failed=1; }
bash dev.d/world_coverage.sh | cmp - reports/world-coverage.md || failed=1

# wrong EDIT TEXT: the table with this edit is refused with this text.
wrong()
{
    sed -E "$1" tests/house/world/coverage.tsv >"$scratch/wrong.tsv"
    if cmp -s tests/house/world/coverage.tsv "$scratch/wrong.tsv"; then
        echo "the edit '$1' changes nothing" && failed=1
    elif check "$scratch/wrong.tsv" >"$scratch/said" || ! grep -qxF "$2" "$scratch/said"; then
        echo "expected '$2', found:" && cat "$scratch/said" && failed=1
    fi
}
wrong '/^ZCLOSING/d' 'ZCLOSING: no row'
wrong '$a ZNONSENSE\t-\t-\tnowhere' 'ZNONSENSE: not in the header'
wrong '/^ZNONODE/p' 'ZNONODE: more than one row'
wrong 's/^(ZTHROTTLEDOP\t)[^\t]*/\1scenarios\/mutex\/create_reply_lost.scn/' \
    'ZTHROTTLEDOP: it does not come up in scenarios/mutex/create_reply_lost.scn'
wrong 's/^(ZNOAUTH\t)[^\t]*/\1-/' 'ZNOAUTH: it comes up after all'
wrong 's/^(ZNOAUTH\t)[^\t]*/\1none.scn/' 'ZNOAUTH: no scenario none.scn'
exit $failed
