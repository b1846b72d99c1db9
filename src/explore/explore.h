/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* All runs of an exploring scenario: every order of steps, every place for every fault that its budgets allow.
 *
 * The search goes through the states of the world, each once. Green means that no run within the bounds violates
 * anything; red comes with a run that does. */
#ifndef EXPLORE_EXPLORE_H
#define EXPLORE_EXPLORE_H

#include "scenario/outcome.h"

enum explore_order {
    EXPLORE_DEPTH_FIRST,   /* fast, and small: it remembers one path */
    EXPLORE_BREADTH_FIRST, /* the shortest violation; it remembers whole states that wait */
};

#define EXPLORE_WORKERS_MAX 64

/* One layer with one set of run constants: the smallest part of a search that can be done for itself. */
struct explore_part {
    bool only;
    int set;    /* number of the set of run constants, 0 if the file sweeps none */
    int faults; /* at most, of the layer */
};

struct explore_options {
    enum explore_order order;
    bool any_order;  /* nobody has asked for it: endless programs are searched breadth first, see explore.c */
    bool layers;     /* first without faults, then with one, ...; otherwise with all at once */
    bool first_only; /* what else is violated, in other runs, is not looked for */
    bool distrust;   /* some steps are done twice, see distrust.h */
    bool
        every_step; /* each is done; otherwise none again that was done in the same surroundings, see expansion.h */
    bool exact;         /* states are compared whole, and not by fingerprints: with one worker */
    bool subsume;       /* a state is known if one with more left of the budgets is, see subsume.h */
    uint32_t without;   /* choice points that the world lacks, see world_without() */
    bool partial_order; /* of steps whose order nobody can tell one order is enough, see partial.h */
    bool symmetry; /* states that differ only in which process is which are one, where that is possible */
    bool renaming; /* states that differ only by numbers that grow are one, if the recipe shows its own */
    int workers;   /* processes that search together, depth first whatever the order; at least 1 */
    void (*begin_worker)(void); /* called in each process that a search forks; may be NULL */
    uint64_t states_max;        /* 0 = no limit */
    size_t bytes_max; /* for states and what waits; 0 = its part of three quarters of the machine's memory */
    int searches;     /* that go on beside each other and share the machine; 0 = one */
    double seconds_max;       /* 0 = no limit */
    bool compare;             /* with the counts that the file claims, if the search comes to its end */
    bool rewrite;             /* and writes the right ones into the file */
    struct explore_part part; /* only this of it, if `part.only` */
    const char *out;          /* folder for traces */
    size_t bitstate_bytes;  /* states are a few bits each in a table of this size, see bitstate.h; 0 = not */
    const char *checkpoint; /* file to keep the search in now and then; NULL = not kept */
    const char *resume;     /* file to go on from; NULL = from the start */
    const char *identity;   /* the options that make this search what it is, as the user would write them */
    double checkpoint_every_s; /* so often; 0 = all the time */
    const volatile int *stop;  /* the search ends soon after this becomes non-zero; may be NULL */
};

/* The faults of the last layer: what the budgets allow in one run. */
int explore_faults(const struct scenario *scenario);

/* How many sets of run constants a search goes through: 1 if the file sweeps none, or if they were given. */
int explore_sets(const struct run_setup *setup);

/* Searches. The outcome's verdict is VERDICT_LIMIT if a limit was reached, or if it was stopped, before the end and
 * nothing was violated until then. */
void explore_run(const struct run_setup *setup, const struct explore_options *options,
                 struct outcome *outcome);

#endif
