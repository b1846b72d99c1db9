/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* "Session expired", which a server answers while it closes the session and the link still stands, is not among the answers
 * of answered() that only say that the request is lost: the acquire fails with LS_EZK.
 * mutex.h: "A session that ends while the acquire waits does not end the acquire. The acquire then queues again under the
 * next session"; LS_EZK is for a request that "the server refused for another reason". A caller with an acquire without a
 * bound gives up though nothing was refused. */
/* breaks: answers_have_reasons */
#include "base/recipe.h"

bool answered(struct claim *claim, int rc)
{
    claim->busy = false;
    if (claim->recipe->stopping || claim->recipe->session == 0) {
        return false;
    }
#ifdef FIXED
    return rc != ZCONNECTIONLOSS && rc != ZOPERATIONTIMEOUT && rc != ZSESSIONEXPIRED && rc != ZCLOSING;
#else
    return rc != ZCONNECTIONLOSS && rc != ZOPERATIONTIMEOUT && rc != ZCLOSING;
#endif
}
