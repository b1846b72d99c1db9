/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* cancel() looks for the owner's claim by itself and forgets that a release under way is a claim too. If
 * the owner has released and asked again before FREED, the cancel meets the release. Breaks "Gives a
 * pending acquire up: a FAILED report with LS_ECANCELED follows" (recipe.h, cancel) and "exactly one
 * GRANTED or FAILED report follows": the FAILED report is told of the wrong attempt, the pending acquire
 * goes on and is granted later to a caller who has turned away, and holds the lock for ever. */
/* breaks: answers_have_reasons */
#include "base/recipe.h"

int cancel(void *state, int lock, int owner)
{
    struct recipe *r = state;
    struct claim *claim = r->claim;
    while (claim < r->claim + CLAIMS_MAX &&
           (claim->phase == FREE || claim->ended || claim->lock != lock || claim->owner != owner
#ifdef FIXED
            || claim->freeing
#endif
            )) {
        claim++;
    }
    if (claim == r->claim + CLAIMS_MAX || claim->phase == HELD) {
        return LS_ENOENT;
    }
    fail(claim, LS_ECANCELED);
    return 0;
}
