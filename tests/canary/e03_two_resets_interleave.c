/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* E03: two resets of one latch interleave, and the second one deletes the node with which the latch
 * leads.
 *
 * Source: CURATOR-620. A client was told RECONNECTED twice in quick succession. Each time its latch
 * reset: it took its leadership back, deleted its node and created another one. Two threads did so at
 * once.
 *
 * The first reset has created a node. The list shows that node first, and the latch leads. Then the
 * second reset goes on, and deletes the node. It took the leadership back before the first reset gave
 * it, so the latch leads on without a node. The next candidate leads as well.
 *
 * Here the second reset is a timer, and one lost connection is enough. FIXED resets never: after a
 * reconnect it goes on with the node that it has.
 *
 * Caught by at_most_one_holder. */
#ifndef FIXED
#define RESETS_TWICE 1
#endif
#define STORY                                                                                                \
    .name = "e03-two-resets-interleave",                                                                     \
    .summary = "a second reset deletes the node with which the latch leads", .breaks = "at_most_one_holder"
#include "../kinds/latch.c" /* NOLINT(bugprone-suspicious-include) */
