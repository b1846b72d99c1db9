/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A deadline that passes before anything was asked needs no clean-up. This short way out does not take the mutex again.
 * It breaks "fn may drop it meanwhile, but returns with it held" of env.h, and recipe.h's rules for the mutex.
 * The environment's timer thread goes on without the mutex. Two threads then work on the same state. */
/* breaks: contract_is_kept */
#include "base/recipe.h"

void on_deadline(void *ctx)
{
    struct claim *claim = ctx;
    struct recipe *r = claim->recipe;
    ls_env_unlock(r->env);
    if (claim->phase == CREATING && !claim->busy && !r->connected) {
        tell(claim, LS_REPORT_FAILED, LS_ETIMEDOUT); /* nothing was asked: nothing to clean up */
        clear(claim, r);
#ifdef FIXED
        ls_env_lock(r->env);
#endif
        return;
    }
    fail(claim, LS_ETIMEDOUT);
    ls_env_lock(r->env);
}
