/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* R04: a contender that has waited is granted the lock, though its node is gone.
 *
 * Source: etcd issues 16221 (read-write lock of the recipes) and 11456 (mutex). The waiter looked at the keys
 * before its own, and not at its own key, which had gone with its lease.
 *
 * In ZooKeeper the watch ends with the session, so here the operator deletes the node of a waiter. When no
 * contender stands before the number that it had, it holds the lock. A contender behind that number is
 * admitted beside it.
 *
 * FIXED joins the end of the line with a new node, if the list does not show the node.
 *
 * Caught by hold_keeps_its_node. */
#ifndef FIXED
#define UNCHECKED
#endif
#define STORY                                                                                                \
    .name = "r04-granted-without-a-node", .summary = "a waiter whose node is gone is granted the lock",      \
    .breaks = "hold_keeps_its_node", .kinds = LS_LOCK_BIT(LS_LOCK_READ_WRITE)
#include "../kinds/line.c" /* NOLINT(bugprone-suspicious-include) */
