/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The counts that an exploring scenario expects of a complete search with all faults of its budgets. */
#ifndef SCENARIO_EXPECTED_COUNTS_H
#define SCENARIO_EXPECTED_COUNTS_H

#include "scenario/outcome.h"

/* Returns whether the outcome's search has the counts that the file claims. A claimed number of states does
 * not agree if states could not be renamed. Adds differences to the outcome's text. */
bool counts_are_expected(struct outcome *outcome, const struct scenario *scenario);

/* Returns whether the file names both counts, with these values. */
bool counts_stand_there(const struct scenario *scenario, const struct search_counts *counts);

/* Writes both counts into the scenario's file: in place of the present counts, or behind the other claims.
 * Adds a line `----` and a line end if they are missing, and changes nothing else. Returns 0, or -1 with
 * errno set and the file unchanged. */
int counts_rewrite(const struct scenario *scenario, const struct search_counts *counts);

#endif
