/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* E07: a queued candidate is elected though its session has ended.
 *
 * Source: etcd issue 19597, pull request 22387 (both open). A candidate waits until each older key is
 * gone. It does not look at its own key, which goes with its lease. The mutex of the same package looks
 * when the wait is over; the election does not, and its Campaign succeeds. R04 is the same mistake of
 * the read-write lock.
 *
 * In ZooKeeper the watch ends with the session. So here the candidate keeps its number, watches the node
 * ahead again in its next session, and does not ask whether its own node still stands. When the node
 * ahead goes, it leads without a node. The next candidate leads as well.
 *
 * One expired session is enough. FIXED stands again, with a new node, at the end of the line.
 *
 * Caught by at_most_one_holder. */
#ifndef FIXED
#define SUCCEEDS_UNSEEN 1
#endif
#define STORY                                                                                                \
    .name = "e07-succeeds-for-an-ended-session",                                                             \
    .summary = "a queued candidate is elected though its session has ended", .breaks = "at_most_one_holder"
#include "../kinds/latch.c" /* NOLINT(bugprone-suspicious-include) */
