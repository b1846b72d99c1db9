/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A cancel that comes before the node's name is known forgets the claim at once, for there is nothing to delete yet. The
 * create is still under way, and the next acquire takes the same claim.
 * recipe.h says of idle: true when no clean-up is left over. mutex.h says of a cancel: the janitor removes the node.
 * The next acquire takes the old create's answer for its own, and then finds that node before its other one. It waits
 * for itself, and nobody removes the node. */
/* breaks: no_orphan_node */
#include "base/recipe.h"

#ifndef FIXED
void fail(struct claim *claim, int rc)
{
    ls_env_timer_stop(claim->recipe->env, &claim->deadline);
    tell(claim, LS_REPORT_FAILED, rc);
    claim->ended = true;
    if (!claim->named) {
        forget(claim); /* there is no node */
    } else if (!claim->busy) {
        go(claim, claim->watching ? UNWATCHING : DELETING);
    }
}
#endif
