/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* When the session is lost, whoever waits queues again, and what begins again is given its whole timeout
 * again, instead of what is left of it. Three losses make an acquire with a timeout of 5 s last 15 s.
 * recipe.h: "A positive timeout_ms fails with LS_ETIMEDOUT after so many milliseconds"; mutex.h:
 * "LS_ETIMEDOUT at the deadline, even during an outage". */
/* breaks: deadline_is_kept */
#include "base/recipe.h"

void lose_session(struct recipe *r)
{
    r->connected = false;
    if (r->session != 0) {
        tell_session(r, LS_REPORT_LOST);
    }
    r->session = 0;
    r->was_suspended = false;
    for (int i = 0; i < CLAIMS_MAX; i++) {
        struct claim *claim = &r->claim[i];
        claim->watching = false;
        if (claim->phase == HELD || claim->ended || claim->freeing) {
            forget(claim);
        } else if (claim->phase != FREE) {
            claim->phase = CREATING;
            claim->named = false; /* another directory may use the number again */
#ifndef FIXED
            if (claim->spare[0] > 0) {
                ls_env_timer_start(r->env, &claim->deadline, "deadline-timer", (uint32_t)claim->spare[0],
                                   on_deadline, claim);
            }
#endif
        }
    }
    ls_env_timer_start(r->env, &r->reopen, "reopen-timer", 1, on_reopen, r);
}

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
    claim->spare[0] = timeout_ms;
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
