/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Whoever is told ZNOAUTH is thought to have made no node, and is forgotten at once. True of creates; but the list and
 * the watch need READ, the create needs CREATE. recipe.h says: clean-up that is left over, such as a node to delete, is
 * the recipe's (idle()). Run: the directory's ACL gives CREATE and DELETE, not READ (or loses READ while one waits):
 * the acquire fails with LS_ENOAUTH, its node stays in line while the session lives, and others wait behind it. */
/* breaks: no_orphan_node */
#include "base/recipe.h"

#ifndef FIXED
void fail(struct claim *claim, int rc)
{
    ls_env_timer_stop(claim->recipe->env, &claim->deadline);
    tell(claim, LS_REPORT_FAILED, rc);
    claim->ended = true;
    if (claim->busy) {
        return;
    }
    if (rc == LS_ENOAUTH && !claim->watching) {
        forget(claim); /* we were not let in: there is nothing of ours */
    } else {
        go(claim, claim->watching ? UNWATCHING : DELETING);
    }
}
#endif
