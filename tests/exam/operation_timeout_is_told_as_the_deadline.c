/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The recipe takes ZOPERATIONTIMEOUT for the end of the acquire. It is a lost answer like ZCONNECTIONLOSS, for which
 * the link decides what follows.
 * mutex.h says of LS_ETIMEDOUT: it comes at the deadline. Who waits for ever has none.
 * Some client libraries answer requests on a broken link so. A caller that waits without a deadline is told that it has
 * passed, and loses its place in line. */
/* breaks: answers_have_reasons */
#include "base/recipe.h"

#ifndef FIXED
void on_list(int rc, const struct String_vector *names, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    if (!answered(claim, rc)) {
        if (rc == ZOPERATIONTIMEOUT && claim->phase == LISTING && !claim->ended && !claim->recipe->stopping &&
            claim->recipe->session != 0) {
            fail(claim, LS_ETIMEDOUT); /* the server takes too long */
        }
        return;
    }
    if (claim->ended) {
        go(claim, DELETING);
    } else if (rc == ZNONODE || (rc == ZOK && !find_place(claim, names))) {
        claim->named = false;
        go(claim, CREATING);
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
