/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* When the link is back under another session id, the recipe takes the id over and goes on as after any outage.
 * session.h says of LS_SESSION_RECONNECTED: the link is back, same session. It says of LS_SESSION_LOST: all held locks
 * are lost, once between two session ids.
 * The nodes went with the former session. A holder goes on believing while somebody else is granted the lock, and a
 * waiter sleeps without a node. */
/* breaks: every_loss_is_told */
#include "base/recipe.h"

#ifndef FIXED
void on_connected(struct recipe *r)
{
    bool first = r->session == 0;
    r->session = zoo_client_id(r->zh)->client_id;
    r->connected = true;
    r->timeout_ms = zoo_recv_timeout(r->zh);
    if (first) {
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
#endif
