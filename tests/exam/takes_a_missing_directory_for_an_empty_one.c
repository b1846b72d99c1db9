/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The recipe takes the answer "there is no such directory" for an empty list, so nobody is ahead of it.
 * It breaks "GRANTED: acquire succeeded: token (czxid of the contender node)" of recipe.h: that node is gone with the directory.
 * The next client makes the directory again and is granted the lock too. Two clients hold it at once. */
/* breaks: hold_keeps_its_node */
#include "base/recipe.h"

#ifndef FIXED
void on_list(int rc, const struct String_vector *names, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    if (!answered(claim, rc)) {
        return;
    }
    if (rc == ZNONODE) {
        claim->ahead[0] = 0; /* nobody is there */
        rc = ZOK;
    } else if (rc == ZOK && !find_place(claim, names)) {
        claim->named = false;
        go(claim, claim->ended ? DELETING : CREATING);
        return;
    }
    if (claim->ended) {
        go(claim, DELETING);
    } else if (rc != ZOK) {
        fail(claim, rc == ZNOAUTH ? LS_ENOAUTH : LS_EZK);
    } else if (claim->ahead[0] == 0) {
        grant(claim);
    } else if (claim->trying) {
        fail(claim, LS_EBUSY);
    } else {
        go(claim, WATCHING);
    }
}
#endif
