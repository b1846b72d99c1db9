/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* R03: a reader waits for each writer in line, also for writers behind it.
 *
 * Source: kazoo issue 649, pull request 650. Its read lock took each writer for a contender before it,
 * whatever that writer's number.
 *
 * A reader waits for the writer that holds the lock. A second writer comes, and waits for that reader. When
 * the first writer goes, the reader lists the children and waits for the second writer. Both wait for ever.
 *
 * Two writers and a reader without a fault are enough. FIXED compares the numbers.
 *
 * Caught by no_lost_wakeup. */
#ifndef FIXED
#define LATER_WRITERS
#endif
#define STORY                                                                                                \
    .name = "r03-reader-waits-for-later-writers", .summary = "a reader waits for writers behind it too",     \
    .breaks = "no_lost_wakeup", .kinds = LS_LOCK_BIT(LS_LOCK_READ_WRITE)
#include "../kinds/line.c" /* NOLINT(bugprone-suspicious-include) */
