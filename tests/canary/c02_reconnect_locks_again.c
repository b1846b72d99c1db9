/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* C02: the watcher runs the lock procedure for session events too, also for a caller that has given up.
 *
 * Source: found by reading zoo_lock.c, ZooKeeper's own C recipe. Its watcher looks neither at the kind of an
 * event nor at whether a caller still waits. No report is known.
 *
 * Each armed watch gets each disconnect and each connect. B waits for A's node, and B's caller gives up. B
 * deletes its node, but the watch stays armed (C01). Now B's connection breaks. B's watch gets the event,
 * and its function asks for the lock. B makes a new node, which no caller has asked for and no caller will
 * release. The next client waits for ever.
 *
 * Two clients, one of which gives up, and one broken connection are enough. FIXED takes events of nodes
 * only, and removes the watch of a claim whose caller gives up.
 *
 * Caught by no_orphan_node. */
#include "skeleton/known_by_name.h"

#ifndef FIXED
/* Begins the lock procedure again, with a new node if there is none. CONNECTED goes on with it. */
static bool lock_again(struct claim *claim, int type)
{
    if (type == ZOO_SESSION_EVENT && (claim->phase == WAITING || claim->phase == FREE)) {
        claim->unasked |= claim->phase == FREE;
        claim->phase = claim->phase == WAITING ? LISTING : CREATING;
    }
    return false;
}
#endif

static const struct variation variation = {
    .keeps_owner = true,
#ifndef FIXED
    .leaves_watch = true,
    .takes_event = lock_again,
#endif
};

CANARY(.name = "c02-reconnect-locks-again",
       .summary = "a session event at the watch of a caller who has given up asks for the lock again",
       .breaks = "no_orphan_node");
