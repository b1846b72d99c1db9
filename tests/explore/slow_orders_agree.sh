#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Each kind of fault, on one server and on two: every order of search finds the same number of states, with and without the
# memory of steps. This tests renaming: if two states with different futures counted as one, the number would depend on which of
# them is met first.
source "$(dirname "$0")/../cli/lib.sh"

counts()
{
    "$LOCKSTEP" check --no-layers --out "$scratch/reports" "$@" "$scratch/s.scn" 2>&1 |
        sed -n 's/^pass .*(\([0-9]*\) states, \([0-9]*\) transitions, .*/\1 \2/p'
}

# agree SERVERS PROCESSES EXPLORE
agree()
{
    printf 'world used servers=%s\nmutex /locks/x\nprocess %s\nexplore %s\n----\nholds at_most_one_holder\n' "$@" \
        >"$scratch/s.scn"
    local deep mode
    deep=$(counts)
    [[ -n $deep ]] || same 'an end' 'none' "$*"
    for mode in '--strategy bfs' '--no-memo' '--workers 2'; do
        # shellcheck disable=SC2086 # several words
        same "$deep" "$(counts $mode)" "states and transitions with $* and $mode"
    done
}

for kind in loss expire pause crash refuse lag late cancel alloc sweep server; do
    [[ $kind = lag || $kind = late ]] || agree 1 'a b: acquire release' "$kind<=1"
    agree 2 'a b: try' "$kind<=1"
done
# With smaller steps there is more in the world that renaming has to know of.
agree '1 fine' 'a b: acquire release' 'loss<=1'
finish
