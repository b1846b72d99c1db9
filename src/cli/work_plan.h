/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The parts of a call of run or check, and the shard of each: the same list on every machine. */
#ifndef CLI_WORK_PLAN_H
#define CLI_WORK_PLAN_H

#include "cli/cli.h"

struct parts_list {
    struct cli_part *part; /* owned */
    int count;
    size_t max;
};

/* Lists all parts, scenario by scenario. The parts of `check` are the layers with the first set of run
 * constants, then with the next set, and so on. The parts of `run` are the directed run or the search, then
 * the seeds in order. Returns 0, or -1 if memory is short; the caller closes the list. */
int parts_list(const struct cli_options *options, const struct cli_job *jobs, int count, int shards,
               struct parts_list *list);
void parts_close(struct parts_list *list);

/* Fills in the setup of a scenario's runs. */
void parts_setup(const struct cli_options *options, const struct scenario *scenario, struct run_setup *setup);

#endif
