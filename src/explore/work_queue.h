/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Work sharing among the workers of one search, and how the search ends.
 *
 * Workers are forked processes, each with a world of its own at the same address (D3b). A piece of work is a
 * path from the first state to some state, and actions of that state that are not tried yet. A worker gives
 * a piece away when another worker waits for one. */
#ifndef EXPLORE_WORK_QUEUE_H
#define EXPLORE_WORK_QUEUE_H

#include "explore/search.h"

#define SHARE_PATH_MAX 4096 /* actions of a path that leads to a piece of work */

struct share;

struct share_piece {
    uint32_t length;  /* actions of the path */
    uint32_t untried; /* actions that are not tried yet; they follow the path in `action` */
    struct action action[SHARE_PATH_MAX + WORLD_ACTIONS_MAX];
};

/* Returns true if a worker waits for which there is no piece. Cheap. */
bool share_is_hungry(const struct share *share);

/* Offers a piece of work to the other workers. Returns false if there is no room. */
bool share_put(struct share *share, const struct share_piece *piece);

/* Returns true when the search is to end: a worker has a result or met a limit, or no work is left. */
bool share_is_over(const struct share *share);

/* Returns true while all workers are to stand still for a checkpoint. */
bool share_is_held(const struct share *share);

/* Hands this worker's stack (NULL = it is lost) to the checkpoint. Returns when the checkpoint is written. */
void share_hold(struct search *search, const struct stack *stack);

/* Does the same for a worker that ends. Returns at once. */
void share_leave(struct search *search, const struct stack *stack);

/* Searches depth first with options->workers processes, from the present state, with search->visited shared.
 * Fills in `search` as if one process had searched. If a worker dies, the caller ends in the same way. */
void share_search(struct search *search);

#endif
