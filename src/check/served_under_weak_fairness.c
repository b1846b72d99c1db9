/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* An owner that waits is served in every run that is weakly fair.
 *
 * Definition. A search (src/explore/liveness.c) judges all states after the last fault. It looks for a lasso:
 * a way into a cycle of states, or into a state in which nothing has to happen. A lasso violates the property
 * if a waiter (can_always_be_served.c) waits in each state of its end, and the end is weakly fair. That is so
 * if each channel (world_channel()) with an enabled action in all of these states is served in them.
 *
 * Not seen: starvation that needs an unfair system, such as a message that is never delivered. Events while
 * faults still go on. A cycle behind a state that shares its fingerprint with another one. Each lasso is run
 * before it is told. Checked by tests/cli/live.sh. */
#include "check/properties.h"

const struct property check_served_under_weak_fairness = {
    .name = "served_under_weak_fairness",
    .sentence =
        "after the last fault, whoever waits for a lock gets it, if what can always happen happens some time",
    .premise = "states after the last fault in which somebody waits",
    .blind_to = "starvation that needs a system that is unfair; worlds and recipes whose numbers cannot be "
                "renamed; what fingerprints hide",
    .needs_search = true,
};
