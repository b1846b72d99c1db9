/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* R05: an owner that believes that it holds the write lock is granted the read lock unseen.
 *
 * Source: Apache Curator, the read lock of InterProcessReadWriteLock, also in 5.5. Found by reading
 * published code. If the thread owns the write lock, the list of contenders is not looked at.
 *
 * The node of a writer that holds the lock is gone, and its owner has not heard of it. The owner takes the
 * read lock. Another writer has been granted the lock by then.
 *
 * The operator deletes the node of the writer. FIXED grants the read lock if the list shows the node of the
 * writer.
 *
 * Caught by at_most_one_holder. */
#ifndef FIXED
#define TRUSTS_WRITER
#endif
#define STORY                                                                                                \
    .name = "r05-reader-trusts-its-writer",                                                                  \
    .summary = "the reader of a writer does not look for the writer's node", .breaks = "at_most_one_holder", \
    .kinds = LS_LOCK_BIT(LS_LOCK_READ_WRITE)
#include "../kinds/line.c" /* NOLINT(bugprone-suspicious-include) */
