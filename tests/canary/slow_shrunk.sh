#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# What is told of a canary is short: the shrunk run of a depth-first search has at most half as many steps again as the shortest run
# that violates the property of its story, which a search by breadth finds. For each canary in one situation of the standard suite.
source "$(dirname "$0")/../cli/lib.sh"
source tests/canary/lib_canary.sh
states=300000

# only SITUATION PROPERTY: the situation, with this property alone.
only()
{
    sed -E "/^(properties|holds|violates) /d; s/^----\$/properties $2\n----/; s/ constants=[0-9]+//" "scenarios/suite/$1.scn"
}

# length_of RECIPE PROPERTY OPTION...: the length of the trace that a search leaves, the shrunk one if there are two;
# nothing if it leaves none.
length_of()
{
    local recipe=$1 property=$2 trace
    shift 2
    rm -rf "$scratch/reports"
    timeout 60 "$LOCKSTEP" check --quiet --recipe "$recipe" --max-states $states --out "$scratch/reports" "$@" "$scratch/one.scn" \
        >/dev/null 2>&1 || true
    trace=$(find "$scratch/reports" -name '*.trace' 2>/dev/null | sort | sed -n 1p)
    [[ -z $trace ]] || steps "$trace" "$property"
}

# compare RECIPE PROPERTY SHORT: in the first situation that both searches find it in.
compare()
{
    local situation shortest shrunk
    for situation in $(situations_of "$3"); do
        only "$situation" "$2" >"$scratch/one.scn"
        shortest=$(length_of "$1" "$2" --strategy bfs --no-shrink)
        [[ -n $shortest ]] || continue
        shrunk=$(length_of "$1" "$2")
        [[ -n $shrunk ]] || continue
        echo "$3 $situation $2: $shrunk steps, the shortest has $shortest"
        ((2 * shrunk <= 3 * shortest)) || { echo "that is more than 1.5 times as many" && failed=1; }
        return
    done
    echo "$3: no situation shows $2 within $states states"
    failed=1
}

# What means something with a clock only is in no search.
declare -A BEYOND=([z60_retries_inside_retries]=deadline_is_kept)

count=0
for source in tests/canary/*.c; do
    name=$(basename "$source" .c)
    property=$(property_of "$source")
    if [[ ${BEYOND[$name]:-} != "$property" ]]; then
        compare "$LOCKSTEP_BUILD_DIR/canary/$name.so" "$property" "${name%%_*}"
    fi
    count=$((count + 1))
done
echo "$count canaries"
((count >= 46)) || failed=1
finish
