/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Z54: looks again at each event of its watch, also if it is looking already, and also if it holds the lock
 * by then.
 *
 * Source: https://github.com/apache/accumulo/issues/6197.
 *
 * This recipe arms its watch first and then looks again before it goes to sleep, so that nothing can happen
 * in between. The predecessor goes just then. The look shows that, the lock is granted, and the candidate
 * becomes the holder. But the watch has fired too, and has begun another look, for a candidate that is none
 * any more. In Accumulo the second look ends in an assertion. Here, too, that is the end of the thread: the
 * lock is held, and no code ever gives it back. A watch may always fire after its recipe has moved on.
 *
 * While it sleeps, FIXED takes the event for a reason to look again. A look that is under way shows the
 * same change.
 *
 * Caught by no_lost_wakeup: the node of the former holder stays the first in line. */
#include "skeleton/known_by_number.h"

static bool wakes(const struct claim *claim)
{
#ifdef FIXED
    return claim->phase == WAITING;
#else
    return claim->phase == WAITING || claim->phase == LISTING; /* it may be looking already */
#endif
}

/* Ends the thread if the claim is no candidate. Here Accumulo has an assertion. */
static bool halts(struct claim *claim)
{
    claim->recipe->halted |= !claim->candidate;
    return !claim->candidate;
}

static const struct variation variation = {.looks_after_watch = true, .rejects_list = halts, .wakes = wakes};

CANARY(.name = "event-after-re-check",
       .summary =
           "looks again at each call of its watch, also if it is looking already, and also if it holds "
           "the lock by then",
       .breaks = "no_lost_wakeup");
