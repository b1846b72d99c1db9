/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The three parts of an explanation. Each fills in its part of *e. */
#ifndef EXPLAIN_PARTS_H
#define EXPLAIN_PARTS_H

#include "explain/case.h"
#include "explore/explore.h"

/* Returns the seconds to the end of the bounds, at least a little; 0 = no limit. */
double explain_seconds_left(struct futures_bounds bounds);

/* Must come first: its searches of all runs need the world for themselves. */
void explain_faults(struct explain_case *c, struct explanation *e, struct futures_bounds bounds);
void explain_last_moment(struct explain_case *c, struct explanation *e, struct futures_bounds bounds);
void explain_stale(const struct explain_case *c, struct explanation *e);

#endif
