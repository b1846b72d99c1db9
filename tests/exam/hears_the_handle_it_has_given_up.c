/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Events are kept out only while the old handle is being closed. Between lose_session(), which gives a living session up
 * after a lost create or delete, and the timer that closes its handle, the handle may reconnect, and is believed.
 * recipe.h says: LOST is the end of a session; CONNECTED is the first connection of one.
 * Run: a create's answer is lost with the link, LOST is told, the link is back before the timer (1 ms, or a busy machine):
 * CONNECTED is told of the lost session, acquires go on in it, then the timer closes it, and LOST is told again. */
/* breaks: every_loss_is_told */
#include "base/recipe.h"

void on_event(zhandle_t *zh, int type, int state, const char *path, void *ctx)
{
    struct recipe *r = ctx;
    (void)path;
#ifndef FIXED
    if (type != ZOO_SESSION_EVENT || r->closing) {
#else
    if (type != ZOO_SESSION_EVENT || r->closing || r->reopen.armed) {
#endif
        return;
    }
    r->zh = zh; /* zookeeper_init() may not have returned yet */
    if (state == ZOO_CONNECTED_STATE) {
        on_connected(r);
    } else if (state == ZOO_CONNECTING_STATE && r->session != 0) {
        r->connected = false;
        r->was_suspended = true;
        tell_session(r, LS_REPORT_SUSPENDED);
    } else if (state == ZOO_EXPIRED_SESSION_STATE || state == ZOO_AUTH_FAILED_STATE) {
        lose_session(r);
    }
}
