/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* S02: an acquire that fails between create and list leaves its lease behind.
 *
 * Source: CURATOR-335; it came with the mend of S01.
 *
 * A network error between the two was an exception. The lease was in no result yet, so that the clean-up
 * of the result did not return it. Its node takes the place of a lease until the session ends.
 *
 * One lost connection is enough, or an acquire that is cancelled then. FIXED gives the lease back
 * whichever way the acquire ends.
 *
 * Caught by no_orphan_node. */
#ifndef FIXED
#define MISTAKE CURATOR_335
#endif
#define STORY                                                                                                \
    .name = "s02-error-leaves-a-lease",                                                                      \
    .summary = "an acquire that fails after its create leaves the lease", .breaks = "no_orphan_node"
#include "../kinds/leases.c" /* NOLINT(bugprone-suspicious-include) */
