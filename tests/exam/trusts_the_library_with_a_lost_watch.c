/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The answer to a waiter's watch request is lost with the link. The recipe goes on to wait, since the client library
 * sets its watches again after a reconnect. The library does that only for watches whose request was answered.
 * recipe.h, acquire: "Exactly one GRANTED or FAILED report follows"; here none follows.
 * The lock becomes free, nobody wakes the waiter, and all who queue behind it wait with it. */
/* breaks: no_lost_wakeup */
#include "base/recipe.h"

#ifndef FIXED
void on_watched(int rc, const char *value, int size, const struct Stat *stat, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    (void)value;
    (void)size;
    (void)stat;
    if (!answered(claim, rc)) {
        if (rc == ZCONNECTIONLOSS && !claim->ended && claim->phase == WATCHING && claim->watching) {
            claim->phase = WAITING; /* the library repeats its watches at the next connection */
        }
        return;
    }
    bool stands = rc == ZOK && claim->watching;
    claim->watching = stands;
    if (claim->ended) {
        go(claim, stands ? UNWATCHING : DELETING);
    } else if (rc != ZOK && rc != ZNONODE) {
        fail(claim, rc == ZNOAUTH ? LS_ENOAUTH : LS_EZK);
    } else {
        go(claim, stands ? WAITING : LISTING);
    }
}
#endif
