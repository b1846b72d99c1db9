/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* An owner who holds the lock acquires it again, and the recipe marks that moment as the last proof of the session.
 * Nothing has been sent.
 * mutex.h says of LS_HELD: the session was confirmed, by a write or sync sent within the margin.
 * A holder that is cut off, and enters another level, believes beyond its margin. It works on while the servers are
 * about to give the lock away. */
/* breaks: belief_ends_in_time */
#include "base/recipe.h"

#ifndef FIXED
void grant(struct claim *claim)
{
    struct ls_env *env = claim->recipe->env;
    ls_env_timer_stop(env, &claim->deadline);
    if (claim->phase == HELD) {
        ls_env_stamp(env, &claim->sent); /* granted again: as good as new */
    }
    claim->phase = HELD;
    claim->depth++;
    tell(claim, LS_REPORT_GRANTED, 0);
}

int acquire(void *state, int lock, int owner, int timeout_ms)
{
    struct recipe *r = state;
    struct claim *claim = find(r, lock, owner);
    if (claim != NULL && claim->phase == HELD) {
        grant(claim);
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
        return LS_EBUSY;
    }
    if (timeout_ms > 0 && ls_env_timer_start(r->env, &claim->deadline, "deadline-timer", (uint32_t)timeout_ms,
                                             on_deadline, claim) != 0) {
        clear(claim, r);
        return LS_ENOMEM;
    }
    go(claim, CREATING);
    return 0;
}
#endif
