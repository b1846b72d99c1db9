/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A search, and the functions that all its orders share: judging at rest, known states, limits. */
#ifndef EXPLORE_SEARCH_H
#define EXPLORE_SEARCH_H

#include "explore/exact.h"
#include "explore/explore.h"

#include <time.h>

struct checkpoint;
struct share;
struct share_piece;
struct stack;

/* Of the last layers of the sets of run constants before the present one: sums, and the largest depth. */
struct search_sums {
    uint64_t states, transitions, depth;
};

struct search {
    struct run *run;
    const struct explore_options *options;
    struct search_counts *counts; /* shared with the process that shows the progress */
    struct visited *visited;
    struct exact *exact; /* whole states in place of fingerprints; NULL = fingerprints */
    struct canon *canon; /* NULL = states are compared without renaming */
    bool symmetric;
    struct share *share; /* what several workers share; NULL = one worker */
    int worker;
    struct checkpoint *checkpoint; /* NULL = no checkpoint is written or continued */
    bool continues;                /* the present layer was begun by a checkpoint */
    int set;                       /* number of the set of run constants, from 0 */
    struct search_sums sums;
    struct timespec since;
    size_t bytes_max;
    uint64_t look; /* count of transitions at which limits are checked again */

    struct world_image *start; /* the first state of the layer */
    /* Counts of transitions at which checks of self_check.h are due again: of a step, an order, a path. */
    uint64_t next_twice, next_order, next_again;

    /* How the search ended. */
    char wrong[2 * WORLD_LABEL_MAX +
               128];     /* why a check of the search, or its checkpoint, failed; empty = neither has */
    uint64_t wrong_step; /* number of the step that failed the check; 0 = no step did */
    bool violated;
    const char *limit;   /* the limit that ended the search, as text; NULL = none */
    struct action *path; /* from the first state to the violation; owned; NULL = none, or memory was short */
    uint64_t path_length;
    bool path_rests; /* the violation shows when the end of the path is judged at rest */
    bool
        circles; /* liveness is violated: there is no path, and the run is recorded already, see liveness.h */
    char limit_text[256]; /* text that `limit` may point to */
};

/* Returns true if an action has TRAIT_MOVES. Otherwise the world may be at rest. */
bool search_moves(const struct action *actions, int count);

/* If the world is at rest, judges it; judges may write to their block. Returns false if the world is at rest,
 * and a property is violated or the run has a trouble. */
bool search_rest(struct search *search, uint64_t depth);

/* Looks up a state by its fingerprint (with --exact, the world's present state, which has that fingerprint).
 * Adds and counts a new state. VISITED_FULL: search->limit says why the search must end; the state may be
 * counted. */
enum visited_answer search_visit(struct search *search, uint64_t fingerprint);

size_t search_states_bytes(const struct search *search);

/* Returns true if a limit or the end of a shared search ends this search. Looks at both only every LOOK_EVERY
 * transitions (search.c), and returns false in between. */
bool search_limited(struct search *search);

/* Search from the world's present state, and leave the world in an unspecified state. `piece` of
 * search_depth_first(): NULL, or work of another worker; then the present state is the first of all runs. */
void search_depth_first(struct search *search, const struct share_piece *piece);
void search_breadth_first(struct search *search);

/* Continues from a stack of a checkpoint. The world must be in the first state of all runs. */
void search_depth_first_again(struct search *search, const struct stack *stack);

void search_merge_stats(struct check_stats *to, const struct check_stats *from);

void search_keep_path(struct search *search, struct action *path, uint64_t length);

#endif
