/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The parts of one call of run or check, and their shards: the same list on every machine. */
#ifndef CLI_WORK_PLAN_H
#define CLI_WORK_PLAN_H

#include "cli/cli.h"

struct parts_list {
    struct cli_part *part; /* owned */
    int count;
    size_t max;
};

/* Lists all parts of these scenarios, scenario by scenario. The parts of a search are the layers of the first
 * set of run constants, then of the next set, and so on. The parts of a run are the directed run or the
 * search, then the seeds in order. Returns 0, or -1 if memory is short. */
int parts_list(const struct cli_options *options, const struct cli_job *jobs, int count, int shards,
               struct parts_list *list);
void parts_close(struct parts_list *list);

/* Sets the setup of the scenario's runs as a worker does. */
void parts_setup(const struct cli_options *options, const struct scenario *scenario, struct run_setup *setup);

#endif
