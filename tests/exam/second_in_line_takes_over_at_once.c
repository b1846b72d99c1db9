/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A waiter with one contender before it is granted the lock as soon as that node is deleted: nobody else
 * was before it, and whoever has come since is behind. But the directory may have been deleted as a whole,
 * and its own node with it. It breaks "each owner has a contender node of its own, so that owners exclude
 * each other" and "every later grant has a larger token, even if the parent was deleted and created again"
 * (mutex.h): the hold has no node. Harm: who comes first into the new directory holds at the same time. */
/* breaks: at_most_one_believer */
#include "base/recipe.h"

/* spare[0] of a claim: how many contenders were before it in the last list */

bool find_place(struct claim *claim, const struct String_vector *names)
{
    int32_t nearest = -1;
    bool found = false;
    claim->spare[0] = 0;
    for (int i = 0; i < names->count; i++) {
        int32_t number = number_of(names->data[i]);
        found |= number == claim->number;
        claim->spare[0] += number >= 0 && number < claim->number;
        if (number >= 0 && number < claim->number && number > nearest) {
            nearest = number;
            snprintf(claim->ahead, sizeof claim->ahead, "%s", names->data[i]);
        }
    }
    if (nearest < 0) {
        memset(claim->ahead, 0, sizeof claim->ahead);
    }
    return found;
}

void on_ahead(zhandle_t *zh, int type, int state, const char *path, void *ctx)
{
    struct claim *claim = ctx;
    struct recipe *r = claim->recipe;
    (void)state;
    const char *name = path != NULL ? strrchr(path, '/') : NULL;
    bool ours = zh == r->zh && claim->watching && name != NULL && strcmp(name + 1, claim->ahead) == 0;
    if (type == ZOO_SESSION_EVENT || !ours) {
        return;
    }
    claim->watching = false;
    if (claim->phase != WAITING) {
        return;
    }
#ifndef FIXED
    if (type == ZOO_DELETED_EVENT && claim->spare[0] == 1) {
        memset(claim->ahead, 0, sizeof claim->ahead);
        grant(claim); /* it was the only one before us */
        return;
    }
#endif
    go(claim, LISTING);
}
