/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The parts of one call of run or check, and which shard does which: the same list on every machine. */
#ifndef CLI_PARTS_H
#define CLI_PARTS_H

#include "cli/cli.h"

struct parts_list {
    struct cli_part *part; /* owned */
    int count;
    size_t max;
};

/* Lists all parts of these scenarios: scenario by scenario, of a search the layers of the first set of run constants, then of
 * the next, ..., of a run the directed run or the search first and then the seeds in their order. Returns 0, or -1 if memory
 * is short. */
int parts_list(const struct cli_options *options, const struct cli_job *jobs, int count, int shards,
               struct parts_list *list);
void parts_close(struct parts_list *list);

/* The setup and the options of the scenario's runs, as a worker has them. */
void parts_setup(const struct cli_options *options, const struct scenario *scenario, struct run_setup *setup);

#endif
