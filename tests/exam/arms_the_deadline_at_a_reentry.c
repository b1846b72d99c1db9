/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The deadline is armed before it is known whether the owner has to wait; grant() would stop it, but a re-
 * entry does not come by there. So a re-entry with a timeout leaves a timer behind, which fails the hold
 * when it fires. Breaks "exactly one GRANTED or FAILED report follows" (recipe.h, acquire) and "It holds
 * the lock until it has released it as often": the owner, who was granted two levels, is told LS_ETIMEDOUT
 * and its node is deleted while it works. */
/* breaks: hold_keeps_its_node */
#include "base/recipe.h"

int acquire(void *state, int lock, int owner, int timeout_ms)
{
    struct recipe *r = state;
    struct claim *claim = find(r, lock, owner);
    if (claim != NULL && claim->phase == HELD) {
#ifndef FIXED
        if (timeout_ms > 0 && ls_env_timer_start(r->env, &claim->deadline, "deadline-timer",
                                                 (uint32_t)timeout_ms, on_deadline, claim) != 0) {
            return LS_ENOMEM;
        }
#endif
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
    if (timeout_ms > 0 && ls_env_timer_start(r->env, &claim->deadline, "deadline-timer", (uint32_t)timeout_ms,
                                             on_deadline, claim) != 0) {
        clear(claim, r);
        return LS_ENOMEM;
    }
    go(claim, CREATING);
    return 0;
}
