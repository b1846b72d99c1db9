/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The recipe counts acquires that end, and counts back only those whose node was made.
 * It breaks "true when no clean-up is left over" of recipe.h: idle() says false with nothing left to do.
 * A service that waits for the clean-up before it stops hangs, after one acquire that ended in an outage. */
/* breaks: contract_is_kept */
#include "base/recipe.h"

void forget(struct claim *claim)
{
    bool cleaned = claim->ended;
    struct recipe *r = claim->recipe;
    ls_env_timer_stop(r->env, &claim->deadline);
    if (claim->freeing) {
        tell(claim, LS_REPORT_FREED, 0);
    }
#ifdef FIXED
    r->spare[0] -= cleaned;
#else
    r->spare[0] -= cleaned && claim->named;
#endif
    clear(claim, r);
    if (cleaned) {
        ls_report(r->env, &(struct ls_report){.kind = LS_REPORT_IDLE});
    }
}

void fail(struct claim *claim, int rc)
{
    ls_env_timer_stop(claim->recipe->env, &claim->deadline);
    tell(claim, LS_REPORT_FAILED, rc);
    claim->ended = true;
    claim->recipe->spare[0]++;
    if (!claim->busy) {
        go(claim, claim->watching ? UNWATCHING : DELETING);
    }
}

bool idle(const void *state)
{
    return ((const struct recipe *)state)->spare[0] == 0;
}
