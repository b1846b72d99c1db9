/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Read-only servers are accepted where the configuration says so, and both states in which there is a link are one branch: "what
 * the server does not take it will refuse". session.h: "connected to a server without a quorum, to which no requests are sent";
 * recipe.h wants READ_ONLY told, and here it is RECONNECTED. A server without a quorum refuses the delete of a
 * release (-119), and like any answer to a delete that is the end of the claim: the owner is told that the lock is free, and its
 * node stands in the line as long as the session lives. */
/* breaks: no_orphan_node */
#include "base/recipe.h"

void open_session(struct recipe *r)
{
    zhandle_t *zh = zookeeper_init(r->config->hosts, on_event, r->config->session_timeout_ms, NULL, r,
                                   r->config->read_only ? ZOO_READONLY : 0);
    r->zh = r->zh != NULL ? r->zh : zh; /* callbacks may have run already */
    if (r->zh == NULL) {
        ls_env_timer_start(r->env, &r->reopen, "reopen-timer", 100, on_reopen, r);
    }
}

void on_event(zhandle_t *zh, int type, int state, const char *path, void *ctx)
{
    struct recipe *r = ctx;
    (void)path;
    if (type != ZOO_SESSION_EVENT || r->closing || r->reopen.armed) {
        return;
    }
    r->zh = zh; /* zookeeper_init() may not have returned yet */
#ifdef FIXED
    if (state == ZOO_READONLY_STATE) {
        tell_session(r, LS_REPORT_READ_ONLY);
    } else if (state == ZOO_CONNECTED_STATE) {
#else
    if (state == ZOO_CONNECTED_STATE || state == ZOO_READONLY_STATE) {
#endif
        on_connected(r);
    } else if (state == ZOO_CONNECTING_STATE && r->session != 0) {
        r->connected = false;
        r->was_suspended = true;
        tell_session(r, LS_REPORT_SUSPENDED);
    } else if (state == ZOO_EXPIRED_SESSION_STATE || state == ZOO_AUTH_FAILED_STATE) {
        lose_session(r);
    }
}
