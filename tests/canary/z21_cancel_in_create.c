/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Z21: looks after a node whose answer was lost, but not after one whose caller has gone.
 *
 * Source: CURATOR-79 and CURATOR-45 of apache/curator, when a thread was interrupted in a create.
 *
 * This recipe has protection (Z01): after a lost answer to a create it looks for the node. But the caller
 * may also give up while the create is under way. That is no fault of the connection, so the recipe looks
 * for nothing. The server does the create all the same, and the node stays as long as the session. When it
 * is the first in line, all other clients wait for it.
 *
 * FIXED cleans up in the background, whatever the reason was.
 *
 * Caught by no_orphan_node. */
#include "skeleton/known_by_id.h"

static bool ignores_created(const struct claim *claim)
{
#ifdef FIXED
    (void)claim;
    return false;
#else
    return claim->ended; /* no caller wants to know whether there is a node */
#endif
}

static const struct variation variation = {.ignores_created = ignores_created};

CANARY(.name = "cancel-in-create",
       .summary = "looks after a node whose answer was lost, but not after one whose caller has gone",
       .breaks = "no_orphan_node");
