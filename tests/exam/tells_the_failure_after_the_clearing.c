/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A failed acquire is cleaned up first and reported then. If there is no node to delete, the clean-up ends at once
 * and clears the claim. The report then names lock 0 and owner 0, whoever has asked.
 * recipe.h, LS_REPORT_FAILED: "acquire ended without the lock: lock, owner, rc".
 * The owner who asked waits for ever for an answer, and another one is told of a failure that it did not have. */
/* breaks: answers_have_reasons */
#include "base/recipe.h"

#ifndef FIXED
void fail(struct claim *claim, int rc)
{
    ls_env_timer_stop(claim->recipe->env, &claim->deadline);
    claim->ended = true;
    if (!claim->busy) {
        go(claim, claim->watching ? UNWATCHING : DELETING);
    }
    tell(claim, LS_REPORT_FAILED, rc);
}
#endif
