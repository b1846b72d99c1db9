#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Several locks at once: src/lock/multilock.c and its recipe with one mistake each. Each mistake is caught by the property that
# promises the contrary, and the same build without a mistake passes.
source "$LOCKSTEP_SOURCE_DIR/tests/cli/lib.sh"
plain_build_only
suite=scenarios/suite/multi

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
        'LS_RECIPE_MODULE(ls_recipe_multi);' >"$tree/module.c"
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

build NONE "" ""
for name in both_orders given_up one_is_deleted tried held_for_ever; do
    expect 0 "1 passed" check NONE $suite/$name.scn
done

# Each asks in the order in which it names the locks.
caught IN_ORDER_OF_NAMING no_lost_wakeup $suite/both_orders.scn multilock.c 's/if \(order > 0\)/if (order > 1000)/'
caught IN_ORDER_OF_NAMING can_always_be_served $suite/served.scn multilock.c 's/if \(order > 0\)/if (order > 1000)/'

# What is told of one lock is not told of the others.
caught TELLS_ONE_GRANT all_or_none $suite/both_orders.scn recipe_multi.c \
    's/i < set->count; i\+\+\) \{/i < (what->kind == LS_REPORT_GRANTED ? 1 : set->count); i++) {/'
caught TELLS_ONE_FAILURE all_or_none $suite/given_up.scn recipe_multi.c \
    's/i < set->count; i\+\+\) \{/i < (what->kind == LS_REPORT_FAILED ? 1 : set->count); i++) {/'
caught TELLS_ONE_LOSS all_or_none $suite/one_is_deleted.scn recipe_multi.c \
    's/i < set->count; i\+\+\) \{/i < (what->kind == LS_REPORT_HOLD_LOST ? 1 : set->count); i++) {/'

# A member is kept.
caught KEEPS_AFTER_A_FAILURE no_orphan_node $suite/given_up.scn multilock.c \
    's/(given-back"\);\n)        give_back\(bundle\);\n/$1/'
caught KEEPS_AFTER_A_LOSS no_orphan_node $suite/one_is_deleted.scn multilock.c \
    's/    give_back\(bundle\);\n    bundle->untold/    bundle->untold/'
caught RELEASES_ONE no_orphan_node $suite/both_orders.scn multilock.c 's/while \(bundle->granted\) \{/if (bundle->granted) {/'

# A member that is lost on the way counts as held.
caught GOES_ON_WITHOUT answers_have_reasons $suite/one_is_deleted.scn multilock.c \
    's/bundle->again = 1;\n        stop_waiting\(bundle, LS_ELOST\);/(void)0;/'

# All are granted when the first is.
caught FIRST_FOR_ALL at_most_one_holder $suite/one_alone.scn multilock.c \
    's/return bundle->at->next && go_on/return false \&\& go_on/'
finish
