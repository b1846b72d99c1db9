/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The client reports each failed attempt to connect, so the recipe passes over a second CONNECTING in one outage. It
 * forgets to clear the mark when the link is back.
 * recipe.h says of LS_REPORT_SUSPENDED: the link is gone. It says of LS_UNKNOWN: the link is down.
 * The first outage of a process is handled, the second one is not. A holder that is cut off again believes, until the
 * margin is used up, that nothing has happened. */
/* breaks: every_loss_is_told */
#include "base/recipe.h"

/* 1: this outage has been told, until the link is back or the session is over */
#define outage_told spare[1]

void on_event(zhandle_t *zh, int type, int state, const char *path, void *ctx)
{
    struct recipe *r = ctx;
    (void)path;
    if (type != ZOO_SESSION_EVENT || r->closing || r->reopen.armed) {
        return;
    }
    r->zh = zh;
    if (state == ZOO_CONNECTED_STATE) {
#ifdef FIXED
        r->outage_told = 0;
#endif
        on_connected(r);
    } else if (state == ZOO_CONNECTING_STATE && r->session != 0) {
        if (r->outage_told == 0) {
            r->outage_told = 1;
            r->connected = false;
            r->was_suspended = true;
            tell_session(r, LS_REPORT_SUSPENDED);
        }
    } else if (state == ZOO_EXPIRED_SESSION_STATE || state == ZOO_AUTH_FAILED_STATE) {
        r->outage_told = 0;
        lose_session(r);
    }
}
