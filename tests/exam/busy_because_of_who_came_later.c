/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A try looks whether it is alone in the list, and not whether it is first. Whoever came later makes the lock look taken.
 * recipe.h says of a timeout of 0: only if it is free now (LS_EBUSY otherwise). So a free lock is no reason for it.
 * Two processes that try at the same time are both told that the lock is busy, and nobody holds it. */
/* breaks: answers_have_reasons */
#include "base/recipe.h"

#ifndef FIXED
static int contenders(const struct String_vector *names)
{
    int count = 0;
    for (int i = 0; i < names->count; i++) {
        count += number_of(names->data[i]) >= 0;
    }
    return count;
}

void on_list(int rc, const struct String_vector *names, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    if (!answered(claim, rc)) {
        return;
    }
    if (claim->ended) {
        go(claim, DELETING);
    } else if (rc == ZNONODE || (rc == ZOK && !find_place(claim, names))) {
        claim->named = false;
        go(claim, CREATING);
    } else if (rc != ZOK) {
        fail(claim, rc == ZNOAUTH ? LS_ENOAUTH : LS_EZK);
    } else if (claim->trying && contenders(names) > 1) {
        fail(claim, LS_EBUSY);
    } else if (claim->ahead[0] == 0) {
        grant(claim);
    } else {
        go(claim, WATCHING);
    }
}
#endif
