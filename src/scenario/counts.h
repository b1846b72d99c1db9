/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The counts that an exploring scenario expects of a search that has come to its end, with all faults of its budgets. */
#ifndef SCENARIO_COUNTS_H
#define SCENARIO_COUNTS_H

#include "scenario/outcome.h"

/* True if the search that the outcome tells of has counted what the file says. Says what differs. */
bool counts_are_expected(struct outcome *outcome, const struct scenario *scenario);

/* True if the file names both counts, and these. */
bool counts_stand_there(const struct scenario *scenario, const struct search_counts *counts);

/* Writes both counts into the scenario's file: in place of those that stand there, or behind the other claims. Nothing
 * else of the file changes. Returns 0, or -1 with errno set and the file as it was. */
int counts_rewrite(const struct scenario *scenario, const struct search_counts *counts);

#endif
