/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* What the workers of one search share: work that is to be done, and how it ends.
 *
 * Workers are forked processes, each with a world of its own at the same address (D3b). A piece of work is a path from the
 * first state to some state, and actions of that state that nobody has tried. Whoever has more than enough puts a piece
 * here when somebody waits for one. */
#ifndef EXPLORE_SHARE_H
#define EXPLORE_SHARE_H

#include "explore/search.h"

#define SHARE_PATH_MAX 4096 /* actions of a path that leads to a piece of work */

struct share;

struct share_piece {
    uint32_t length;  /* of the path */
    uint32_t untried; /* actions behind the path */
    struct action action[SHARE_PATH_MAX + WORLD_ACTIONS_MAX];
};

/* True if a worker waits, and there is no work for it. Cheap. */
bool share_is_hungry(const struct share *share);

/* Puts a piece of work; false if there is no room. */
bool share_put(struct share *share, const struct share_piece *piece);

/* True when the search is to end: somebody has found something, or met a limit. */
bool share_is_over(const struct share *share);

/* True while all workers are to stand still, because the search is being kept. */
bool share_is_held(const struct share *share);

/* What this worker still has to do, for a checkpoint: it stands still until that is written. */
void share_hold(struct search *search, const struct stack *stack);

/* The same of a worker that ends. */
void share_leave(struct search *search, const struct stack *stack);

/* Searches depth first with options->workers processes, from the present state, with search->visited shared. Fills in
 * search as if one process had done it. A worker that dies takes the caller with it, in the same way. */
void share_search(struct search *search);

#endif
