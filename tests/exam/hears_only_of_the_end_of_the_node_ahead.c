/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Of the events of its watch on the node ahead a waiter heeds the deletion alone: "changed" is none of its
 * business. But a watch is used up by any event, and this one was set by a get: after a write to that node
 * nothing stands any more. Contents of a contender are written to, for instance by a request to revoke
 * (mutex.h). It breaks "if acquire() returns 0, exactly one GRANTED or FAILED report follows" (recipe.h).
 * Harm: the waiter sleeps on when the lock is free, and all behind it. */
/* breaks: no_lost_wakeup */
#include "base/recipe.h"

void on_ahead(zhandle_t *zh, int type, int state, const char *path, void *ctx)
{
    struct claim *claim = ctx;
    struct recipe *r = claim->recipe;
    (void)state;
    const char *name = path != NULL ? strrchr(path, '/') : NULL;
    bool ours = zh == r->zh && claim->watching && name != NULL && strcmp(name + 1, claim->ahead) == 0;
#ifdef FIXED
    if (type == ZOO_SESSION_EVENT || !ours) {
#else
    if (type != ZOO_DELETED_EVENT || !ours) {
#endif
        return;
    }
    claim->watching = false;
    if (claim->phase == WAITING) {
        go(claim, LISTING);
    }
}
