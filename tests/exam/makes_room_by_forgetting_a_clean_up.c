/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* When all records are in use, an acquire takes that of an attempt that has ended and waits for the link, to be cleaned up:
 * the living go before the dead. What the dead one has left in the ensemble, its node and its watch, is nobody's from then
 * on, and the session lives on when the link is back: the node becomes the first of the line and blocks it. recipe.h: idle()
 * answers "whether no clean-up is left over", and it is. Who forgets what he has left has to give the session up, too. It
 * takes eight callers who give up in one outage. */
/* breaks: no_orphan_node */
#include "base/recipe.h"

static struct claim *free_claim(struct recipe *r)
{
    struct claim *claim = r->claim;
    while (claim < r->claim + CLAIMS_MAX && claim->phase != FREE) {
        claim++;
    }
    return claim < r->claim + CLAIMS_MAX ? claim : NULL;
}

/* Takes the record of an attempt that has ended. */
static struct claim *make_room(struct recipe *r)
{
    for (int i = 0; i < CLAIMS_MAX; i++) {
        struct claim *claim = &r->claim[i];
#ifdef FIXED
        if (claim->ended || claim->freeing) {
            lose_session(r); /* which takes the nodes of all of them along */
            return claim;
        }
#else
        if (claim->ended && !claim->busy) {
            clear(claim, r);
            return claim;
        }
#endif
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
    claim = free_claim(r);
    if (claim == NULL) {
        claim = make_room(r);
    }
    if (claim == NULL) {
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
