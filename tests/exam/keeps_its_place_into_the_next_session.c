/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* When the session changes, a waiter keeps its node's number and looks at the list under the next session.
 * If the node were gone, the waiter would queue again. The old session may live on for a while, and its node too.
 * mutex.h: a session that dies while the acquire waits "queues again, at the end, under the next session".
 * The waiter is granted the lock with a node of the old session. When that session ends, the next one is granted it too. */
/* breaks: at_most_one_holder */
#include "base/recipe.h"

#ifndef FIXED
void lose_session(struct recipe *r)
{
    r->connected = false;
    if (r->session != 0) {
        tell_session(r, LS_REPORT_LOST);
    }
    r->session = 0;
    r->was_suspended = false;
    for (int i = 0; i < CLAIMS_MAX; i++) {
        struct claim *claim = &r->claim[i];
        claim->watching = false;
        if (claim->phase == HELD || claim->ended || claim->freeing) {
            forget(claim);
        } else if (claim->phase == WAITING) {
            claim->phase = LISTING; /* the list will show whether our node has gone */
        } else if (claim->phase != FREE) {
            claim->phase = CREATING;
            claim->named = false;
        }
    }
    ls_env_timer_start(r->env, &r->reopen, "reopen-timer", 1, on_reopen, r);
}
#endif
