/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The recipe counts how many contenders stand before its node. If there is one, its deletion grants the lock without
 * another look at the list. The operator may have deleted the recipe's own node together with that one.
 * recipe.h, LS_REPORT_GRANTED: the token is the czxid of the contender node, and here there is no such node.
 * The next client that asks finds an empty directory and is granted the lock too: two clients hold it. */
/* breaks: hold_keeps_its_node */
#include "base/recipe.h"

#ifndef FIXED
static int before(const struct claim *claim, const struct String_vector *names)
{
    int count = 0;
    for (int i = 0; i < names->count; i++) {
        int32_t number = number_of(names->data[i]);
        count += number >= 0 && number < claim->number;
    }
    return count;
}

bool find_place(struct claim *claim, const struct String_vector *names)
{
    int32_t nearest = -1;
    bool found = false;
    for (int i = 0; i < names->count; i++) {
        int32_t number = number_of(names->data[i]);
        found |= number == claim->number;
        if (number >= 0 && number < claim->number && number > nearest) {
            nearest = number;
            snprintf(claim->ahead, sizeof claim->ahead, "%s", names->data[i]);
        }
    }
    if (nearest < 0) {
        memset(claim->ahead, 0, sizeof claim->ahead);
    }
    claim->spare[0] = before(claim, names);
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
    if (claim->phase == WAITING && type == ZOO_DELETED_EVENT && claim->spare[0] == 1) {
        grant(claim); /* nobody can have come between */
    } else if (claim->phase == WAITING) {
        go(claim, LISTING);
    }
}
#endif
