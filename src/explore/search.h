/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* What the orders of search share: steps, judgement, limits. */
#ifndef EXPLORE_SEARCH_H
#define EXPLORE_SEARCH_H

#include "explore/exact.h"
#include "explore/explore.h"

#include <time.h>

struct checkpoint;
struct share;
struct share_piece;
struct stack;

/* Of the sets of run constants before the present one. */
struct search_sums {
    uint64_t states, transitions, depth;
};

struct search {
    struct run *run;
    const struct explore_options *options;
    struct search_counts *counts; /* shared with whoever shows the progress */
    struct visited *visited;
    struct exact *exact;           /* whole states in its place, or NULL */
    struct canon *canon;           /* NULL: states are compared as they are */
    bool symmetric;                /* up to the names of processes */
    struct share *share;           /* among several workers: what they share; otherwise NULL */
    int worker;                    /* and which of them this is */
    struct checkpoint *checkpoint; /* where it is kept, and what it goes on from; NULL = neither */
    bool continues;                /* the present layer is one that a checkpoint was taken in */
    int set;                       /* of run constants, from 0 */
    struct search_sums sums;
    struct timespec since;
    size_t bytes_max;
    uint64_t look; /* transitions at which limits are looked at again */

    struct world_image *start; /* the first state */
    /* Transitions at which a step is done twice, is done before and behind others, a state reached again. */
    uint64_t next_twice, next_order, next_again;

    /* How it ended. */
    char wrong[2 * WORLD_LABEL_MAX + 128]; /* what the search found wrong with itself; empty = nothing */
    uint64_t wrong_step;                   /* number of the step that shows it; 0 = it is not about a step */
    bool violated;
    const char *limit;   /* what was reached first, NULL = nothing */
    struct action *path; /* from the first state to the violation; owned */
    uint64_t path_length;
    bool path_rests; /* the violation shows when the end of the path is judged at rest */
    bool circles; /* somebody waits for ever: there is no path, and the run is recorded already, see live.h */
    char unjudged[200]; /* a text for `limit` */
};

/* False if nothing among these moves by itself: the world may be at rest. */
bool search_moves(const struct action *actions, int count);

/* Judges what is judged at rest, if the world is at rest. The judges may write to the world. Returns false if the search
 * is over. */
bool search_rest(struct search *search, uint64_t depth);

/* Looks up a state and counts it if it is new. In exact mode it is the world's present one. VISITED_FULL ends the search. */
enum visited_answer search_visit(struct search *search, uint64_t fingerprint);

/* What the states that were seen take. */
size_t search_states_bytes(const struct search *search);

/* True if the search has to end now. Cheap unless it is time to look. */
bool search_limited(struct search *search);

/* The two orders. They start from the world's present state and leave it anywhere. Depth first also does a part of the
 * whole, a piece that another worker has left: then the present state is the first one of all runs. */
void search_depth_first(struct search *search, const struct share_piece *piece);
void search_breadth_first(struct search *search);

/* Goes on depth first with what a checkpoint has kept; the present state is the first one of all runs. */
void search_depth_first_again(struct search *search, const struct stack *stack);

/* Adds what the judges of another worker have seen. */
void search_merge_stats(struct check_stats *to, const struct check_stats *from);

/* Takes the path over. */
void search_keep_path(struct search *search, struct action *path, uint64_t length);

#endif
