/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The progress of workers on standard error: on a terminal a line that is overwritten, elsewhere by default a
 * new line each minute. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "cli/cli.h"

/* Begins a list of scenarios: the estimate of the time left starts here. */
void progress_begin(void);

/* Returns the time in ms until progress_show() may have something to write. */
int progress_due_ms(void);

/* If it is due, writes the counts of the search of `job`, which has run for `seconds`; NULL = no search is
 * running. Unless that is the only job of the list, also writes that `finished` of `count` scenarios are
 * done. */
void progress_show(int finished, int count, const struct cli_job *job, double seconds);

void progress_clear(void);

#endif
