/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The progress of workers on standard error: on a terminal a line that is refreshed, elsewhere a line each
 * minute. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "cli/cli.h"

/* Begins new scenarios; the estimate of the time left starts here. */
void progress_begin(void);

/* Returns after how many milliseconds progress_show() may have something new to write. */
int progress_due_ms(void);

/* Writes, if it is due, that `finished` of `count` scenarios are done, and the counts of the search of `job`,
 * which has run for `seconds`. `job` NULL: no search is running. */
void progress_show(int finished, int count, const struct cli_job *job, double seconds);

/* Erases the line. */
void progress_clear(void);

#endif
