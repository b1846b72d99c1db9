/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A refusal of the watch is handed on as it came: the code of ZooKeeper in place of one of enum ls_err. Both are
 * negative ints, so no compiler objects, and the other answers do translate theirs.
 * recipe.h says: FAILED carries rc, a negative enum ls_err.
 * The node ahead has an ACL without read permission, which the list of the directory does not need: the waiter's get is
 * refused, and its caller is told -102, which is no code of this interface. */
/* breaks: answers_have_reasons */
#include "base/recipe.h"

#ifndef FIXED
void on_watched(int rc, const char *value, int size, const struct Stat *stat, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    (void)value;
    (void)size;
    (void)stat;
    if (!answered(claim, rc)) {
        return;
    }
    bool stands = rc == ZOK && claim->watching; /* else it has gone already */
    claim->watching = stands;
    if (claim->ended) {
        go(claim, stands ? UNWATCHING : DELETING);
    } else if (rc != ZOK && rc != ZNONODE) {
        fail(claim, rc);
    } else {
        go(claim, stands ? WAITING : LISTING);
    }
}
#endif
