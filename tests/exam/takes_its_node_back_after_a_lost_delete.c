/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The delete of a release is lost, and the same owner asks again before the reconnect. The recipe then keeps the old
 * node, if the list shows it, and saves a delete and a create. The lost delete may still commit later.
 * recipe.h, LS_REPORT_GRANTED: the token is the czxid of the contender node, and that node is deleted under the hold.
 * Another client is granted the lock while the owner holds it. */
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

/* A claim that was given back, but whose node could not be deleted. */
static struct claim *kept(struct recipe *r, int lock, int owner)
{
    for (int i = 0; i < CLAIMS_MAX; i++) {
        struct claim *claim = &r->claim[i];
        if (claim->phase == DELETING && claim->freeing && !claim->busy && claim->lock == lock &&
            claim->owner == owner) {
            return claim;
        }
    }
    return NULL;
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
    if (timeout_ms == 0 && !r->connected) {
        return LS_EBUSY;
    }
    enum phase first = LISTING;
    claim = kept(r, lock, owner);
    if (claim != NULL) {
        tell(claim, LS_REPORT_FREED, 0);
        claim->freeing = false; /* its node serves once more */
    } else {
        first = CREATING;
        claim = r->claim;
        while (claim < r->claim + CLAIMS_MAX && claim->phase != FREE) {
            claim++;
        }
        if (claim == r->claim + CLAIMS_MAX) {
            return LS_ENOMEM;
        }
        *claim = (struct claim){.recipe = r, .lock = (uint8_t)lock, .owner = (uint8_t)owner};
    }
    claim->trying = timeout_ms == 0;
    if (timeout_ms > 0 && ls_env_timer_start(r->env, &claim->deadline, "deadline-timer", (uint32_t)timeout_ms,
                                             on_deadline, claim) != 0) {
        if (first == CREATING) {
            clear(claim, r);
        } else {
            claim->ended = true; /* the node is deleted after all */
        }
        return LS_ENOMEM;
    }
    go(claim, first);
    return 0;
}
#endif
