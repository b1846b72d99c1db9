/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A contender that has made the directory once does not make it again in the same acquire. It repeats the create instead.
 * It breaks the acquire of recipe.h: "Exactly one GRANTED or FAILED report follows". None ever does.
 * When an operator deletes the new directory at that moment, the client floods the servers with creates. */
/* breaks: bounded_work */
#include "base/recipe.h"

#ifndef FIXED
void on_created(int rc, const char *value, const struct Stat *stat, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    struct recipe *r = claim->recipe;
    if (!answered(claim, rc)) {
        if (r->session != 0 && !r->stopping) {
            lose_session(r);
        }
        return;
    }
    if (rc == ZNONODE) {
        bool made = directory(claim)[claim->parent] == 0; /* all of it */
        go(claim, claim->ended ? DELETING : made ? CREATING : MAKING_PARENT);
        return;
    }
    if (rc != ZOK) {
        if (claim->ended) {
            forget(claim);
        } else {
            fail(claim, rc == ZNODEEXISTS ? LS_ESEQUENCE : rc == ZNOAUTH ? LS_ENOAUTH : LS_EZK);
        }
        return;
    }
    claim->number = (int32_t)strtol(strrchr(value, '/') + 1 + strlen(PREFIX), NULL, 10);
    claim->czxid = stat->czxid;
    claim->named = true;
    if (claim->ended) {
        go(claim, DELETING);
    } else if (claim->number < 0) {
        fail(claim, LS_ESEQUENCE);
    } else {
        go(claim, LISTING);
    }
}
#endif
