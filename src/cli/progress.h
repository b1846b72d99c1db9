/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* One line on standard error that is refreshed while workers work. Silent when standard error is no terminal. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "cli/cli.h"

/* How often it is worth refreshing. */
#define PROGRESS_MS 200

/* True if somebody can see it. */
bool progress_wanted(void);

/* Writes the line anew: `finished` of `count` scenarios, and how far the search of `job` has come, which has worked for
 * so many seconds. NULL = no search is under way. */
void progress_show(int finished, int count, const struct cli_job *job, double seconds);

/* Takes the line away. */
void progress_clear(void);

#endif
