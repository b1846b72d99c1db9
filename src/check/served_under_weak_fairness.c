/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Whoever waits is served in every fair run.
 *
 * Judged by a search (src/explore/live.c) on all states after the last fault: there is no circle of states, and no state where
 * nothing has to happen, in which somebody waits all the time although the system is fair: whatever is possible all the way
 * round is done in it. world_channel() says what has to happen some time; a client that holds a lock gives it back when its
 * program says so.
 *
 * It does not see: starvation that needs an unfair system, such as a message that is never delivered; what happens while
 * faults still go on; a circle behind a state that has the fingerprint of another one. It invents none: each is run before
 * it is told. */
#include <check/properties.h>

const struct property check_served_under_weak_fairness = {
    .name = "served_under_weak_fairness",
    .sentence =
        "after the last fault, whoever waits for a lock gets it, if what can always happen happens some time",
    .premise = "states after the last fault in which somebody waits",
    .blind_to = "starvation that needs a system that is unfair; worlds and recipes whose numbers cannot be "
                "renamed; what fingerprints hide",
    .needs_search = true,
};
