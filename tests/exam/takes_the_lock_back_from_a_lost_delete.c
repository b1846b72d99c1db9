/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* An owner who asks again while its delete waits for the link is given the lock back at once, with the old node.
 * The recipe takes "no answer" for "not sent". The delete may have been done, and its answer lost.
 * It breaks "GRANTED: acquire succeeded: token (czxid of the contender node)" of recipe.h: the node may be gone.
 * Another client has the lock by then. Two clients hold it at once. */
/* breaks: hold_keeps_its_node */
#include "base/recipe.h"

#ifndef FIXED
/* A lost delete is sent again after the reconnect. */
void on_deleted(int rc, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    if (answered(claim, rc)) {
        forget(claim);
    }
}
#endif

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
#ifndef FIXED
    for (int i = 0; i < CLAIMS_MAX; i++) {
        claim = &r->claim[i];
        if (claim->freeing && !claim->busy && claim->lock == lock && claim->owner == owner) {
            claim->freeing = false; /* the delete is not sent yet */
            tell(claim, LS_REPORT_FREED, 0);
            grant(claim);
            return 0;
        }
    }
#endif
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
