/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The end of a session is told to as many claims as are in use, counted from the first: but claims do not
 * lie side by side. A hold behind a gap, which an earlier release has left, outlives its session. It breaks
 * "LS_REPORT_LOST: end of a session and of every hold under it" (recipe.h). Harm: query() goes on to answer
 * LS_HELD under the next session, while another process is granted the lock. */
/* breaks: at_most_one_believer */
#include "base/recipe.h"

#ifndef FIXED
static int in_use(const struct recipe *r)
{
    int count = 0;
    for (int i = 0; i < CLAIMS_MAX; i++) {
        count += r->claim[i].phase != FREE;
    }
    return count;
}
#endif

void lose_session(struct recipe *r)
{
    r->connected = false;
    if (r->session != 0) {
        tell_session(r, LS_REPORT_LOST);
    }
    r->session = 0;
    r->was_suspended = false;
#ifdef FIXED
    for (int i = 0; i < CLAIMS_MAX; i++) {
#else
    for (int i = 0, left = in_use(r); i < left; i++) {
#endif
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
