# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Sourced by the tests that make one mistake in src/lock or src/recipes and name the property that catches it. `recipe` is the C name of
# the recipe that is built.
source "$LOCKSTEP_SOURCE_DIR/tests/cli/lib.sh"
plain_build_only

# build NAME FILE EDIT: a recipe whose FILE is changed by the expression EDIT of perl; none if EDIT is empty.
build()
{
    local tree=$scratch/$1 objects=()
    mkdir -p "$tree"
    cp src/lock/*.c src/recipes/*.c "$tree/"
    rm "$tree/version.c"
    if [[ $3 ]]; then
        perl -0pi -e "$3" "$tree/$2"
        if cmp -s "$tree/$2" "$(ls src/*/"$2")"; then
            echo "$1: the edit does not change $2"
            failed=1
        fi
    fi
    printf '%s\n' '#include <lockstep/recipe.h>' '#include "recipes/recipe_mutex.h"' \
        "LS_RECIPE_MODULE($recipe);" >"$tree/module.c"
    for source in "$tree"/*.c; do
        objects+=("$source")
    done
    "${CC:-cc}" -std=gnu11 -DTHREADED -w -O1 -shared -fPIC -fvisibility=hidden -Iinclude -Isrc -Isrc/lock "${objects[@]}" \
        -o "$tree.so"
}

check()
{
    "$LOCKSTEP" check --no-shrink --recipe "$scratch/$1.so" --out "$scratch" "$2"
}

# caught NAME PROPERTY SCENARIO FILE EDIT
caught()
{
    local status=0
    build "$1" "$4" "$5"
    check "$1" "$3" >"$scratch/output" 2>&1 || status=$?
    if [[ $status != 1 ]] || ! grep -qE "  violates (.*, )?$2(,|$)" "$scratch/output"; then
        echo "$1 in $3: expected $2 to be violated, found exit status $status and:"
        tail -5 "$scratch/output"
        failed=1
    fi
}
