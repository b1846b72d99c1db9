/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The shortest run with the same violation among the runs that begin as a given one: breadth first, within
 * narrow limits. Unlike leaving out single choices, it finds runs in which several choices change at once. */
#ifndef REPLAY_SHRINK_BFS_H
#define REPLAY_SHRINK_BFS_H

#include "replay/shrink_attempt.h"

struct around {
    int from; /* number of choices, from the first on, that stay as they are */
    /* true = all that programs and budgets of the scenario allow; false = the faults and verbs of the list in
     * their order, with any steps of the system between */
    bool free;
    int faults; /* with `free`: most faults of the run, those that stay included */
};

enum around_result {
    AROUND_FOUND,
    AROUND_NONE,  /* no such run exists */
    AROUND_LIMIT, /* such a run may exist: the search has met a limit */
};

/* Looks for a run of at most `limit` choices. If there is one, *out becomes a shortest, as by
 * attempt_follow(). `free` is for exploring scenarios. */
enum around_result around_search(struct attempt *attempt, const struct attempt_list *in, struct around how,
                                 int limit, struct attempt_list *out);

#endif
