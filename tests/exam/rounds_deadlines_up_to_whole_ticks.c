/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Deadlines are rounded up to whole ticks of 100 ms, as timer slack does it, so that those of many waiters end in few
 * wake-ups of the process; whoever asks for 500 ms or 2 s never notices. recipe.h: "a positive timeout_ms fails with
 * LS_ETIMEDOUT after so many milliseconds", mutex.h: "LS_ETIMEDOUT at the deadline". A caller who has 250 ms waits for
 * 300, and one who has 1 ms for a hundred times as long as it can. */
/* breaks: deadline_is_kept */
#include "base/recipe.h"

#define TICK_MS 100

int acquire(void *state, int lock, int owner, int timeout_ms)
{
    struct recipe *r = state;
    struct claim *claim = find(r, lock, owner);
    if (claim != NULL && claim->phase == HELD) {
        claim->depth++;
        tell(claim, LS_REPORT_GRANTED, 0);
        return 0;
    }
    if (claim != NULL) {
        return LS_EALREADY;
    }
    claim = r->claim;
    while (claim < r->claim + CLAIMS_MAX && claim->phase != FREE) {
        claim++;
    }
    if (claim == r->claim + CLAIMS_MAX) {
        return LS_ENOMEM;
    }
    *claim = (struct claim){.recipe = r, .lock = (uint8_t)lock, .owner = (uint8_t)owner};
    claim->trying = timeout_ms == 0;
    if (claim->trying && !r->connected) {
        clear(claim, r);
        return LS_EBUSY; /* nobody can be asked now */
    }
    uint32_t delay_ms = timeout_ms > 0 ? (uint32_t)timeout_ms : 0;
#ifndef FIXED
    delay_ms = (delay_ms + TICK_MS - 1) / TICK_MS * TICK_MS;
#endif
    if (delay_ms > 0 &&
        ls_env_timer_start(r->env, &claim->deadline, "deadline-timer", delay_ms, on_deadline, claim) != 0) {
        clear(claim, r);
        return LS_ENOMEM;
    }
    go(claim, CREATING);
    return 0;
}
