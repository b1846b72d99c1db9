/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A search does not believe itself: some steps are done twice, some states are reached again from the first one.
 *
 * It rests on three things: that a step depends on nothing but the blocks that it is known to read (or what is remembered of it
 * would not hold), that whoever writes to a block marks it (or fingerprints would miss it), and that the states which wait
 * are those that were found. */
#ifndef EXPLORE_DISTRUST_H
#define EXPLORE_DISTRUST_H

#include "explore/search.h"

#define DISTRUST_STEP_EVERY 1024u  /* once in so many steps, the step is done twice */
#define DISTRUST_ORDER_EVERY 4096u /* so often, one that goes before all others goes behind each */
#define DISTRUST_PATH_EVERY 16384u /* once in so many steps, the state is reached again from the first one */

static inline bool distrust_is_due(const struct search *search, uint64_t every, uint64_t *next)
{
    if (!search->options->distrust || search->counts->transitions < *next) {
        return false;
    }
    *next = search->counts->transitions + every;
    return true;
}

/* Does a step of the world's present state twice, which has to end in the state with the `expected` fingerprint each time
 * (without renaming), looks for writes to blocks that nobody has marked, and goes back. What is wrong stands in
 * search->wrong then. */
bool distrust_step(struct search *search, const struct action *action, uint64_t depth, uint64_t expected);

/* Does a step that may go before all others (partial.h) before and behind each of the others that are possible in the world's
 * present state, which has to end in the same states, and goes back. */
bool distrust_order(struct search *search, const struct action *action, uint64_t depth);

/* Reaches the present state again by the actions that led to it, starting from search->start. */
bool distrust_path(struct search *search, const struct action *path, uint64_t length);

#endif
