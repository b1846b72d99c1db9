/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A search, breadth first and within narrow limits, for a shortest violating run that begins as a given run.
 * It finds runs in which several choices differ at once. */
#ifndef REPLAY_SHRINK_BFS_H
#define REPLAY_SHRINK_BFS_H

#include "replay/shrink_attempt.h"

struct around {
    int from; /* number of choices, from the first on, that stay */
    /* Actions behind them. If true, all that programs and budgets of an exploring scenario allow. If false,
     * the faults and verbs of the list in their order, with any steps of the system between. */
    bool free;
    int faults; /* with `free`: limit of faults of the whole run */
};

enum around_result {
    AROUND_FOUND,
    AROUND_NONE,  /* no such run exists */
    AROUND_LIMIT, /* such a run may exist: the search has met a limit */
};

/* Looks for a run of at most `limit` choices. If the result is AROUND_FOUND, *out is a shortest one. */
enum around_result around_search(struct attempt *attempt, const struct attempt_list *in, struct around how,
                                 int limit, struct attempt_list *out);

#endif
