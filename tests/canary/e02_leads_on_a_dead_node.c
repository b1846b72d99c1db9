/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* E02: a latch leads on the node of its former session.
 *
 * Source: CURATOR-696, mended by pull request 500 of apache/curator; seen in apache/druid, issue 16411.
 * It came with the mend of E01. The mutex Z17 has the same rule.
 *
 * The session of a leader ends, and its client opens another one. The servers have not removed the node
 * of the former session yet. The latch lists the candidates, finds the node under its own path, and
 * leads. The node goes, and the latch does not hear of it. The next candidate leads as well.
 *
 * The client has to hear of the end before its node is gone. Beside an expired session this takes a lost
 * connection, or a request that the servers refuse. FIXED takes another id and creates another node in
 * each session.
 *
 * Caught by at_most_one_holder. */
#ifndef FIXED
#define LEADS_ON_A_DEAD_NODE 1
#endif
#define STORY                                                                                                \
    .name = "e02-leads-on-a-dead-node", .summary = "a latch leads on the node of its former session",        \
    .breaks = "at_most_one_holder"
#include "../kinds/latch.c" /* NOLINT(bugprone-suspicious-include) */
