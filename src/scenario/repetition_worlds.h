/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Long runs with a clock: one or two clients do one thing 300 times, or 40 times if it takes many steps. In
 * 300 turns a number of 8 bits wraps, and a table of fewer entries is full if they are never freed. */
#ifndef SCENARIO_REPETITION_WORLDS_H
#define SCENARIO_REPETITION_WORLDS_H

#include <stddef.h>

int long_runs_count(void);

const char *long_runs_name(int index);

/* Writes the scenario of the index-th run, which must be shorter than `size` bytes. */
void long_runs_text(int index, char *text, size_t size);

#endif
