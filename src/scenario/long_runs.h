/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Long runs with a clock: a few clients do one thing 300 times. Such a run finds numbers of 8 bits that wrap, and
 * places in a table that are never given back. */
#ifndef SCENARIO_LONG_RUNS_H
#define SCENARIO_LONG_RUNS_H

#include <stddef.h>

int long_runs_count(void);

/* The name of the index-th run: `turns`. */
const char *long_runs_name(int index);

/* Writes its scenario, which must be shorter than `size` bytes. */
void long_runs_text(int index, char *text, size_t size);

#endif
