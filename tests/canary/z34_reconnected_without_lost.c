/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Z34: between two sessions the caller hears RECONNECTED and no LOST.
 *
 * Source: CURATOR-220 (open). CURATOR-367 and CURATOR-525 (commit a3ca8b5d) are about other wrong orders of
 * the same events.
 *
 * A is cut off and reports SUSPENDED. The servers end its session, and B takes the lock. A gets a new
 * session and reports RECONNECTED, as if nothing had happened. A caller that gives up its hold only at LOST
 * holds for ever.
 *
 * Two clients and one expired session are enough. FIXED reports the loss when the servers report the end of
 * the session, and reports the next session as a new one.
 *
 * Caught by every_loss_is_told. */
#define RECIPE_FIELDS bool had_session; /* before this one */
#include "skeleton/known_by_name.h"

static void lose(struct recipe *r)
{
#ifdef FIXED
    report_loss(r);
#endif
    r->had_session = true;
}

static enum ls_report_kind new_session(struct recipe *r)
{
#ifdef FIXED
    (void)r;
    return LS_REPORT_CONNECTED;
#else
    return r->had_session ? LS_REPORT_RECONNECTED : LS_REPORT_CONNECTED;
#endif
}

static const struct variation variation = {
    .report_loss = lose,
    .new_session = new_session,
#ifndef FIXED
    .keeps_hold = true,
#endif
};

CANARY(.name = "z34-reconnected-without-lost", .summary = "a new session is told as the old one that is back",
       .breaks = "every_loss_is_told");
