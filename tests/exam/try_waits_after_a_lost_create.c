/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* When the session is lost the recipe puts what is pending back to its start. It keeps the lock, the owner and the
 * deadline, and not that the owner only tries.
 * recipe.h says of an acquire: 0: only if it is free now (LS_EBUSY otherwise).
 * A try whose create was lost becomes an acquire without a deadline. The caller that must not wait waits for as long as
 * somebody else holds the lock. */
/* breaks: answers_have_reasons */
#include "base/recipe.h"

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
            *claim = (struct claim){
                .recipe = r,
                .phase = CREATING,
                .lock = claim->lock,
                .owner = claim->owner,
                .busy = claim->busy,
                .deadline = claim->deadline,
#ifdef FIXED
                .trying = claim->trying,
#endif
            };
        }
    }
    ls_env_timer_start(r->env, &r->reopen, "reopen-timer", 1, on_reopen, r);
}
