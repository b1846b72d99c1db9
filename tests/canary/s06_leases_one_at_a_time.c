/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* S06: an acquire of several leases takes the inner lock anew for each.
 *
 * Source: Apache Curator, InterProcessSemaphoreV2, also in 5.4. Found by reading published code. It
 * counts all leases, and looks for a node whose create was lost without a sync. When its lease is gone,
 * it queues again.
 *
 * Two acquires of several leases may have a part each. When together they have all leases, both wait for
 * another one for ever. The same follows when the operator deletes the node of a taker from the line:
 * two takers are first then, and each counts the lease of the other.
 *
 * FIXED keeps the inner lock until it has all leases, and counts the leases before its own alone.
 *
 * Caught by no_lost_wakeup. */
#ifndef FIXED
#define MISTAKE CURATOR_LIKE
#endif
#define STORY                                                                                                \
    .name = "s06-leases-one-at-a-time", .summary = "an acquire of several leases waits with a part of them", \
    .breaks = "no_lost_wakeup"
#include "../kinds/leases.c" /* NOLINT(bugprone-suspicious-include) */
