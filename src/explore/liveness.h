/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Liveness: is a process that waits for a lock served, once nothing fails any more (docs/design/liveness.md)?
 *
 * An exploring scenario may name two properties. By can_always_be_served, some run serves a waiting process,
 * from each state after the last fault. By served_under_weak_fairness, each fair run does. Both are judged on
 * one graph of states, which is built without other judges and without reductions. It is built with renaming,
 * so that cycles close. */
#ifndef EXPLORE_LIVENESS_H
#define EXPLORE_LIVENESS_H

#include "explore/search.h"

/* Returns true if one of the two properties is judged in this run. */
bool live_is_wanted(const struct search *search);

/* Judges the two properties, after a search without a violation. Adds to search->run->stats and
 * search->counts. If one is violated and the scenario does not declare that, sets search->violated and
 * search->circles, and records the run that shows it in search->run. Without a verdict, search->limit says
 * why, or search->wrong if a check failed. */
void live_judge(struct search *search);

#endif
