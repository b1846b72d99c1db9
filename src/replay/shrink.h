/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A shorter run with the same violation, by delta debugging over the choices of a trace.
 *
 * A change is kept if the property is still violated, the run has no more faults, processes and choices than
 * before, and less of one of them. At the end no single choice can be left out: without it, and without what then
 * is no longer possible, the property is not violated. A run that goes round is shortened on its way to the circle and in it;
 * the circle closes again, and is fair. The same trace gives the same bytes, unless `stop` ended
 * the search. */
#ifndef REPLAY_SHRINK_H
#define REPLAY_SHRINK_H

#include "scenario/run.h"

struct shrink_size {
    int steps;     /* actions */
    int faults;    /* of them */
    int processes; /* that take part in one of them */
};

enum shrink_result {
    SHRINK_DONE,  /* a minimum, perhaps the trace itself */
    SHRINK_LIMIT, /* the best so far */
    SHRINK_HOLDS, /* the trace does not violate the property: there is nothing to shrink */
    SHRINK_UNFIT, /* it cannot be replayed here; *error says where it drifted and why */
};

/* All zero: the first undeclared property that is violated, no limit, no progress. */
struct shrink_options {
    const char *property;    /* its name; NULL = the first undeclared one that the trace violates */
    uint64_t max_steps;      /* actions replayed until no further run is tried; 0 = any number */
    bool (*stop)(void *ctx); /* asked before each run; may be NULL */
    void (*progress)(void *ctx, const struct shrink_size *best,
                     uint64_t runs); /* after each run; may be NULL */
    void *ctx;
};

struct shrunk {
    const struct property *property;
    char why[CHECK_WHY_MAX]; /* the sentence about the violation of the shorter run */
    struct shrink_size before, after;
    uint64_t runs;  /* that were tried */
    uint64_t steps; /* of them all */
    char *bytes;    /* a trace file; owned: free() */
    size_t size;
};

/* Shrinks a trace. *shrunk is filled in if the result is DONE or LIMIT, and was then replayed once more from its
 * bytes. */
enum shrink_result shrink_trace(const struct trace *trace, const struct shrink_options *options,
                                struct shrunk *shrunk, struct input_error *error);

#endif
