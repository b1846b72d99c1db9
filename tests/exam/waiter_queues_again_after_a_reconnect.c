/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* After a reconnect a waiter trusts neither its node nor its watch. The waiter deletes its node and queues again.
 * The session is the same, so the old node stood and kept the place in line.
 * mutex.h, ls_mutex_acquire_start: only "a session that dies while the acquire waits" sends a waiter to the end.
 * A client with a bad link is overtaken by all who came later, at each break. */
/* breaks: granted_in_order */
#include "base/recipe.h"

#ifndef FIXED
void on_deleted(int rc, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    if (!answered(claim, rc)) {
        return;
    }
    if (claim->ended || claim->freeing) {
        forget(claim);
    } else {
        claim->named = false;
        go(claim, CREATING); /* it still waits: with a fresh node */
    }
}

void on_connected(struct recipe *r)
{
    int64_t session = zoo_client_id(r->zh)->client_id;
    if (r->session != 0 && r->session != session) {
        lose_session(r);
        return;
    }
    r->connected = true;
    r->timeout_ms = zoo_recv_timeout(r->zh);
    bool again = r->session != 0 && r->was_suspended;
    if (r->session == 0) {
        r->session = session;
        tell_session(r, LS_REPORT_CONNECTED);
    } else if (r->was_suspended) {
        tell_session(r, LS_REPORT_RECONNECTED);
    }
    r->was_suspended = false;
    for (int i = 0; i < CLAIMS_MAX; i++) {
        struct claim *claim = &r->claim[i];
        if (again && claim->phase == WAITING && !claim->busy) {
            go(claim, UNWATCHING); /* and then deletes its node */
        } else if (claim->phase != FREE && claim->phase != HELD && claim->phase != WAITING && !claim->busy) {
            go(claim, (enum phase)claim->phase);
        }
    }
}
#endif
