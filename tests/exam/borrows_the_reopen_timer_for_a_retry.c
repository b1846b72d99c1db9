/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A server that is too busy to take the delete of a node (-127) is asked again after half a second. The timer is that of the
 * session, which is free as long as the session lives, instead of one more in each claim. But while that timer is armed
 * on_event() passes over all session events, as those of a handle that is about to be closed: a link that breaks and a session
 * that ends in this half second are never told. recipe.h: "LS_REPORT_SUSPENDED: end of a link", "LS_REPORT_LOST: end of a
 * session and of every hold under it". If it was the session, no other one is ever opened, and nobody is answered again. */
/* breaks: every_loss_is_told */
#include "base/recipe.h"

#ifdef FIXED
#define RETRY_TIMER(claim) (&(claim)->deadline) /* nobody has a deadline any more whose node is deleted */
#else
#define RETRY_TIMER(claim) (&(claim)->recipe->reopen)
#endif

static void on_retry(void *ctx)
{
    struct claim *claim = ctx;
    struct ls_env *env = claim->recipe->env;
    ls_env_unlock(env);
    if (claim->phase == DELETING && !claim->busy) {
        go(claim, DELETING);
    }
    ls_env_lock(env);
}

void on_deleted(int rc, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    struct recipe *r = claim->recipe;
    if (!answered(claim, rc)) {
        if (r->session != 0 && !r->stopping) {
            lose_session(r); /* by now the name may be that of another's node */
        }
        return;
    }
    if (rc == ZOK || rc == ZNONODE || rc == ZNOAUTH) {
        forget(claim);
        return;
    }
    ls_env_lock(r->env);
    rc = ls_env_timer_start(r->env, RETRY_TIMER(claim), "retry-timer", 500, on_retry, claim);
    ls_env_unlock(r->env);
    if (rc != 0) {
        lose_session(r);
    }
}
