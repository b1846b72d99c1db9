/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Z29: to ask with `exists` for a node that is gone leaves a watch on its creation.
 *
 * Source: CURATOR-107, mended by pull request 7 of apache/curator; the same in go-zookeeper (commit 90bc964)
 * and kazoo (commit 9b0a793).
 *
 * B lists the children and sees A before it. A deletes its node. B asks with `exists` and a watch, learns
 * that A's node is gone, and looks at the line again, as it should. But the servers now keep a watch on a
 * name that never comes again. Each race that is lost in this way leaves one, as long as the session lives.
 *
 * Two clients and no fault are enough. FIXED asks with `get`, which arms a watch only on a node that is
 * there.
 *
 * Caught by no_watch_left_behind. */
#include "skeleton/known_by_name.h"

static int arm(struct claim *claim, const char *path)
{
#ifdef FIXED
    return read_and_watch(claim, path);
#else
    return zoo_awexists(claim->recipe->zh, path, on_ahead, claim, on_armed, claim);
#endif
}

static const struct variation variation = {.arm = arm};

CANARY(.name = "z29-watch-on-nobody",
       .summary = "asks with exists for the node before its own, which leaves a watch if that is gone",
       .breaks = "no_watch_left_behind");
