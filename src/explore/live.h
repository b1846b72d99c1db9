/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Liveness: is whoever waits for a lock served, once nothing fails any more?
 *
 * Two grades, each a property that exploring scenarios name: can_always_be_served (there is a way) and
 * served_under_weak_fairness (all fair ways lead there). Both are judged on the graph of after.h, which is built anew: without
 * judges, without reductions, with renaming, so that circles close. */
#ifndef EXPLORE_LIVE_H
#define EXPLORE_LIVE_H

#include "explore/search.h"

/* True if the scenario asks for one of the two. */
bool live_is_wanted(const struct search *search);

/* Judges them, when the search has found nothing else. Adds what was found to search->run->stats and search->counts. If one is
 * violated that the scenario does not declare to be, search->violated and search->circles are set and the run that shows it
 * is recorded in search->run. If there is no verdict, search->limit says why; if the search does not believe itself,
 * search->wrong. */
void live_judge(struct search *search);

#endif
