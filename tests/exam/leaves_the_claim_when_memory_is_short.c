/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* An acquire whose record finds no memory is refused, but its claim stays as if it were under way.
 * It breaks "Exactly one GRANTED or FAILED report follows when it returns 0; none when negative" of recipe.h.
 * The next reconnect goes on with the claim. The lock is granted to an owner who was refused and never releases. */
/* breaks: answers_have_reasons */
#include "base/recipe.h"

void clear(struct claim *claim, struct recipe *r)
{
    if (claim->spare[0] != 0) {
        ls_env_lock(r->env);
        ls_env_free(r->env, (void *)(intptr_t)claim->spare[0]);
        ls_env_unlock(r->env);
    }
    memset(claim, 0, sizeof *claim);
    claim->recipe = r;
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
    if (timeout_ms == 0 && !r->connected) {
        return LS_EBUSY;
    }
    *claim = (struct claim){.recipe = r, .lock = (uint8_t)lock, .owner = (uint8_t)owner, .phase = CREATING};
    claim->trying = timeout_ms == 0;
    ls_env_lock(r->env);
    claim->spare[0] = (int64_t)(intptr_t)ls_env_alloc(r->env, 64);
    ls_env_unlock(r->env);
    if (claim->spare[0] == 0) {
#ifdef FIXED
        clear(claim, r);
#endif
        return LS_ENOMEM;
    }
    if (timeout_ms > 0 && ls_env_timer_start(r->env, &claim->deadline, "deadline-timer", (uint32_t)timeout_ms,
                                             on_deadline, claim) != 0) {
        clear(claim, r);
        return LS_ENOMEM;
    }
    go(claim, CREATING);
    return 0;
}

void stop(void *state)
{
    struct recipe *r = state;
    r->stopping = true;
    ls_env_timer_stop(r->env, &r->reopen);
    for (int i = 0; i < CLAIMS_MAX; i++) {
        ls_env_timer_stop(r->env, &r->claim[i].deadline);
    }
    close_session(r);
    for (int i = 0; i < CLAIMS_MAX; i++) {
        clear(&r->claim[i], r);
    }
    memset(r, 0, sizeof *r);
}
