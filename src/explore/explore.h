/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The search of an exploring scenario: all orders of steps, with faults of its budgets at all moments.
 * Reductions leave out states and steps, but no violation. If the search is complete and finds no violation,
 * no run within the bounds violates a judged property, unless different states have equal fingerprints
 * (`exact` excludes that). The first violation that is found is reported with a run that shows it. */
#ifndef EXPLORE_EXPLORE_H
#define EXPLORE_EXPLORE_H

#include "scenario/outcome.h"

enum explore_order {
    EXPLORE_DEPTH_FIRST,   /* with little memory: the stack is one path and the successors beside it */
    EXPLORE_BREADTH_FIRST, /* states by rising depth; keeps the origin of each state, and the frontier */
};

#define EXPLORE_WORKERS_MAX 64

/* One layer with one set of run constants: the smallest part that can be searched by itself. */
struct explore_part {
    bool only;  /* the search does this part alone; false = all parts, and the other members do not count */
    int set;    /* number of the set of run constants, from 0; 0 also if the file sweeps none */
    int faults; /* most faults in a run of the layer */
};

struct explore_options {
    enum explore_order order;
    bool any_order;   /* the user has not chosen `order`, see goes_breadth_first() */
    bool layers;      /* layers with at most 0, 1, ... faults, in this order; false = only the last one */
    bool first_only;  /* ends with the first violation; false = looks for other ones in other runs */
    bool distrust;    /* some steps are done again, see self_check.h */
    bool every_step;  /* the world does each step; false = effects of steps are cached, see step_cache.h */
    bool exact;       /* states are compared by all bytes, and not by fingerprints; only with one worker */
    bool subsume;     /* a state is skipped if a known one differs only in more faults left, see subsume.h */
    uint32_t without; /* set of choice points that the world lacks, see world_without() */
    bool partial_order;
    bool symmetry; /* states that differ only in names of processes are one, see canon.h */
    bool renaming; /* states that differ only in numbers that grow are one, see canon.h */
    int workers;   /* processes that search together, 1 to EXPLORE_WORKERS_MAX; several go depth first */
    void (*begin_worker)(void); /* called in each process that a search forks; NULL = nothing is called */
    uint64_t states_max;        /* most states of a layer; 0 = no limit */
    size_t bytes_max;   /* for known states and the frontier; 0 = 3/4 of the machine's memory / `searches` */
    int searches;       /* searches at once on this machine; 0 = one */
    double seconds_max; /* for the whole search, in s; 0 = no limit */
    bool compare;       /* compares the counts of a complete search with those that the file claims */
    bool rewrite;       /* with `compare`, writes the counts of a complete search into the file */
    struct explore_part part;
    const char *out;           /* folder for the trace of a violation; NULL = none is written */
    size_t bitstate_bytes;     /* bytes of the table of bits, see bitstate.h; 0 = fingerprints are stored */
    const char *checkpoint;    /* file to write checkpoints to; NULL = none */
    const char *resume;        /* checkpoint to continue from; NULL = none */
    const char *identity;      /* options on which states and counts depend, as the user would write them */
    double checkpoint_every_s; /* least pause between two checkpoints, in s; 0 = none */
    const volatile int *stop;  /* the search ends soon after *stop becomes non-zero; NULL = never */
};

/* Returns the most faults that the budgets allow in one run: those of the last layer. */
int explore_faults(const struct scenario *scenario);

/* Returns the number of sets of run constants: 1 if the file sweeps none, or setup->seeded is not 0. */
int explore_sets(const struct run_setup *setup);

/* Searches, and fills in the outcome. If the world has a clock, only sets VERDICT_LIMIT and says why. If a
 * limit or `stop` ends the search, or states are kept as bits, the verdict is not VERDICT_HOLDS. */
void explore_run(const struct run_setup *setup, const struct explore_options *options,
                 struct outcome *outcome);

#endif
