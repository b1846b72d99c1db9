/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Checks of the search itself: samples of its premises, taken while it goes on.
 *
 *   Premise. A step depends only on the blocks that it reads. Else cached effects (step_cache.h) are wrong.
 *   Premise. Code that writes to a block marks it. Else the fingerprint misses the change.
 *   Premise. A step that goes before all others (persistent_set.h) commutes with them.
 *   Premise. A state that is expanded is the one to which its path leads.
 *   Checked by. tests/explore/test_distrust.c: each broken premise ends a search with an error. */
#ifndef EXPLORE_SELF_CHECK_H
#define EXPLORE_SELF_CHECK_H

#include "explore/search.h"

/* Periods of the checks, in transitions. */
#define DISTRUST_STEP_EVERY 1024u
#define DISTRUST_ORDER_EVERY 4096u
#define DISTRUST_PATH_EVERY 16384u

/* Returns true if the search checks itself and a check with this period is due. Sets *next to the count of
 * transitions at which it is due again. */
static inline bool distrust_is_due(const struct search *search, uint64_t every, uint64_t *next)
{
    if (!search->options->distrust || search->counts->transitions < *next) {
        return false;
    }
    *next = search->counts->transitions + every;
    return true;
}

/* Does a step twice from the world's present state, and once more without names that the recipe does not look
 * at, if it gets such names. Checks that the fingerprint behind each is `expected` (without renaming), and
 * that the first writes to no block without a mark. Restores the present state. Returns false if a check
 * fails; search->wrong says which. Checks nothing if memory is short. */
bool distrust_step(struct search *search, const struct action *action, uint64_t depth, uint64_t expected);

/* Does a step that may go before all others (persistent_set.h) before and behind each other enabled action.
 * Checks that both orders are possible and end in one state, unless a step of either violates a property.
 * Restores the present state. Returns false if a check fails; checks nothing if memory is short. */
bool distrust_order(struct search *search, const struct action *action, uint64_t depth);

/* Does a path from search->start. Checks that its actions are enabled and that it leads to the present state,
 * and restores that state. Returns false if a check fails; checks nothing if memory is short. */
bool distrust_path(struct search *search, const struct action *path, uint64_t length);

#endif
