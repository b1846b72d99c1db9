/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* S07: a shared count grows, and nobody wakes those who wait.
 *
 * Source: CURATOR-75, about InterProcessSemaphoreV2.
 *
 * The capacity of the semaphore is a count that all clients read. An acquire that waited for room looked again
 * when the list of leases changed, and at no other time. When the count grew, there was room, and the acquire
 * slept on until some other client gave a lease back.
 *
 * Two clients and one change of the count are enough. FIXED looks again when it learns of another count.
 *
 * Caught by no_lost_wakeup. */
#ifndef FIXED
#define MISTAKE CURATOR_75
#endif
#define STORY                                                                                                \
    .name = "s07-count-wakes-nobody", .summary = "a larger capacity wakes nobody who waits for room",        \
    .breaks = "no_lost_wakeup"
#include "../kinds/leases.c" /* NOLINT(bugprone-suspicious-include) */
