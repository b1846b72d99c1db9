/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The guard looks for a hold of the owner, and forgets to compare the lock.
 * It breaks "the check that the owner's hold of the lock still stands in the coordinator" of recipe.h.
 * An owner of two locks has its writes for the second guarded by the node of the first.
 * A write under an outlived grant of the second lock commits. */
/* breaks: no_stale_effect */
#include "base/recipe.h"

int guard(const void *state, int lock, int owner, zoo_op_t *op, char *path, size_t size)
{
    const struct recipe *r = state;
    const struct claim *claim = NULL;
    char full[PATH_MAX_BYTES];
    for (int i = 0; i < CLAIMS_MAX && claim == NULL; i++) {
        bool fits = r->claim[i].phase == HELD && r->claim[i].owner == owner;
#ifdef FIXED
        fits = fits && r->claim[i].lock == lock;
#else
        (void)lock;
#endif
        claim = fits ? &r->claim[i] : NULL;
    }
    if (claim == NULL) {
        return LS_ENOTOWNER;
    }
    node_path(claim, full);
    if (strlen(full) >= size) {
        return LS_EOVERFLOW;
    }
    strcpy(path, full);
    zoo_check_op_init(op, path, -1);
    return 0;
}
