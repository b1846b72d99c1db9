/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The recipe takes any error of the watch request for "the node before ours is gone" and lists again at once.
 * If the node stands, but may not be read, the list shows it again, and so on without a pause.
 * mutex.h, ls_mutex_options: a lock needs "READ on others' contenders"; without it the outcome is LS_ENOAUTH.
 * The caller gets no answer, and the servers get a stream of requests as long as the node stands. */
/* breaks: bounded_work */
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
    } else {
        go(claim, stands ? WAITING : LISTING);
    }
}
#endif
