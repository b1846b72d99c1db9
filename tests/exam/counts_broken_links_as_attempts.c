/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Each answer that is lost counts as a failed attempt of the acquire, and the third one ends it with LS_EZK, "so that nobody
 * tries for ever".
 * session.h: "A broken link uses up no attempt, because the client library repairs it. Requests that were lost with the link
 * are repeated when it is back"; the default policy is LS_RETRY_FOREVER. A caller that waits without a bound loses its place
 * in line and its acquire, though no server has refused anything and the session lives. */
/* breaks: answers_have_reasons */
#include "base/recipe.h"

bool answered(struct claim *claim, int rc)
{
    claim->busy = false;
    if (claim->recipe->stopping || claim->recipe->session == 0) {
        return false;
    }
    bool lost = rc == ZCONNECTIONLOSS || rc == ZOPERATIONTIMEOUT || rc == ZSESSIONEXPIRED || rc == ZCLOSING;
#ifndef FIXED
    if (lost && !claim->ended && !claim->freeing && ++claim->spare[0] == 3) {
        fail(claim, LS_EZK);
    }
#endif
    return !lost;
}
