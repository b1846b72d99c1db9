/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The recipe keeps the first token of an acquire. A waiter whose session ends gets a new node, but not a new token.
 * recipe.h says of LS_REPORT_GRANTED: token is the czxid of the contender node.
 * mutex.h says of the token: larger for each later grant.
 * Somebody else may hold the lock in between, with a larger token. The resource then refuses the writes of the rightful
 * holder, and takes an old write of the former one. */
/* breaks: no_stale_effect */
#include "base/recipe.h"

#ifndef FIXED
void on_created(int rc, const char *value, const struct Stat *stat, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    struct recipe *r = claim->recipe;
    if (!answered(claim, rc)) {
        if (r->session != 0 && !r->stopping) {
            lose_session(r);
        }
        return;
    }
    if (rc == ZNONODE) {
        claim->parent = 0;
        go(claim, claim->ended ? DELETING : MAKING_PARENT);
        return;
    }
    if (rc != ZOK) {
        if (claim->ended) {
            forget(claim);
        } else {
            fail(claim, rc == ZNODEEXISTS ? LS_ESEQUENCE : rc == ZNOAUTH ? LS_ENOAUTH : LS_EZK);
        }
        return;
    }
    claim->number = (int32_t)strtol(strrchr(value, '/') + 1 + strlen(PREFIX), NULL, 10);
    if (claim->czxid == 0) { /* the token is that of the acquire */
        claim->czxid = stat->czxid;
    }
    claim->named = true;
    if (claim->ended) {
        go(claim, DELETING);
    } else if (claim->number < 0) {
        fail(claim, LS_ESEQUENCE);
    } else {
        go(claim, LISTING);
    }
}
#endif
