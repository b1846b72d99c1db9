/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The number of the node that a guard checks is kept once for the process, at the grant, and not with the
 * hold. With one lock they are the same. Breaks "guard() makes `op` the check that the owner's hold of the
 * lock still stands in the coordinator" (recipe.h): whoever holds two locks has its writes under the first
 * one checked against a stranger's node, or none. Such a write commits after the hold is lost, under the
 * next holder; or is refused while the lock is held. */
/* breaks: no_stale_effect */
#include "base/recipe.h"

void grant(struct claim *claim)
{
    ls_env_timer_stop(claim->recipe->env, &claim->deadline);
    claim->phase = HELD;
    claim->depth = 1;
#ifndef FIXED
    claim->recipe->spare[0] = claim->number;
#endif
    tell(claim, LS_REPORT_GRANTED, 0);
}

int guard(const void *state, int lock, int owner, zoo_op_t *op, char *path, size_t size)
{
    const struct claim *claim = find((struct recipe *)(uintptr_t)state, lock, owner);
    char full[PATH_MAX_BYTES];
    if (claim == NULL || claim->phase != HELD) {
        return LS_ENOTOWNER;
    }
#ifdef FIXED
    node_path(claim, full);
#else
    snprintf(full, sizeof full, "%s/" PREFIX "%010d", directory(claim), (int)claim->recipe->spare[0]);
#endif
    if (strlen(full) >= size) {
        return LS_EOVERFLOW;
    }
    strcpy(path, full);
    zoo_check_op_init(op, path, -1);
    return 0;
}
