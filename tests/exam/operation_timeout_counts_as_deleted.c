/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The delete of a node is repeated after a connection loss, but not after an operation timeout. The recipe takes
 * ZOPERATIONTIMEOUT for an answer of the server. No server has answered, and the node may still stand.
 * recipe.h, LS_REPORT_FREED: "the release is complete, the node is gone or the janitor's"; here it is neither.
 * The recipe reports FREED and forgets the node, so all others wait behind it as long as the process lives. */
/* breaks: no_orphan_node */
#include "base/recipe.h"

#ifndef FIXED
void on_deleted(int rc, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    if (answered(claim, rc) ||
        (rc == ZOPERATIONTIMEOUT && claim->recipe->session != 0 && !claim->recipe->stopping)) {
        forget(claim); /* ZNONODE and the like: there is nothing to delete */
    }
}
#endif
