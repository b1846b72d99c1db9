/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Long runs with a clock: a few clients do one thing 300 times (40 times if it needs a new session or evicts
 * a node). Such a run finds numbers of 8 bits that wrap, and entries of a table that are never freed. */
#ifndef SCENARIO_REPETITION_WORLDS_H
#define SCENARIO_REPETITION_WORLDS_H

#include <stddef.h>

int long_runs_count(void);

const char *long_runs_name(int index);

/* Writes the scenario of the index-th run, which must be shorter than `size` bytes. */
void long_runs_text(int index, char *text, size_t size);

#endif
