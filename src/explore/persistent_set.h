/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Partial-order reduction (--partial-order), by persistent sets of one step. If one enabled step is
 * independent of all that can happen before it, only that step is explored.
 *
 *   Definition. A delivery is alone in a state if, on each run from there that lacks it, it stays enabled and
 *   commutes with each step. No judge can tell whether its events come before those of other processes and
 *   servers.
 *   Claim. If some run from the state leads to a violation, a run does whose first step is the delivery.
 *   Why. docs/design/partial-order.md.
 *   Premises. src/sim/independence.c names the delivery. partial_is_alone() looks at the blocks and events of
 *   the step. Properties say by `is_local` (check/check.h) which of their events may change places.
 *   Checked by. tests/explore/test_partial.c, on all states of small worlds; distrust_order(), on samples. */
#ifndef EXPLORE_PERSISTENT_SET_H
#define EXPLORE_PERSISTENT_SET_H

#include "explore/search.h"
#include "explore/step_cache.h"

struct partial {
    const struct check_set *judges;
    int processes;
    uint64_t own[WORLD_PROCESSES_MAX][2]; /* by process: set of the blocks that only it has */
    uint64_t common[2];                   /* set of the other blocks that a delivery may read: the budgets */
};

/* Returns false if the options or the world exclude the reduction. */
bool partial_open(struct partial *partial, const struct search *search);

/* Returns true if a step that world_alone() has named kept to its process: it read only the process's own
 * blocks and `common`, and changed only own ones. All its events are the process's own, and local for all
 * judges. */
bool partial_is_alone(const struct partial *partial, int process, const uint64_t read[2],
                      const struct memo_change *changes, int count, const struct run_events *events);

#endif
