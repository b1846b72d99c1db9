/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A cancel during an outage skips the removal of the watch. The recipe takes the watch for gone with the link.
 * The client library sets its watches again when the link is back, so this one stands after all.
 * mutex.h, ls_mutex_cancel: what is left is the janitor's to remove; session.h: "every node and watch of ended attempts".
 * A client that gives up often collects watches, and each of them wakes it for nothing. */
/* breaks: no_watch_left_behind */
#include "base/recipe.h"

#ifndef FIXED
void fail(struct claim *claim, int rc)
{
    ls_env_timer_stop(claim->recipe->env, &claim->deadline);
    tell(claim, LS_REPORT_FAILED, rc);
    claim->ended = true;
    if (!claim->recipe->connected) {
        claim->watching = false; /* it went with the link */
    }
    if (!claim->busy) {
        go(claim, claim->watching ? UNWATCHING : DELETING);
    }
}
#endif
