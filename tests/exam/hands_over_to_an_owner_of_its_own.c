/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A release looks for another owner of the process that waits for the same lock. It gives that one its node, to save the
 * way through the servers, and removes the other's place in line.
 * mutex.h says: each owner has a contender node of its own. It says of the token: larger for each later grant.
 * Owners of one busy process pass the lock among themselves. Those of other processes that came before are passed
 * over, and may starve. */
/* breaks: granted_in_order */
#include "base/recipe.h"

#ifndef FIXED
int release(void *state, int lock, int owner)
{
    struct recipe *r = state;
    struct claim *claim = find(r, lock, owner);
    if (claim == NULL || claim->phase != HELD) {
        return LS_ENOTOWNER;
    }
    if (--claim->depth > 0) {
        return 0;
    }
    struct claim *next = NULL;
    for (int i = 0; i < CLAIMS_MAX && next == NULL && r->connected; i++) {
        struct claim *other = &r->claim[i];
        next = other->phase == WAITING && !other->ended && other->lock == claim->lock ? other : NULL;
    }
    claim->freeing = true;
    if (next != NULL) {
        int32_t number = claim->number;
        claim->number = next->number;
        next->number = number;
        next->czxid = claim->czxid;
        ls_env_stamp(r->env, &next->sent);
    }
    go(claim, DELETING);
    if (next != NULL) {
        grant(next);
    }
    return 0;
}
#endif
