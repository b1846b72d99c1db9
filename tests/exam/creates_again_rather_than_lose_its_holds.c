/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Whoever has lost the answer to a create gives the session up, because there may be a node that he does
 * not know. This one does so only if the process holds nothing: a hold of another lock is too dear, and so
 * the create is just repeated. recipe.h: "If acquire() returns 0, exactly one GRANTED or FAILED report
 * follows". If the first create was applied, the claim waits behind its own first node, which nobody will
 * ever delete, and so does everybody else. */
/* breaks: no_orphan_node */
#include "base/recipe.h"

#ifndef FIXED
static bool holds_anything(const struct recipe *r)
{
    for (int i = 0; i < CLAIMS_MAX; i++) {
        if (r->claim[i].phase == HELD) {
            return true;
        }
    }
    return false;
}
#endif

void on_created(int rc, const char *value, const struct Stat *stat, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    struct recipe *r = claim->recipe;
    if (!answered(claim, rc)) {
        if (r->session != 0 && !r->stopping) {
#ifndef FIXED
            if (holds_anything(r) && !claim->ended) {
                return; /* CONNECTED goes on: do not throw the other locks away */
            }
#endif
            lose_session(r); /* there may be a node that we do not know */
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
    claim->czxid = stat->czxid;
    claim->named = true;
    if (claim->ended) {
        go(claim, DELETING);
    } else if (claim->number < 0) {
        fail(claim, LS_ESEQUENCE); /* servers before 3.6 count on with numbers that nobody can order */
    } else {
        go(claim, LISTING);
    }
}
