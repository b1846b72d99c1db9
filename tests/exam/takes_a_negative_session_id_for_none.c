/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* "There is a session" is written as id > 0. A server puts its own number into the highest byte of the ids that it gives
 * out: those of a server with myid 128 or more are negative.
 * recipe.h says: LS_REPORT_LOST tells of the end of a session and of every hold under it.
 * A process connects to server 200 first, takes the lock, and its session expires in an outage. The hold goes without a
 * word, and the next thing that its caller hears is CONNECTED of another session. */
/* breaks: every_loss_is_told */
#include "base/recipe.h"

#ifndef FIXED
void lose_session(struct recipe *r)
{
    r->connected = false;
    if (r->session > 0) {
        tell_session(r, LS_REPORT_LOST);
    }
    r->session = 0;
    r->was_suspended = false;
    for (int i = 0; i < CLAIMS_MAX; i++) {
        struct claim *claim = &r->claim[i];
        claim->watching = false;
        if (claim->phase == HELD || claim->ended || claim->freeing) {
            forget(claim);
        } else if (claim->phase != FREE) {
            claim->phase = CREATING;
            claim->named = false;
        }
    }
    ls_env_timer_start(r->env, &r->reopen, "reopen-timer", 1, on_reopen, r);
}
#endif
