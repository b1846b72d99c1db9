/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A search put together from its parts, wherever these were done.
 *
 * Layers do not depend on each other, and sets of run constants neither: each is a search of its own from the same first
 * state. One process does them one after the other and stops at the first that is not complete; whoever has all parts says
 * the same as it would have said. */
#ifndef EXPLORE_PART_H
#define EXPLORE_PART_H

#include "explore/explore.h"

/* The layers of a search: from which number of faults on, so many. */
int explore_first_layer(const struct scenario *scenario, const struct explore_options *options);
int explore_layers(const struct scenario *scenario, const struct explore_options *options);

/* What came of the whole. `part` has the outcomes set by set and in these layer by layer, NULL for what was not done; at
 * least one is there. A violation counts, whatever else was not done. Otherwise what stands are all the layers below the first
 * that is not complete in some set. */
void explore_put_together(const struct run_setup *setup, const struct explore_options *options,
                          const struct outcome *const *part, struct outcome *outcome);

#endif
