/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Work sharing among the workers of one search, and how the search ends.
 *
 * Workers are forked processes, each with a world of its own at the same address (D3b). A piece of work is a
 * path from the first state to some state, and untried actions of that state. A worker gives a piece away
 * when another worker waits for one. */
#ifndef EXPLORE_WORK_SHARING_H
#define EXPLORE_WORK_SHARING_H

#include "explore/search.h"

#define SHARE_PATH_MAX 4096 /* most actions of the path of a piece */

struct share;

struct share_piece {
    uint32_t length;
    uint32_t untried; /* number of untried actions, which follow the path in `action` */
    struct action action[SHARE_PATH_MAX + WORLD_ACTIONS_MAX];
};

/* Returns true if a worker waits for which there is no piece. Cheap. */
bool share_is_hungry(const struct share *share);

/* Offers a piece to the other workers. Returns false if there is no room. */
bool share_put(struct share *share, const struct share_piece *piece);

/* Returns true when the search is to end: a worker has a result or met a limit, the user stopped it, or no
 * work is left. */
bool share_is_over(const struct share *share);

/* Returns true while all workers are to stand still for a checkpoint. */
bool share_is_held(const struct share *share);

/* Gives this worker's stack (NULL = it is lost) to the checkpoint. Returns when the leader lets the workers
 * go on, or the search is over. */
void share_hold(struct search *search, const struct stack *stack);

/* Gives the stack of a worker that ends. Returns at once. */
void share_leave(struct search *search, const struct stack *stack);

/* Searches depth first with options->workers processes, with search->visited shared. One begins at the
 * present state, or all take stacks of the checkpoint that is continued. Then they share work. Fills in
 * findings, counts, and how the search ended. If a worker dies, this process ends in the same way. */
void share_search(struct search *search);

#endif
