/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Z49: an acquire that ends deletes the node that it knows, and it knows none while the create is under way.
 *
 * Source: CURATOR-18 (commit 38f28b5c) and CURATOR-3 of apache/curator, both of the leader latch.
 *
 * The name of a node comes with the answer to its create. A recipe that closes before deletes nothing and
 * forgets the acquire. Then the answer comes and is ignored, and the node stays as long as the session. Two
 * resets in a row leave nodes behind in the same way.
 *
 * FIXED waits for the answer, and deletes the node when it knows it.
 *
 * Caught by no_orphan_node. */
#include "skeleton/known_by_number.h"

static bool is_over(const struct claim *claim)
{
#ifdef FIXED
    (void)claim;
    return false;
#else
    return claim->busy && claim->phase == CREATING; /* without a path nothing seems to be left to do */
#endif
}

static const struct variation variation = {.is_over = is_over};

CANARY(.name = "close-while-create-is-in-flight",
       .summary =
           "when an acquire ends it deletes the node that it knows, and it knows none while the create "
           "is under way",
       .breaks = "no_orphan_node");
