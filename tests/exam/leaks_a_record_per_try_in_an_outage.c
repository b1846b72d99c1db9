/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Each acquire has a block for its trace record. The way out for a try without a connection forgets to free it.
 * It breaks "what the recipe allocates for it the recipe's" in recipe.h: nobody can free it any more.
 * A service that polls with tries during an outage loses memory, until no acquire is possible. */
/* breaks: contract_is_kept */
#include "base/recipe.h"

#define RECORD_SIZE 4096

static void drop(struct claim *claim)
{
    ls_env_lock(claim->recipe->env);
    ls_env_free(claim->recipe->env, (void *)(intptr_t)claim->spare[0]);
    ls_env_unlock(claim->recipe->env);
}

void clear(struct claim *claim, struct recipe *r)
{
    if (claim->recipe != NULL) {
        drop(claim);
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
    *claim = (struct claim){.recipe = r, .lock = (uint8_t)lock, .owner = (uint8_t)owner};
    ls_env_lock(r->env);
    claim->spare[0] = (int64_t)(intptr_t)ls_env_alloc(r->env, RECORD_SIZE);
    ls_env_unlock(r->env);
    if (claim->spare[0] == 0) {
        clear(claim, r);
        return LS_ENOMEM;
    }
    claim->trying = timeout_ms == 0;
    if (claim->trying && !r->connected) {
#ifdef FIXED
        clear(claim, r);
#else
        memset(claim, 0, sizeof *claim);
        claim->recipe = r;
#endif
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
