/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* How far workers have come, on standard error: on a terminal a line that is refreshed, elsewhere a line each minute. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "cli/cli.h"

/* Scenarios begin now: what is left of them is estimated from here. */
void progress_begin(void);

/* After so many milliseconds progress_show() may have something new to write. */
int progress_due_ms(void);

/* Writes, if it is time: `finished` of `count` scenarios, and how far the search of `job` has come, which has worked for
 * so many seconds. NULL = no search is under way. */
void progress_show(int finished, int count, const struct cli_job *job, double seconds);

/* Takes the line away. */
void progress_clear(void);

#endif
