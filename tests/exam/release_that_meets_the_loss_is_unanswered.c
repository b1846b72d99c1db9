/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* When the session is lost the recipe clears what was held and what was given back alike, for no node is left of either.
 * A release that was under way is not answered.
 * recipe.h says of release: 0: no longer held after the last level, FREED follows then.
 * The caller waits for the end of its release for ever. A blocking release hangs. */
/* breaks: answers_have_reasons */
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
        if (claim->phase == HELD || claim->freeing) {
            clear(claim, r); /* the loss says it all */
        } else if (claim->ended) {
            forget(claim);
        } else if (claim->phase != FREE) {
            claim->phase = CREATING;
            claim->named = false;
        }
    }
    ls_env_timer_start(r->env, &r->reopen, "reopen-timer", 1, on_reopen, r);
}
#endif
