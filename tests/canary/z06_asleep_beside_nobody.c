/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Z06: the node ahead is gone when it is to be watched, and the recipe waits for it all the same.
 *
 * Source: issue 26 of github.com/shayhatsor/zookeeper, on the Java WriteLock, whose loop goes on only if it
 * has no node. Apache Helix had the same race (pull request 44), in which the clients behind are stuck too.
 *
 * B lists the children and sees A before it. A deletes its node. B asks with `exists` and a watch. The
 * answer is that there is no such node, and the watch is armed on its creation. That name never comes again,
 * because the servers give each number once. B sleeps beside a free lock.
 *
 * Two clients and no fault are enough. FIXED looks at the line again, and asks with `get`, which arms no
 * watch on a node that is not there.
 *
 * Caught by no_lost_wakeup. */
#include "skeleton/known_by_name.h"

static int arm(struct claim *claim, const char *path)
{
#ifdef FIXED
    return read_and_watch(claim, path);
#else
    return zoo_awexists(claim->recipe->zh, path, on_ahead, claim, on_armed, claim);
#endif
}

static bool is_armed(int rc)
{
#ifdef FIXED
    return rc == ZOK;
#else
    return rc == ZOK || rc == ZNONODE;
#endif
}

static const struct variation variation = {.arm = arm, .is_armed = is_armed};

CANARY(.name = "z06-asleep-beside-nobody",
       .summary = "whoever finds the node before its own gone waits for it all the same",
       .breaks = "no_lost_wakeup");
