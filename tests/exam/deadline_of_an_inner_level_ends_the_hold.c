/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The recipe starts the timer of a timeout before it looks whether the owner holds the lock already. Nobody stops the
 * timer of an inner level.
 * recipe.h says: an owner who holds a lock may acquire it again, and holds it until it was released as often.
 * It says of acquire: exactly one GRANTED or FAILED report follows.
 * At that deadline the recipe removes the node of the hold. Somebody else is granted the lock while the owner works. */
/* breaks: hold_keeps_its_node */
#include "base/recipe.h"

int acquire(void *state, int lock, int owner, int timeout_ms)
{
    struct recipe *r = state;
    struct claim *claim = find(r, lock, owner);
    bool held = claim != NULL && claim->phase == HELD;
    if (claim != NULL && !held) {
        return LS_EALREADY;
    }
    if (!held) {
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
    }
    bool timed = timeout_ms > 0;
#ifdef FIXED
    timed = timed && !held;
#endif
    if (timed && ls_env_timer_start(r->env, &claim->deadline, "deadline-timer", (uint32_t)timeout_ms,
                                    on_deadline, claim) != 0) {
        if (!held) {
            clear(claim, r);
        }
        return LS_ENOMEM;
    }
    if (held) {
        claim->depth++;
        tell(claim, LS_REPORT_GRANTED, 0);
    } else {
        go(claim, CREATING);
    }
    return 0;
}
