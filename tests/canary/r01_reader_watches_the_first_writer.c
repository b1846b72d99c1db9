/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* R01: a reader watches the first writer in line, not the nearest one before it.
 *
 * Source: Apache Curator, the read lock of InterProcessReadWriteLock, also in 5.5. Found by reading
 * published code. kazoo commit 7dd4c4c did the same to all contenders (Z38).
 *
 * A reader behind n writers wakes and lists the children n times. With m such readers each release of a
 * writer wakes all of them, though at most one writer can be admitted.
 *
 * Two writers and a reader without a fault are enough. FIXED has the reader watch the nearest writer before
 * it.
 *
 * Caught by at_most_one_wakeup_per_release. */
#ifndef FIXED
#define FARTHEST
#endif
#define STORY                                                                                                \
    .name = "r01-reader-watches-the-first-writer", .summary = "a reader watches the first writer in line",   \
    .breaks = "at_most_one_wakeup_per_release", .kinds = LS_LOCK_BIT(LS_LOCK_READ_WRITE)
#include "../kinds/line.c" /* NOLINT(bugprone-suspicious-include) */
