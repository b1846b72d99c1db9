/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* S01: an acquire that begins again hands out the lease of its former session.
 *
 * Source: CURATOR-315, about InterProcessSemaphoreV2.
 *
 * A lease came into the result as soon as its node existed. When the session ended, the acquire tried
 * again, and put a second lease behind the first. The caller got the first one, whose node was gone, and
 * gave that back. No caller had the second lease, so its node stayed.
 *
 * One lost session is enough. FIXED takes a lease into the result when it is granted.
 *
 * Caught by no_orphan_node. */
#ifndef FIXED
#define MISTAKE CURATOR_315
#endif
#define STORY                                                                                                \
    .name = "s01-lease-of-the-former-session",                                                               \
    .summary = "an acquire hands out the lease of its former session", .breaks = "no_orphan_node"
#include "../kinds/leases.c" /* NOLINT(bugprone-suspicious-include) */
