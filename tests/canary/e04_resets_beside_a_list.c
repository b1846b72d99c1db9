/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* E04: a latch that resets leads by a list from before its reset.
 *
 * Source: CURATOR-653 and CURATOR-652; pull request 398 of apache/curator. After an outage both latches
 * reset.
 *
 * A waiting latch is told RECONNECTED, and its reset begins. The node ahead is gone, because the other
 * latch has reset as well. The watch on it fires, and the waiting latch lists the candidates beside its
 * own reset. It is first by its former node, and leads. Then the reset deletes that node. The other
 * latch leads as well.
 *
 * Here the node ahead goes because its candidate resigns, and the reset goes on by a timer. One lost
 * connection is enough. FIXED resets never.
 *
 * Caught by at_most_one_holder. */
#ifndef FIXED
#define RESETS_LATE 1
#endif
#define STORY                                                                                                \
    .name = "e04-resets-beside-a-list",                                                                      \
    .summary = "a latch deletes the node by which a list has made it lead", .breaks = "at_most_one_holder"
#include "../kinds/latch.c" /* NOLINT(bugprone-suspicious-include) */
