/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* "Tokens grow": a grant whose token is not larger than the last one that this process was given gets the
 * last one. But that one may be of another lock, asked for later and granted sooner. Breaks "token (czxid
 * of the contender node)" (recipe.h, LS_REPORT_GRANTED) and "Every later grant has a larger token"
 * (mutex.h): the next holder's token, of a node between, is smaller, and the resource refuses its writes
 * and takes those of the old holder. */
/* breaks: no_stale_effect */
#include "base/recipe.h"

void grant(struct claim *claim)
{
    ls_env_timer_stop(claim->recipe->env, &claim->deadline);
    claim->phase = HELD;
    claim->depth = 1;
#ifndef FIXED
    struct recipe *r = claim->recipe;
    if (claim->czxid < r->spare[0]) {
        claim->czxid = r->spare[0];
    }
    r->spare[0] = claim->czxid;
#endif
    tell(claim, LS_REPORT_GRANTED, 0);
}
