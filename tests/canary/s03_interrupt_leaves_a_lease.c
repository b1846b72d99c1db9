/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* S03: an acquire that is interrupted while it waits for room leaves its lease behind.
 *
 * Source: CURATOR-462. The mend of S02 was for errors of the list alone.
 *
 * A thread that is interrupted in its wait leaves by another exception. The lease that it had created to
 * wait with is in no result, and stays.
 *
 * A cancelled acquire behind a holder is enough. FIXED gives the lease back on each way out that is no
 * success.
 *
 * Caught by no_orphan_node. */
#ifndef FIXED
#define MISTAKE CURATOR_462
#endif
#define STORY                                                                                                \
    .name = "s03-interrupt-leaves-a-lease",                                                                  \
    .summary = "an acquire that is cancelled in its wait leaves the lease", .breaks = "no_orphan_node"
#include "../kinds/leases.c" /* NOLINT(bugprone-suspicious-include) */
