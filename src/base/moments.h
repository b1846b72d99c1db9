/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* How far the clock of a world may go: the next moment at which something may happen, and the last one before
 * something has to. Moments are in ms of the world's clock; INT32_MAX = none. */
#ifndef BASE_MOMENTS_H
#define BASE_MOMENTS_H

#include <stdint.h>

struct moments {
    int32_t now;
    int32_t next;  /* the earliest after now */
    int32_t limit; /* time may not pass it */
};

static inline struct moments moments_from(int32_t now)
{
    return (struct moments){now, INT32_MAX, INT32_MAX};
}

/* Something may happen from then on. */
static inline void moments_may(struct moments *moments, int32_t at)
{
    if (at > moments->now && at < moments->next) {
        moments->next = at;
    }
}

/* Something has to happen by then; what is overdue, now. */
static inline void moments_must(struct moments *moments, int32_t at)
{
    int32_t latest = at > moments->now ? at : moments->now;
    moments_may(moments, at);
    if (latest < moments->limit) {
        moments->limit = latest;
    }
}

#endif
