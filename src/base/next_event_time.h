/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The bounds of the next step of a world's clock. Moments are in ms of that clock; INT32_MAX = none. */
#ifndef BASE_NEXT_EVENT_TIME_H
#define BASE_NEXT_EVENT_TIME_H

#include <stdint.h>

struct moments {
    int32_t now;
    int32_t next;  /* the earliest moment after `now` at which another event may happen */
    int32_t limit; /* the clock may not pass this moment before the event that must happen by it */
};

static inline struct moments moments_from(int32_t now)
{
    return (struct moments){now, INT32_MAX, INT32_MAX};
}

/* Notes an event that may happen from `at` on. */
static inline void moments_may(struct moments *moments, int32_t at)
{
    if (at > moments->now && at < moments->next) {
        moments->next = at;
    }
}

/* Notes an event that must happen by `at`, or now if it is overdue. Notes `at` as moments_may() does, too. */
static inline void moments_must(struct moments *moments, int32_t at)
{
    int32_t latest = at > moments->now ? at : moments->now;
    moments_may(moments, at);
    if (latest < moments->limit) {
        moments->limit = latest;
    }
}

#endif
