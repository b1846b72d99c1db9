/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A process that waits can still be served: liveness as "no dead ends".
 *
 * Definition. A process waits if an acquire of one of its owners has no answer yet, cancelled or not, or an
 * owner waits again after a loss. A search (src/explore/liveness.c) judges all states after the last fault.
 * From each state in which a process waits, a state is reachable in which none of its owners waits. One such
 * continuation is enough.
 *
 * Not seen: a process that is passed over for ever though its turn could come, which
 * served_under_weak_fairness sees. Events while faults still go on. A dead end behind a state that shares its
 * fingerprint with another one. Checked by tests/cli/live.sh. */
#include "check/properties.h"

const struct property check_can_always_be_served = {
    .name = "can_always_be_served",
    .sentence = "after the last fault, whoever waits for a lock can still get it, in some continuation",
    .premise = "states after the last fault in which somebody waits",
    .blind_to = "runs that do not come to an end in memory; worlds and recipes whose numbers cannot be "
                "renamed; what fingerprints hide",
    .needs_search = true,
};
