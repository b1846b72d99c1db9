/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The search of an exploring scenario: every order of steps, with each fault of its budgets at every moment.
 *
 * The search expands each state of the world once. If it holds, no run within the bounds violates a
 * property. If it finds a violation, it records a run that shows it. */
#ifndef EXPLORE_EXPLORE_H
#define EXPLORE_EXPLORE_H

#include "scenario/outcome.h"

enum explore_order {
    EXPLORE_DEPTH_FIRST,   /* fast, with little memory: the stack is one path and the successors beside it */
    EXPLORE_BREADTH_FIRST, /* finds a shortest violation; keeps the frontier and the origin of each state */
};

#define EXPLORE_WORKERS_MAX 64

/* One layer with one set of run constants: the smallest part that can be searched by itself. */
struct explore_part {
    bool only;  /* the search does this part alone */
    int set;    /* number of the set of run constants, 0 if the file sweeps none */
    int faults; /* the budget of the layer */
};

struct explore_options {
    enum explore_order order;
    bool any_order;   /* the user has not chosen the order, see goes_breadth_first() */
    bool layers;      /* first without faults, then with one, ...; otherwise with all at once */
    bool first_only;  /* ends with the first violation; otherwise looks for other properties in other runs */
    bool distrust;    /* some steps are done twice, see self_check.h */
    bool every_step;  /* the world does each step; otherwise effects of steps are cached, see step_cache.h */
    bool exact;       /* states are compared whole, and not by fingerprints: with one worker */
    bool subsume;     /* a state is known if one with more left of the budgets is, see subsume.h */
    uint32_t without; /* choice points that the world lacks, see world_without() */
    bool partial_order; /* partial-order reduction, see persistent_set.h */
    bool symmetry;      /* states that differ only in names of processes are one, where canon.h permits it */
    bool renaming; /* states that differ only in numbers that grow are one, if the recipe shows its own */
    int workers;   /* processes that search together, depth first whatever the order; at least 1 */
    void (*begin_worker)(void); /* called in each process that a search forks; may be NULL */
    uint64_t states_max;        /* 0 = no limit */
    size_t bytes_max;   /* for known states and the frontier; 0 = 3/4 of the machine's memory / searches */
    int searches;       /* searches that run at once on this machine; 0 = one */
    double seconds_max; /* 0 = no limit */
    bool compare;       /* compares the counts of a complete search with those that the file claims */
    bool rewrite;       /* writes the counts of a complete search into the file */
    struct explore_part part;
    const char *out;        /* folder for traces */
    size_t bitstate_bytes;  /* size of the table with a few bits for each state, see bitstate.h; 0 = none */
    const char *checkpoint; /* file that checkpoints are written to; NULL = none */
    const char *resume;     /* checkpoint to continue from; NULL = from the start */
    const char *identity;   /* the options that make this search what it is, as the user would write them */
    double checkpoint_every_s; /* seconds between two checkpoints; 0 = no pause */
    const volatile int *stop;  /* the search ends soon after this becomes non-zero; may be NULL */
};

/* Returns how many faults the budgets allow in one run: the budget of the last layer. */
int explore_faults(const struct scenario *scenario);

/* Returns how many sets of run constants are searched: 1 if the file sweeps none, or the set was given. */
int explore_sets(const struct run_setup *setup);

/* Searches. The verdict is VERDICT_LIMIT if a limit or `stop` ended the search without a violation. */
void explore_run(const struct run_setup *setup, const struct explore_options *options,
                 struct outcome *outcome);

#endif
