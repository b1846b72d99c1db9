/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* At each reconnect the holds are stamped: "the server has just confirmed the session". What counts is when
 * it was asked, not when its answer is looked at: a process that stops with the answer in its socket
 * believes again when it goes on. recipe.h: LS_UNKNOWN if "the safe time has run out"; mutex.h: LS_HELD if
 * "a write or sync that was sent within the margin has confirmed the session". The session is over by then,
 * and another process holds the lock and believes so. */
/* breaks: belief_ends_in_time */
#include "base/recipe.h"

void on_connected(struct recipe *r)
{
    int64_t session = zoo_client_id(r->zh)->client_id;
    if (r->session != 0 && r->session != session) {
        lose_session(r); /* and nobody has said so */
        return;
    }
    r->connected = true;
    r->timeout_ms = zoo_recv_timeout(r->zh);
    if (r->session == 0) {
        r->session = session;
        tell_session(r, LS_REPORT_CONNECTED);
    } else if (r->was_suspended) {
#ifndef FIXED
        for (int i = 0; i < CLAIMS_MAX; i++) {
            if (r->claim[i].phase == HELD) {
                ls_env_stamp(r->env, &r->claim[i].sent); /* the session has been confirmed */
            }
        }
#endif
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
