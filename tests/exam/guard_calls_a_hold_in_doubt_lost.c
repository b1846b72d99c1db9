/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Whoever is in doubt must not write, the author says, and lets guard() ask query() first: all but LS_HELD counts as lost.
 * But the check in the coordinator is there just for those in doubt.
 * recipe.h says: guard() makes `op` the check that the owner's hold still stands in the coordinator; LS_ELOST is the
 * code for a lost session, and a LOST report tells of that.
 * An owner holds the lock for longer than half its session timeout, on a link that stands all the time: each guarded
 * write of it is refused with LS_ELOST, while its node stands first in line and nobody has told of a loss. */
/* breaks: answers_have_reasons */
#include "base/recipe.h"

#ifndef FIXED
int guard(const void *state, int lock, int owner, zoo_op_t *op, char *path, size_t size)
{
    const struct claim *claim = find((struct recipe *)(uintptr_t)state, lock, owner);
    char full[PATH_MAX_BYTES];
    if (claim == NULL || claim->phase != HELD) {
        return LS_ENOTOWNER;
    }
    if (query(state, lock, owner) != LS_HELD) {
        return LS_ELOST;
    }
    node_path(claim, full);
    if (strlen(full) >= size) {
        return LS_EOVERFLOW;
    }
    strcpy(path, full);
    zoo_check_op_init(op, path, -1);
    return 0;
}
#endif
