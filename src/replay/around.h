/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The shortest run with the same violation among those that begin as a given one does: breadth first, within narrow
 * limits. What leaving out single choices does not find, because several would have to change at once. */
#ifndef REPLAY_AROUND_H
#define REPLAY_AROUND_H

#include "replay/attempt.h"

struct around {
    int from;   /* so many choices of the list stay as they are */
    bool free;  /* whatever the scenario's programs and budgets allow; else the list's own faults and client
                 * operations in their order, and whatever the system does between them */
    int faults; /* with `free`: so many at most, those that stay included */
};

enum around_result {
    AROUND_FOUND,
    AROUND_NONE,  /* there is no such run */
    AROUND_LIMIT, /* there may be one: it was not looked further */
};

/* Looks for a run of at most `limit` choices. If there is one, *out is a shortest, as attempt_follow() would fill
 * it in. `free` is for exploring scenarios. */
enum around_result around_search(struct attempt *attempt, const struct attempt_list *in, struct around how,
                                 int limit, struct attempt_list *out);

#endif
