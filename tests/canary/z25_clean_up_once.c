/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Z25: tries only once to delete the node of an acquire that failed.
 *
 * Source: issue 732 and pull request 760 of python-zk/kazoo; seen among some 800 workers.
 *
 * A client that tries to get a lock without waiting creates a node, sees that it is not the first, and
 * deletes it. If the link breaks before the delete is done, this recipe does not try again. The session
 * lives on with a node that belongs to no caller. When the holder releases, that node is the first in line
 * for ever.
 *
 * FIXED goes on until the delete is answered, whether a caller waits for that or not.
 *
 * Caught by no_orphan_node. */
#include "skeleton/known_by_number.h"

static bool gives_up(const struct claim *claim)
{
#ifdef FIXED
    (void)claim;
    return false;
#else
    return claim->ended;
#endif
}

static const struct variation variation = {.gives_up_delete = gives_up};

CANARY(.name = "clean-up-once", .summary = "tries only once to delete the node of an acquire that failed",
       .breaks = "no_orphan_node");
