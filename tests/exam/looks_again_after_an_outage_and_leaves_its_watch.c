/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Looks again for its place after each outage, as Curator does, whose watchers hear of the session too, and keeps the watch
 * that it has if the same one is still ahead. If it does not find its own node any more, because an operator has removed it,
 * it goes to the end of the line and overwrites the name that its old watch stands on. Session.h: idle means that "no node
 * and no watch of an ended attempt is left"; mutex.h: a request costs one watch. The old watch stays as long as the node that
 * it stands on, outlives the wait, and its wake-up wakes a process that waits behind somebody else. */
/* breaks: no_watch_left_behind */
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
        tell_session(r, LS_REPORT_RECONNECTED);
    }
    r->was_suspended = false;
    for (int i = 0; i < CLAIMS_MAX; i++) {
        struct claim *claim = &r->claim[i];
        if (claim->phase == WAITING) {
            claim->phase = LISTING; /* who knows what has happened meanwhile */
        }
        if (claim->phase != FREE && claim->phase != HELD && !claim->busy) {
            go(claim, (enum phase)claim->phase);
        }
    }
}

void on_list(int rc, const struct String_vector *names, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    char before[sizeof claim->ahead];
    if (!answered(claim, rc)) {
        return;
    }
    memcpy(before, claim->ahead, sizeof before);
    if (claim->ended) {
        go(claim, claim->watching ? UNWATCHING : DELETING);
    } else if (rc == ZNONODE || (rc == ZOK && !find_place(claim, names))) {
        claim->named = false; /* somebody has removed our node: back to the end of the line */
#ifdef FIXED
        memcpy(claim->ahead, before, sizeof before);
        go(claim, claim->watching ? UNWATCHING : CREATING);
#else
        go(claim, CREATING);
#endif
    } else if (rc != ZOK) {
        fail(claim, rc == ZNOAUTH ? LS_ENOAUTH : LS_EZK);
    } else if (claim->ahead[0] == 0) {
        grant(claim);
    } else if (claim->trying) {
        fail(claim, LS_EBUSY);
    } else {
        go(claim, claim->watching && strcmp(claim->ahead, before) == 0 ? WAITING : WATCHING);
    }
}

void on_unwatched(int rc, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    if (answered(claim, rc)) {
        claim->watching = false;
        go(claim, claim->ended ? DELETING : CREATING);
    }
}
