/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Retry policies: a pure function from a policy, the number of failures, the time since the first one and a
 * random number to the next delay. */
#include <lockstep/session.h>

enum { BASE_MS = 100, DELAY_MS_MAX = 10000, SHIFT_MAX = 31 };

static bool exhausted(const struct ls_retry_policy *policy, uint32_t attempt, int64_t elapsed_ms)
{
    switch (policy->kind) {
    case LS_RETRY_TIMES:
        return attempt >= policy->times;
    case LS_RETRY_ELAPSED:
        return elapsed_ms >= (int64_t)policy->elapsed_ms_max;
    case LS_RETRY_FOREVER:
    default:
        return false;
    }
}

int64_t ls_retry_delay_ms(const struct ls_retry_policy *policy, uint32_t attempt, int64_t elapsed_ms,
                          uint32_t random)
{
    static const struct ls_retry_policy forever = {.kind = LS_RETRY_FOREVER};
    const struct ls_retry_policy *p = policy ? policy : &forever;
    if (exhausted(p, attempt, elapsed_ms))
        return -1;
    uint64_t base = p->base_ms ? p->base_ms : BASE_MS;
    uint64_t bound = p->delay_ms_max ? p->delay_ms_max : DELAY_MS_MAX;
    uint64_t delay = attempt > SHIFT_MAX ? bound : base << attempt;
    if (delay > bound)
        delay = bound;
    uint64_t percent = p->jitter_percent > 100 ? 100 : p->jitter_percent;
    uint64_t spread = delay * percent / 100;
    delay -= (spread * random) >> 32;
    if (p->kind == LS_RETRY_ELAPSED && delay > p->elapsed_ms_max - (uint64_t)elapsed_ms)
        delay = p->elapsed_ms_max - (uint64_t)elapsed_ms;
    return (int64_t)delay;
}
