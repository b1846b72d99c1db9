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

/* Sums over the sets of run constants before the present one. */
struct search_sums {
    uint64_t states, transitions, depth;
};

struct search {
    struct run *run;
    const struct explore_options *options;
    struct search_counts *counts; /* also read by the process that shows the progress */
    struct visited *visited;
    struct exact *exact;           /* whole states in place of fingerprints, or NULL */
    struct canon *canon;           /* NULL: states are compared as they are */
    bool symmetric;                /* states are compared up to names of processes */
    struct share *share;           /* what several workers share; NULL = one worker */
    int worker;                    /* number of this worker */
    struct checkpoint *checkpoint; /* the files that it is written to and continued from; NULL = neither */
    bool continues;                /* a checkpoint has states of the present layer */
    int set;                       /* of run constants, from 0 */
    struct search_sums sums;
    struct timespec since;
    size_t bytes_max;
    uint64_t look; /* count of transitions at which limits are looked at again */

    struct world_image *start; /* the first state */
    /* Counts of transitions at which the checks of self_check.h are due: a step, an order, a path. */
    uint64_t next_twice, next_order, next_again;

    /* How the search ended. */
    char wrong[2 * WORLD_LABEL_MAX + 128]; /* a check of the search that failed; empty = none */
    uint64_t wrong_step;                   /* number of the step that shows it; 0 = it is not about a step */
    bool violated;
    const char *limit;   /* the limit that was met first; NULL = none */
    struct action *path; /* from the first state to the violation; owned */
    uint64_t path_length;
    bool path_rests; /* the violation shows when the end of the path is judged at rest */
    bool
        circles; /* liveness is violated: there is no path, and the run is recorded already, see liveness.h */
    char unjudged[200]; /* a text for `limit` */
};

/* Returns true if one of these actions has TRAIT_MOVES. Otherwise the world may be at rest. */
bool search_moves(const struct action *actions, int count);

/* Judges the world if it is at rest; judges may write to it. Returns false if the search is over. */
bool search_rest(struct search *search, uint64_t depth);

/* Looks up a state and counts a new one. With --exact it is the present one. VISITED_FULL ends the search. */
enum visited_answer search_visit(struct search *search, uint64_t fingerprint);

/* Returns the bytes that the known states take. */
size_t search_states_bytes(const struct search *search);

/* Returns true if the search has to end now. Cheap unless it is time to look. */
bool search_limited(struct search *search);

/* Search in one of the two orders, from the world's present state. Afterwards the world is in any state.
 * Depth first also searches a piece of another worker; then the present state is the first of all runs. */
void search_depth_first(struct search *search, const struct share_piece *piece);
void search_breadth_first(struct search *search);

/* Continues depth first from a stack of a checkpoint. The present state is the first state of all runs. */
void search_depth_first_again(struct search *search, const struct stack *stack);

/* Adds the findings of another worker's judges. */
void search_merge_stats(struct check_stats *to, const struct check_stats *from);

/* Makes the search the owner of the path to the violation. */
void search_keep_path(struct search *search, struct action *path, uint64_t length);

#endif
