/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Z02: takes the node that carries its id for its own, whichever session it belongs to.
 *
 * Source: CURATOR-498, pull requests 299 and 303 of apache/curator. Curator's protection had this hole from
 * its first day, for more than six years.
 *
 * This recipe has protection (Z01): after a lost answer it looks for the node that carries its id. Between
 * the create and the search its session may have ended, and a new one begun. The end of a session and the
 * removal of its nodes are two steps, so the search may still show the node of the old session. The recipe
 * takes it for the node that it created. It is the first in line, and the lock is granted. Then the node
 * goes with its session, no event reports that, and the next client in line is granted too.
 *
 * FIXED takes a new id for each session, so that a search never finds a node of an old one.
 *
 * Caught by at_most_one_holder. */
#include "skeleton/known_by_id.h"

static void next_session(struct claim *claim)
{
#ifndef FIXED
    if (claim->maybe) {
        claim->phase = SEARCHING; /* for a node that the end of the session removes */
        return;
    }
#endif
    begin(claim);
}

static const struct variation variation = {.next_session = next_session};

CANARY(.name = "found-node-of-closing-session",
       .summary = "takes the node that carries its id for its own, whichever session it belongs to",
       .breaks = "at_most_one_holder");
