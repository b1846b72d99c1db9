/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* E01: a candidate begins anew after each reconnect, and when it finds the node ahead gone.
 *
 * Source: CURATOR-644 and CURATOR-645, mended by pull request 430 of apache/curator; first reported as
 * CURATOR-504. The mutex Z16 has the same rule.
 *
 * A candidate wants to watch the node ahead of its own. The other candidate has reset after a reconnect,
 * so that this node is gone. The first candidate takes that for a fault and resets too: it deletes its
 * node, and creates another one behind the other candidate. Now that one finds the node ahead gone. No
 * candidate leads, and one report counts 2.6 million nodes in two hours.
 *
 * Two candidates are enough: the node ahead may also go because its candidate resigns. FIXED lists the
 * candidates again, and after a reconnect keeps the node that it has.
 *
 * Caught by bounded_work: in one wait, without a fault, a candidate creates node after node. */
#ifndef FIXED
#define RESETS_FOR_EVER 1
#endif
#define STORY                                                                                                \
    .name = "e01-resets-for-ever", .summary = "a candidate begins anew whenever the node ahead is gone",     \
    .breaks = "bounded_work"
#include "../kinds/latch.c" /* NOLINT(bugprone-suspicious-include) */
