/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The recipe clears a claim before it tells that the release is complete, so that the callback may use it again. The
 * lock and the owner are zero by then.
 * recipe.h says of LS_REPORT_FREED: lock, owner, rc.
 * The owner of the second lock never hears of its release. The first lock's owner is told of one that it has not asked
 * for. */
/* breaks: contract_is_kept */
#include "base/recipe.h"

#ifndef FIXED
void forget(struct claim *claim)
{
    bool cleaned = claim->ended;
    bool freed = claim->freeing;
    struct recipe *r = claim->recipe;
    ls_env_timer_stop(r->env, &claim->deadline);
    clear(claim, r);
    if (freed) {
        tell(claim, LS_REPORT_FREED, 0);
    }
    if (cleaned) {
        ls_report(r->env, &(struct ls_report){.kind = LS_REPORT_IDLE});
    }
}
#endif
