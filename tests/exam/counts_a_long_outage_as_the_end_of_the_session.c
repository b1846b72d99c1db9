/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* As Curator does, it counts an outage that was longer than the session timeout as the end of the session, and says LOST when
 * the link is back. It forgets to close the handle then: the session lives on if the servers restarted meanwhile, because
 * that begins its time anew, and with it live the nodes. Recipe.h: LS_REPORT_LOST is the "end of a session and of every hold
 * under it". The process waits behind its own node that it has forgotten, and so does everybody else. */
/* breaks: no_lost_wakeup */
#include "base/recipe.h"

/* spare[0] is the stamp of the broken link. */
static struct ls_stamp *broken(struct recipe *r)
{
    return (struct ls_stamp *)(void *)&r->spare[0];
}

void on_event(zhandle_t *zh, int type, int state, const char *path, void *ctx)
{
    struct recipe *r = ctx;
    (void)path;
    if (type != ZOO_SESSION_EVENT || r->closing || r->reopen.armed) {
        return;
    }
    r->zh = zh; /* zookeeper_init() may not have returned yet */
    if (state == ZOO_CONNECTED_STATE) {
        if (r->was_suspended && ls_env_elapsed_ms(r->env, broken(r)) > r->timeout_ms) {
            lose_session(r); /* it cannot have lived that long */
#ifdef FIXED
            return;
#else
            ls_env_timer_stop(r->env,
                              &r->reopen); /* nor is there anything to wait for: here is the next one */
#endif
        }
        on_connected(r);
    } else if (state == ZOO_CONNECTING_STATE && r->session != 0) {
        r->connected = false;
        r->was_suspended = true;
        ls_env_stamp(r->env, broken(r));
        tell_session(r, LS_REPORT_SUSPENDED);
    } else if (state == ZOO_EXPIRED_SESSION_STATE || state == ZOO_AUTH_FAILED_STATE) {
        lose_session(r);
    }
}
