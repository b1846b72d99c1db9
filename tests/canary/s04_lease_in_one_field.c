/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* S04: a release clears the field in which the next holder has stored its lease.
 *
 * Source: CURATOR-376, about InterProcessSemaphoreMutex, which keeps its lease in one field.
 *
 * release() deleted the node, and cleared the field then. Between the two another thread of the process
 * got the next lease, and stored it there. That thread held a lock that it could not release.
 *
 * Two owners of one process are enough, without a fault. FIXED clears the field before it deletes the
 * node.
 *
 * Caught by release_matches_acquire. */
#ifndef FIXED
#define MISTAKE CURATOR_376
#endif
#define STORY                                                                                                \
    .name = "s04-lease-in-one-field", .summary = "a release clears the field of the next holder",            \
    .breaks = "release_matches_acquire"
#include "../kinds/leases.c" /* NOLINT(bugprone-suspicious-include) */
