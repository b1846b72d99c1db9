/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Whoever waits can still be served.
 *
 * Judged by a search (src/explore/live.c) on all states after the last fault: from each in which somebody waits for a lock
 * (an acquire was asked, not answered, not given up) a state can be reached in which he does not. It asks for some way, not
 * for every way: no dead ends.
 *
 * It does not see: somebody who is passed over for ever though his turn could come (served_under_weak_fairness does); what
 * happens while faults still go on; a dead end behind a state that has the fingerprint of another one. */
#include <check/properties.h>

const struct property check_can_always_be_served = {
    .name = "can_always_be_served",
    .sentence = "after the last fault, whoever waits for a lock can still get it, in some continuation",
    .premise = "states after the last fault in which somebody waits",
    .blind_to = "runs that do not come to an end in memory; worlds and recipes whose numbers cannot be "
                "renamed; what fingerprints hide",
    .needs_search = true,
};
