/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Z28: takes its session along to a new handle, but not its watches.
 *
 * Source: pull request 170 and issue 151 of python-zk/kazoo, whose client library forgot its watches when
 * the connection was lost, while the lock recipe slept on one. The same root:
 * https://github.com/bonifaido/rust-zookeeper/issues/97 and https://github.com/go-zookeeper/zk/issues/83.
 *
 * When the link breaks, this recipe does not wait until its handle finds a server again. It closes the
 * handle and opens another one with the id of the same session. The session lives, and all nodes with it;
 * but watches belong to a handle. A claim that waits sleeps on a watch of which no event will ever come.
 * When its predecessor goes, during the outage or later, it sleeps on.
 *
 * FIXED wakes the claims that wait when the session has come back, and they look again.
 *
 * Caught by no_lost_wakeup. */
#define RECIPE_FIELDS                                                                                        \
    clientid_t id; /* of the session that moves: a next attempt may be needed */                             \
    bool moved;    /* the handle is new, the session is not */
#include "skeleton/known_by_number.h"

static bool wakes_up(struct claim *claim)
{
#ifdef FIXED
    if (claim->recipe->moved && claim->phase == WAITING) {
        claim->watching = false;
        claim->phase = LISTING;
    }
#else
    (void)claim;
#endif
    return false;
}

static const clientid_t *session_to_open(struct recipe *r)
{
    return r->session != 0 ? &r->id : NULL;
}

/* Whether the session cannot move to another handle. To close a handle that has a link would end the
 * session, and all requests must be answered. */
static bool keeps_handle(struct recipe *r)
{
    if (r->session != 0 && r->zh != NULL) {
        for (int i = 0; i < CLAIMS_MAX; i++) {
            if (r->claim[i].busy || zoo_state(r->zh) == ZOO_CONNECTED_STATE) {
                return true;
            }
        }
        r->id = *zoo_client_id(r->zh);
        r->moved = true;
    }
    return false;
}

static void on_event_of_any_handle(zhandle_t *zh, int type, int state, const char *path, void *ctx)
{
    struct recipe *r = ctx;
    (void)path;
    if (type != ZOO_SESSION_EVENT || r->stopping || (r->session == 0 && (r->closing || r->reopen.armed))) {
        return;
    }
    if (!r->closing) {
        r->zh = zh; /* zookeeper_init() may not have returned yet */
        ls_env_timer_stop(r->env, &r->reopen);
    }
    if (state == ZOO_CONNECTED_STATE && r->closing) {
        tell_session(r, LS_REPORT_RECONNECTED); /* and the connection has ended already */
    } else if (state == ZOO_CONNECTED_STATE) {
        on_connected(r);
        r->moved &= r->session == 0;
    } else if (state == ZOO_CONNECTING_STATE && r->session != 0) {
        r->connected = false;
        r->was_suspended = true;
        tell_session(r, LS_REPORT_SUSPENDED);
        if (!r->closing) {
            ls_env_timer_start(r->env, &r->reopen, "reopen-timer", 1, on_reopen, r);
        }
    } else if (state == ZOO_EXPIRED_SESSION_STATE || state == ZOO_AUTH_FAILED_STATE) {
        lose_session(r);
    }
}

static void on_synced(int rc, const char *value, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    (void)value;
    if (answered(claim, rc)) {
        int sent = ask_for_list(claim);
        claim->busy = sent == ZOK;
        if (sent == ZMARSHALLINGERROR) {
            lose_session(claim->recipe); /* the library is short of memory: no event follows */
        }
    }
}

/* The server of a new handle may be behind the server of the old handle, and has to catch up first. */
static int list_behind_sync(struct claim *claim)
{
    return zoo_async(claim->recipe->zh, directory(claim), on_synced, claim);
}

static const struct variation variation = {.on_event = on_event_of_any_handle,
                                           .session_to_open = session_to_open,
                                           .keeps_handle = keeps_handle,
                                           .reconnected = wakes_up,
                                           .list = list_behind_sync};

CANARY(.name = "watch-lost-on-reconnect",
       .summary = "takes its session along to a new handle, but not its watches", .breaks = "no_lost_wakeup");
