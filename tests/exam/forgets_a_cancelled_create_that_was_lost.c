/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A caller gives up while the create is under way, and the link breaks before the answer comes. The recipe forgets
 * the claim, since the caller has an answer. The server may have created the node, and the session lives on.
 * mutex.h, ls_mutex_cancel: "on_done with LS_ECANCELED follows at once, the janitor removes the node".
 * Nobody knows the node any more, so everybody else waits behind it as long as this process lives. */
/* breaks: no_orphan_node */
#include "base/recipe.h"

#ifndef FIXED
void on_created(int rc, const char *value, const struct Stat *stat, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    struct recipe *r = claim->recipe;
    if (!answered(claim, rc)) {
        if (r->session != 0 && !r->stopping) {
            if (claim->ended) {
                forget(claim); /* nobody asks for it any more */
            } else {
                lose_session(r); /* there may be a node that we do not know */
            }
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
        fail(claim, LS_ESEQUENCE);
    } else {
        go(claim, LISTING);
    }
}
#endif
