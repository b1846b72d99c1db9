/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The three parts of an explanation. Each fills in its part of *e. */
#ifndef EXPLAIN_PARTS_H
#define EXPLAIN_PARTS_H

#include "explain/case.h"
#include "explore/explore.h"

/* Returns the seconds to the end of the bounds, at least 0.01; 0 = no limit. */
double explain_seconds_left(struct futures_bounds bounds);

/* Writes the faults of a budget, such as "loss<=1 expire<=1", and those of the script but choice `without`.
 * If there are none, writes "no fault". */
void explain_name_faults(const struct explain_case *c, const uint8_t budget[WORLD_FAULTS], int without,
                         char text[128]);

/* Must come first: its searches of all runs need the world for themselves. */
void explain_faults(struct explain_case *c, struct explanation *e, struct futures_bounds bounds);
/* Looks for the first step of the run behind which the fault `choice`, which mattered, does no harm any more.
 * Finds none for a fault that no budget pays for, or for a promise about waiting. */
void explain_postponed(struct explain_case *c, struct explain_fault *fault, int choice,
                       struct futures_bounds bounds);
void explain_last_moment(struct explain_case *c, struct explanation *e, struct futures_bounds bounds);
/* Returns false if memory is short: then nothing is said of knowledge. */
bool explain_stale(const struct explain_case *c, struct explanation *e);

#endif
