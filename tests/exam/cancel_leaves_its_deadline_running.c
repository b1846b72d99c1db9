/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A cancel answers the acquire and leaves the rest to the clean-up, which stops the deadline's timer at its end. If
 * the link is down the clean-up waits, and the timer fires.
 * recipe.h says: exactly one GRANTED or FAILED report follows.
 * The caller is told of the timeout of an acquire that it gave up long ago. By then it may wait for another one, and
 * take the answer for that one's. */
/* breaks: answers_have_reasons */
#include "base/recipe.h"

#ifndef FIXED
int cancel(void *state, int lock, int owner)
{
    struct claim *claim = find(state, lock, owner);
    if (claim == NULL || claim->phase == HELD) {
        return LS_ENOENT;
    }
    tell(claim, LS_REPORT_FAILED, LS_ECANCELED);
    claim->ended = true;
    if (!claim->busy) {
        go(claim, claim->watching ? UNWATCHING : DELETING);
    }
    return 0;
}
#endif
