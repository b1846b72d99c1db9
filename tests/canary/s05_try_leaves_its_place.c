/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* S05: a try that fails by a network error leaves its node in the line.
 *
 * Source: kazoo issue 429. A semaphore that does not wait tries its inner lock. When that attempt ended
 * in a network error, the semaphore did not release the inner lock.
 *
 * The node in the line blocks each later taker until the session ends.
 *
 * One lost connection is enough. FIXED releases the inner lock after each attempt.
 *
 * Caught by no_orphan_node. */
#ifndef FIXED
#define MISTAKE KAZOO_429
#endif
#define STORY                                                                                                \
    .name = "s05-try-leaves-its-place", .summary = "a try that fails by a network error stays in the line",  \
    .breaks = "no_orphan_node"
#include "../kinds/leases.c" /* NOLINT(bugprone-suspicious-include) */
