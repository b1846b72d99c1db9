/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The handle that was closed stays in the state until the next one takes its place. If zookeeper_init() fails meanwhile,
 * for want of memory or of an answer of the name server, it is closed once more at the next attempt, or by stop().
 * recipe.h says: handle() returns the present handle, or NULL if there is none.
 * The run: a session expires while host names cannot be looked up: a second zookeeper_close() of freed memory 100 ms
 * later, and until then a driver with a write to send is handed that memory. */
/* breaks: contract_is_kept */
#include "base/recipe.h"

void open_session(struct recipe *r)
{
    zhandle_t *zh = zookeeper_init(r->config->hosts, on_event, r->config->session_timeout_ms, NULL, r, 0);
    if (zh != NULL) {
        r->zh = zh;
    } else {
        ls_env_timer_start(r->env, &r->reopen, "reopen-timer", 100, on_reopen, r);
    }
}

void close_session(struct recipe *r)
{
    zhandle_t *zh = r->zh;
#ifdef FIXED
    r->zh = NULL;
#endif
    r->connected = false;
    r->closing = true;
    if (zh != NULL) {
        zookeeper_close(zh); /* after this nobody calls us for it */
    }
    r->closing = false;
    for (int i = 0; i < CLAIMS_MAX; i++) {
        r->claim[i].busy = false;
    }
}
