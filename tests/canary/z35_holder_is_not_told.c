/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Z35: the holder hears nothing of the end of its session.
 *
 * Source: CURATOR-206 and CURATOR-54, kazoo issue 2, go-zookeeper issue 20, pull request 156 of
 * docker/libkv, issue 5 of twitter-archive/commons. In the last two no code listens to the session, and a
 * lock that was held once says so for ever.
 *
 * A is paused or cut off, and the servers end its session. Its node goes, and B takes the lock. A comes back
 * and gets a new session without a report. A still believes that it holds, and goes on in the critical
 * section.
 *
 * Two clients and one expired session are enough: A reports no loss before its next session. FIXED reports
 * the loss, ends the hold, and doubts the hold as soon as the connection is lost.
 *
 * Caught by every_loss_is_told. */
#include "skeleton/known_by_name.h"

static void lose(struct recipe *r)
{
#ifdef FIXED
    report_loss(r);
#else
    (void)r;
#endif
}

static enum ls_belief believes(const struct claim *claim)
{
#ifdef FIXED
    return belief(claim);
#else
    (void)claim;
    return LS_HELD;
#endif
}

static const struct variation variation = {
    .report_loss = lose,
    .believes = believes,
#ifndef FIXED
    .keeps_hold = true,
#endif
};

CANARY(.name = "z35-holder-is-not-told", .summary = "a holder does not hear that its session has expired",
       .breaks = "every_loss_is_told");
