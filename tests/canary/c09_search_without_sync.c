/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* C09: looks for its node on a server that may be behind.
 *
 * Source: found by reading published code; no report is known. Recipes with protection search right after
 * the reconnect.
 *
 * This recipe has protection (Z01), with a new id for each session (Z02). But after a lost answer the client
 * may land on another server, and that server may not have the create yet. A list that does not show the
 * node does not prove that there is none. A recipe that believes it creates a second node, and waits behind
 * its own first one.
 *
 * FIXED has the server catch up with the leader first, by a sync.
 *
 * Caught by no_orphan_node: at rest there are two nodes of one waiter. */
#include "skeleton/known_by_id.h"

static int search_for_node(struct claim *claim)
{
#ifdef FIXED
    return search_behind_sync(claim);
#else
    return look(claim); /* the server may be behind the one that got the create */
#endif
}

static const struct variation variation = {.search = search_for_node};

CANARY(.name = "search-without-sync", .summary = "looks for its node on a server that may be behind",
       .breaks = "no_orphan_node");
