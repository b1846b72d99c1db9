/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The search for a free claim looks one claim too far, behind the table and the state.
 * It breaks "bytes of state for one process" of recipe.h: the driver gave no more.
 * With nine acquires at once the ninth one is written over memory of others. Fewer ones work well. */
/* breaks: contract_is_kept */
#include "base/recipe.h"

int acquire(void *state, int lock, int owner, int timeout_ms)
{
#ifdef FIXED
    const int last = CLAIMS_MAX - 1;
#else
    const int last = CLAIMS_MAX;
#endif
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
    while (claim <= &r->claim[0] + last && claim->phase != FREE) {
        claim++;
    }
    if (claim > &r->claim[0] + last) {
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
