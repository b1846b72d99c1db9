/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The guard of a write is built from the first node that the process has in the lock's directory. If another owner of
 * the process has queued again meanwhile, that owner's waiting node comes first.
 * recipe.h, guard: the check "that the owner's hold of the lock still stands in the coordinator".
 * A write that is sent again after the release still passes, since the other node stands: the next holder's data change. */
/* breaks: no_stale_effect */
#include "base/recipe.h"

#ifndef FIXED
/* The claim that has our node in this lock's directory. */
static const struct claim *with_node(const struct recipe *r, int lock)
{
    for (int i = 0; i < CLAIMS_MAX; i++) {
        const struct claim *claim = &r->claim[i];
        if (claim->phase != FREE && claim->lock == lock && claim->named && !claim->ended && !claim->freeing) {
            return claim;
        }
    }
    return NULL;
}

int guard(const void *state, int lock, int owner, zoo_op_t *op, char *path, size_t size)
{
    const struct claim *claim = find((struct recipe *)(uintptr_t)state, lock, owner);
    char full[PATH_MAX_BYTES];
    if (claim == NULL || claim->phase != HELD) {
        return LS_ENOTOWNER;
    }
    node_path(with_node(state, lock), full);
    if (strlen(full) >= size) {
        return LS_EOVERFLOW;
    }
    strcpy(path, full);
    zoo_check_op_init(op, path, -1);
    return 0;
}
#endif
