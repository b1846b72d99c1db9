/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Z01: creates again when the answer to a create was lost.
 *
 * Source: https://github.com/Netflix/curator/issues/3, before Curator had what it calls protection; later
 * https://github.com/samuel/go-zookeeper/issues/229.
 *
 * The server has made the node, but the link breaks before the answer comes. The session lives, and the node
 * with it; only its number is not known. A recipe that simply asks again has two nodes in line. It waits
 * behind its own first node, which no client will ever delete, and all other clients wait for it too.
 *
 * FIXED has protection: an id in the name of the node, so that the recipe can search for it after a lost
 * answer.
 *
 * Caught by no_orphan_node: at rest there are two nodes of one waiter. */
#include "skeleton/known_by_id.h"

static void create_lost(struct claim *claim)
{
#ifdef FIXED
    expect_a_node(claim);
#else
    claim->phase = claim->ended ? DELETING : CREATING; /* as if the create had done nothing */
#endif
}

static const struct variation variation = {.create_lost = create_lost};

CANARY(.name = "create-without-protection", .summary = "creates again when the answer to a create was lost",
       .breaks = "no_orphan_node");
