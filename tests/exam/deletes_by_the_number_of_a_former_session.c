/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The recipe does not forget the number of its node when the session ends, but only when the next create is sent.
 * A cancel between the two deletes the node with that number. A new directory has given the number to somebody else.
 * It breaks "0: no longer held after the last level" of recipe.h: that one's node is deleted before his release.
 * The next in line is granted the lock while he still works. */
/* breaks: hold_keeps_its_node */
#include "base/recipe.h"

#ifndef FIXED
void lose_session(struct recipe *r)
{
    r->connected = false;
    if (r->session != 0) {
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
            claim->phase = CREATING; /* which forgets the number */
        }
    }
    ls_env_timer_start(r->env, &r->reopen, "reopen-timer", 1, on_reopen, r);
}
#endif
