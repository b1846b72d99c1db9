/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* How far the clock of a world may go: the next moment at which an event may happen, and the last moment
 * before an event must happen. Moments are in ms of the world's clock; INT32_MAX = none. */
#ifndef BASE_CLOCK_BOUNDS_H
#define BASE_CLOCK_BOUNDS_H

#include <stdint.h>

struct moments {
    int32_t now;
    int32_t next;  /* the earliest moment after `now` of an event that may happen */
    int32_t limit; /* the moment that the clock may not pass */
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

/* Notes an event that must happen by `at`; an overdue event must happen now. */
static inline void moments_must(struct moments *moments, int32_t at)
{
    int32_t latest = at > moments->now ? at : moments->now;
    moments_may(moments, at);
    if (latest < moments->limit) {
        moments->limit = latest;
    }
}

#endif
