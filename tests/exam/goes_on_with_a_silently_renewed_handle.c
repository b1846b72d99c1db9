/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* breaks: no_watch_left_behind */
/* When a reconnect brings another session without a word (silent-session), the loss is told, and the handle is kept: it is
 * connected. But watches belong to the handle: the client library sets them again, while lose_session() counts them as gone.
 * 1. P holds lock-0. A waits with lock-1 and watches lock-0; C waits with lock-2 and watches lock-1.
 * 2. A's link breaks, its session ends at the server, and A reconnects silently with a new one; SetWatches renews A's watch on lock-0.
 * 3. A queues again: lock-3, behind lock-2, which it watches now. C, woken by the end of lock-1, watches lock-0.
 * 4. At rest A has a watch on lock-0 that its wait does not need (`watching` and `ahead` are about lock-2), and nobody removes it.
 * Shorter: A cancels before it has watched anew: fail() finds `watching` false, deletes its node and leaves the watch on lock-0. */
#include "base/recipe.h"

void on_connected(struct recipe *r)
{
    int64_t session = zoo_client_id(r->zh)->client_id;
    if (r->session != 0 && r->session != session) {
        lose_session(r); /* and nobody has said so */
#ifndef FIXED
        ls_env_timer_stop(r->env, &r->reopen); /* this handle has its next session already: go on with it */
#else
        return;
#endif
    }
    r->connected = true;
    r->timeout_ms = zoo_recv_timeout(r->zh);
    if (r->session == 0) {
        r->session = session;
        tell_session(r, LS_REPORT_CONNECTED);
    } else if (r->was_suspended) {
        tell_session(r, LS_REPORT_RECONNECTED);
    }
    r->was_suspended = false;
    for (int i = 0; i < CLAIMS_MAX; i++) {
        struct claim *claim = &r->claim[i];
        if (claim->phase != FREE && claim->phase != HELD && claim->phase != WAITING && !claim->busy) {
            go(claim, (enum phase)claim->phase);
        }
    }
}
