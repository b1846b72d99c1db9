#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Each canary is caught with the property that its story names, within ten seconds, under a name that says nothing: in one of the
# situations that reports/kill-matrix.md has for it. slow_matrix.sh runs all of it.
source "$(dirname "$0")/../cli/lib.sh"
source tests/canary/lib_canary.sh
count=0

# caught RECIPE PROPERTY SHORT: in the first of the situations that shows the property.
caught()
{
    local situation
    for situation in $(situations_of "$3"); do
        timeout 60 "$LOCKSTEP" check --suite --filter "*suite/$situation.scn" --no-shrink --json --out "$scratch/reports" --recipe "$1" \
            >"$scratch/json" 2>"$scratch/err" || true
        grep -q "\"$2\":\"violated\"" "$scratch/json" && return
    done
    return 1
}

public='<(lockstep/(error|recipe)|zookeeper/zookeeper|std[a-z]*|string|inttypes|limits|errno|ctype)\.h>'
includes=$(
    grep -hE '^#include' tests/canary/*.c | grep -vE "$public" |
        grep -vE '"skeleton/known_by_(name|number|id)\.h"|"\.\./kinds/(line|latch|leases)\.c"' || true
    grep -hE '^#include' tests/canary/skeleton/*.h | grep -vE "$public" |
        grep -vE '"(claim_reports|session_answers|recipe_calls)\.h"' || true
)
same '' "$includes" 'includes of a canary besides public headers, the C library, a skeleton and the recipes of tests/kinds'
# Builds that watch themselves take a named part: they are up to twenty times slower, and find the same.
part='*'
[[ -z $LOCKSTEP_SANITIZE ]] || part='z0[1-5]*'
for source in tests/canary/$part.c; do
    name=$(basename "$source" .c)
    property=$(property_of "$source")
    recipe=$scratch/$RANDOM$RANDOM.so
    cp "$LOCKSTEP_BUILD_DIR/canary/$name.so" "$recipe"
    start=$SECONDS
    caught "$recipe" "$property" "${name%%_*}" || { echo "$name is not caught with $property"; failed=1; }
    took=$((SECONDS - start))
    ((took <= 10)) || is_slow_build || { echo "$name was caught after $took s"; failed=1; }
    count=$((count + 1))
    rm -f "$recipe"
done
echo "$count canaries"
((count >= 46)) || [[ -n $LOCKSTEP_SANITIZE ]] || failed=1
finish
