/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Shrinks a trace: a shorter run with the same violation, by delta debugging over the choices.
 *
 * A change is kept if the property is still violated, and the run has no more faults, processes and choices
 * than before. It must have less of one of them, fewer declared processes, or cuts that let less through. If
 * the result is SHRINK_DONE, no single choice can be left out: without it, and without choices that need it,
 * the property is not violated. A run that goes round is shortened before and in its circle, which still
 * closes and is fair. One trace gives the same bytes each time, unless a limit ended the search. */
#ifndef REPLAY_SHRINK_H
#define REPLAY_SHRINK_H

#include "scenario/run.h"

struct shrink_size {
    int steps;     /* number of actions */
    int faults;    /* number of actions that are faults */
    int processes; /* number of processes with an action */
};

enum shrink_result {
    SHRINK_DONE,  /* the result is a minimum, perhaps the trace itself */
    SHRINK_LIMIT, /* the result is the best run so far: `stop`, max_steps or memory ended the search */
    SHRINK_HOLDS, /* the trace does not violate the property */
    SHRINK_UNFIT, /* the trace cannot be replayed here; *error says why */
};

struct shrink_options {
    /* Name of the property. NULL = the property that is the whole line `found` of the trace, if it is
     * violated. If not, the first violated property that the scenario does not declare as violated. */
    const char *property;
    uint64_t max_steps;      /* after so many actions, over all runs, no further run is tried; 0 = no limit */
    bool (*stop)(void *ctx); /* asked before each run; may be NULL */
    void (*progress)(void *ctx, const struct shrink_size *best,
                     uint64_t runs); /* after each run; may be NULL */
    void *ctx;
};

struct shrunk {
    const struct property *property;
    char why[CHECK_WHY_MAX]; /* why the shorter run violates the property, as a sentence */
    struct shrink_size before, after;
    uint64_t runs;  /* number of runs that were tried */
    uint64_t steps; /* actions of all these runs */
    char *bytes;    /* the trace file; the caller frees it */
    size_t size;
};

/* If the result is SHRINK_DONE or SHRINK_LIMIT, fills in *shrunk; a replay has confirmed its bytes. */
enum shrink_result shrink_trace(const struct trace *trace, const struct shrink_options *options,
                                struct shrunk *shrunk, struct input_error *error);

#endif
