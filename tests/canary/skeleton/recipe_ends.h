/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The functions of struct ls_recipe that end an attempt or a hold, in all skeletons. */
#ifndef CANARY_SKELETON_RECIPE_ENDS_H
#define CANARY_SKELETON_RECIPE_ENDS_H

static int cancel(void *state, int lock, int owner)
{
    struct claim *claim = find(state, lock, owner);
    if (claim == NULL || claim->phase == HELD) {
        return LS_ENOENT;
    }
    fail(claim, LS_ECANCELED);
    return 0;
}

static int release(void *state, int lock, int owner)
{
    struct claim *claim = find(state, lock, owner);
    if (claim == NULL || claim->phase != HELD) {
        return LS_ENOTOWNER;
    }
    if (--claim->depth == 0) {
        claim->freeing = true;
        go(claim, DELETING);
    }
    return 0;
}

#endif
