#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Several locks at once: src/lock/multilock.c and its recipe with one mistake each. Each mistake is caught by the property that
# promises the contrary, and the same build without a mistake passes.
source "$LOCKSTEP_SOURCE_DIR/tests/kinds/lib_mistakes.sh"
recipe=ls_recipe_multi
suite=scenarios/suite/multi

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
