/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* R02: the reader of a writer is placed behind the writers that wait.
 *
 * Source: CURATOR-276 (2015) and CURATOR-621 (2021), mended in Curator 5.5 (pull request 445).
 *
 * An owner that holds the write lock takes the read lock, and then lets go of the write lock. Its reader
 * has a number of its own, at the end of the line. It is granted because its owner holds the write lock.
 * When the writer goes, a writer that waits is the first in line, and is granted the lock beside that
 * reader.
 *
 * Two clients and no fault are enough. FIXED gives the reader the number of its writer.
 *
 * Caught by at_most_one_holder. */
#ifndef FIXED
#define READER_BEHIND
#endif
#define STORY                                                                                                \
    .name = "r02-reader-behind-queued-writers",                                                              \
    .summary = "the reader of a writer stands behind writers that wait", .breaks = "at_most_one_holder",     \
    .kinds = LS_LOCK_BIT(LS_LOCK_READ_WRITE)
#include "../kinds/line.c" /* NOLINT(bugprone-suspicious-include) */
