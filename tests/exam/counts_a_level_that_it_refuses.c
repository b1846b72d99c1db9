/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* An acquire by an owner that holds the lock counts its level, and then finds that it is a try in an outage, which this
 * recipe refuses. The level stays counted.
 * recipe.h says: an owner that holds a lock may acquire it again, and holds it until it has released it as often.
 * Run: an owner holds the lock, the link breaks, the owner tries again (timeout 0) and is told LS_EBUSY at once; the link
 * comes back in the same session. The owner releases its only level: release() returns 0 and takes the one too many,
 * no FREED follows, and the lock is held by nobody who knows of it. */
/* breaks: release_matches_acquire */
#include "base/recipe.h"

int acquire(void *state, int lock, int owner, int timeout_ms)
{
    struct recipe *r = state;
    struct claim *claim = find(r, lock, owner);
    if (claim != NULL && claim->phase == HELD) {
        claim->depth++;
#ifndef FIXED
        if (timeout_ms == 0 && !r->connected) {
            return LS_EBUSY; /* nobody can be asked now */
        }
#endif
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
    if (timeout_ms > 0 && ls_env_timer_start(r->env, &claim->deadline, "deadline-timer", (uint32_t)timeout_ms,
                                             on_deadline, claim) != 0) {
        clear(claim, r);
        return LS_ENOMEM;
    }
    go(claim, CREATING);
    return 0;
}
