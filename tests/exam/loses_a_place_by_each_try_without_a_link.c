/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The places for claims are counted. A try that is refused at once, because there is no link, gives its
 * place not back: after eight of them there is none left. It breaks "A negative timeout_ms waits for ever"
 * and "A timeout_ms of 0 asks for the lock only if it is free now" (recipe.h); LS_ENOMEM means that there
 * is no memory (mutex.h), and there is. Harm: a program that polls with tries until its link is up can
 * never again take any lock of this process. */
/* breaks: answers_have_reasons */
#include "base/recipe.h"

/* spare[0] of the recipe: how many claims are in use */

void forget(struct claim *claim)
{
    bool cleaned = claim->ended;
    struct recipe *r = claim->recipe;
    ls_env_timer_stop(r->env, &claim->deadline);
    if (claim->freeing) {
        tell(claim, LS_REPORT_FREED, 0);
    }
    clear(claim, r);
    r->spare[0]--;
    if (cleaned) {
        ls_report(r->env, &(struct ls_report){.kind = LS_REPORT_IDLE});
    }
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
    if (r->spare[0] == CLAIMS_MAX) {
        return LS_ENOMEM;
    }
    r->spare[0]++;
    for (claim = r->claim; claim->phase != FREE; claim++) {
    }
    *claim = (struct claim){.recipe = r, .lock = (uint8_t)lock, .owner = (uint8_t)owner};
    claim->trying = timeout_ms == 0;
    if (claim->trying && !r->connected) {
        clear(claim, r);
#ifdef FIXED
        r->spare[0]--;
#endif
        return LS_EBUSY;
    }
    if (timeout_ms > 0 && ls_env_timer_start(r->env, &claim->deadline, "deadline-timer", (uint32_t)timeout_ms,
                                             on_deadline, claim) != 0) {
        clear(claim, r);
        r->spare[0]--;
        return LS_ENOMEM;
    }
    go(claim, CREATING);
    return 0;
}
