/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* C01: a watch outlives the wait that it was armed for, and asks for the lock again.
 *
 * Source: found by reading zoo_lock.c, ZooKeeper's own C recipe, and the Java WriteLock. Their watchers run
 * the whole lock procedure, whatever the event is. No report is known.
 *
 * B waits for A's node, and B's caller gives up. B deletes its node, but its watch stays armed. A releases,
 * and the watch fires. Its function asks for the lock, as it does for a claim that waits. B finds no node of
 * its own, makes a new one, and is first. No caller has asked for this node and no caller will release it,
 * so the next client waits for ever.
 *
 * Two clients, one of which gives up, and no fault are enough. FIXED removes the watch of a claim whose
 * caller gives up, and ignores an event of a watch that is not armed.
 *
 * Caught by no_orphan_node. */
#include "skeleton/known_by_name.h"

#ifndef FIXED
/* Runs the lock procedure from its beginning, with a new node if there is none. */
static bool lock_again(struct claim *claim, int type)
{
    if (type == ZOO_SESSION_EVENT) {
        return true;
    }
    claim->watching = false;
    if (claim->phase == WAITING) {
        go(claim, LISTING);
    } else if (claim->phase == FREE) {
        claim->unasked = true;
        go(claim, CREATING);
    }
    return true;
}
#endif

static const struct variation variation = {
    .keeps_owner = true,
#ifndef FIXED
    .leaves_watch = true,
    .takes_event = lock_again,
#endif
};

CANARY(.name = "c01-old-watch-locks-again",
       .summary = "the watch of a caller who has given up asks for the lock again",
       .breaks = "no_orphan_node");
