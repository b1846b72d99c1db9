/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A search that is put together from its parts, which may come from several machines.
 *
 * Layers do not depend on each other, nor do sets of run constants: each part is a search of its own. One
 * process searches the parts in order, and stops at the first that is not complete. explore_put_together()
 * makes one outcome from those of the parts. */
#ifndef EXPLORE_MERGE_PARTS_H
#define EXPLORE_MERGE_PARTS_H

#include "explore/explore.h"

/* Returns the fault budget of the first layer of a search. */
int explore_first_layer(const struct scenario *scenario, const struct explore_options *options);

/* Returns the number of layers of a search, for each set of run constants. */
int explore_layers(const struct scenario *scenario, const struct explore_options *options);

/* Makes the outcome of the whole. `part` has the outcomes set by set, and in a set layer by layer; NULL = the
 * part was not searched. At least one is not NULL.
 *
 * A violation in any part is one of the whole. The layers below the first that is not complete in some set
 * count as complete. None does if all parts before the first violation are complete, and it is not in the
 * last set: one process would have stopped there. */
void explore_put_together(const struct run_setup *setup, const struct explore_options *options,
                          const struct outcome *const *part, struct outcome *outcome);

#endif
