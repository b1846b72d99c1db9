/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The recipe keeps the token of the first node of an acquire, also when a later session has made a new node.
 * It breaks "token (czxid of the contender node)" of recipe.h, and "larger for each later grant" of mutex.h.
 * A waiter whose session expired is granted with a token from before. Its writes are refused.
 * Or a resource that only saw its old token later takes a stale write with a larger one. */
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
    if (claim->czxid == 0) {
        claim->czxid = stat->czxid; /* the token of this acquire */
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
