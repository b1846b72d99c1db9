/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* An owner that waits can still be served: liveness as "no dead ends".
 *
 * Definition. A waiter is an owner with a lock, or a process with all its waits (src/sim/waiters.h). It waits
 * if an acquire of it has no answer yet, cancelled or not, or if it waits again after a loss. A search
 * (src/explore/liveness.c) judges all states after the last fault. From each state in which a waiter waits, a
 * state is reachable in which it does not wait. One such continuation is enough.
 *
 * Not seen: a waiter that is passed over for ever though its turn could come, which
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
