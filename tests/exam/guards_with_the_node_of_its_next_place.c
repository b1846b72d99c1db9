/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* guard() asks whether the owner has a node, not whether the node's place is the first: of an owner who waits it makes a
 * check that the server passes.
 * recipe.h says: guard() makes `op` the check that the owner's hold of the lock still stands; it returns LS_ENOTOWNER.
 * The run: A loses its session and with it the lock, asks again at once and waits behind B. What A still has to write
 * from its first hold is guarded by its second node, which stands: it lands in the middle of B's hold. */
/* breaks: no_stale_effect */
#include "base/recipe.h"

int guard(const void *state, int lock, int owner, zoo_op_t *op, char *path, size_t size)
{
    const struct claim *claim = find((struct recipe *)(uintptr_t)state, lock, owner);
    char full[PATH_MAX_BYTES];
#ifndef FIXED
    if (claim == NULL || !claim->named) { /* the server will say whether the node is there */
#else
    if (claim == NULL || claim->phase != HELD) {
#endif
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
