/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Z16: queues again after a reconnection, and when its predecessor is gone before it can be watched.
 *
 * Source: CURATOR-644 and CURATOR-645, mended by pull request 430 of apache/curator; first seen as
 * CURATOR-504.
 *
 * A wants to watch the node of B, its predecessor. B loses its connection, comes back in the same session
 * and resets: it deletes its node and creates another one, behind A. A finds no predecessor to watch, takes
 * that for a fault, and resets as well. Now B wants to watch a node that is gone, and so on for ever. No
 * client holds the lock, and no single step is wrong. One report counts 2.6 million nodes in two hours.
 *
 * FIXED looks again when the predecessor is gone, and leaves a node that is still there where it is.
 *
 * Caught by served_under_weak_fairness: no request is refused, and yet no client is ever served. */
#include "skeleton/known_by_number.h"

static bool resets(struct claim *claim)
{
#ifndef FIXED
    bool waits = claim->phase == LISTING || claim->phase == WATCHING || claim->phase == WAITING;
    if (waits && !claim->busy) {
        clean_up(claim); /* deletes the node; on_deleted() creates another one */
        return true;
    }
#else
    (void)claim;
#endif
    return false;
}

static void ahead_is_gone(struct claim *claim)
{
#ifdef FIXED
    go(claim, LISTING);
#else
    clean_up(claim); /* that is no fault, and no reason to give the place up */
#endif
}

static const struct variation variation = {
    .queues_again = true, .reconnected = resets, .ahead_is_gone = ahead_is_gone};

CANARY(.name = "reset-on-reconnect",
       .summary =
           "queues again after a reconnection, and when its predecessor is gone before it can be watched",
       .breaks = "served_under_weak_fairness");
