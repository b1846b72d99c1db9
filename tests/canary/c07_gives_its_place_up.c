/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* C07: the node ahead is gone when it is to be watched, and the recipe gives its place up and queues again.
 *
 * Source: found by reading zoo_lock.c, ZooKeeper's own C recipe. It takes "no node" as the answer to the
 * watch for a failure, unlocks, and begins again. No report is known. It also reports to its caller that the
 * lock is released, which the caller never held; that is left out here.
 *
 * A holds, B waits, and C comes behind B. B lists the children and sees A before it, and A deletes its node.
 * B asks for a watch on A's node, and the answer is that there is no such node. B deletes its own node and
 * makes a new one, behind C. C is granted first, though B came first.
 *
 * Three clients and no fault are enough. FIXED looks at the line again and keeps its place.
 *
 * Caught by granted_in_order. */
#include "skeleton/known_by_name.h"

static void ahead_is_gone(struct claim *claim)
{
#ifdef FIXED
    go(claim, LISTING);
#else
    go(claim, DELETING);
#endif
}

static const struct variation variation = {.queues_again = true, .ahead_is_gone = ahead_is_gone};

CANARY(.name = "c07-gives-its-place-up",
       .summary = "whoever finds the node before its own gone gives its place up and queues again",
       .breaks = "granted_in_order");
