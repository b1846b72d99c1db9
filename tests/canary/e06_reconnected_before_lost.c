/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* E06: a leader hears of its next session before it hears that the former one has ended.
 *
 * Source: CURATOR-367, mended by pull request 197 of apache/curator.
 *
 * The client opened its next session first, and handled the event of the expired one later. Its two
 * events then raced: a listener could be told RECONNECTED, and LOST after that. A listener that takes
 * RECONNECTED for the end of an outage leads on until LOST. A listener that acts on the last event takes
 * itself for disconnected, though its session lives.
 *
 * One expired session is enough. FIXED tells LOST before it opens another session.
 *
 * Caught by every_loss_is_told. */
#ifndef FIXED
#define HEARS_LOST_LATE 1
#endif
#define STORY                                                                                                \
    .name = "e06-reconnected-before-lost",                                                                   \
    .summary = "a leader hears of the next session before the loss of the last",                             \
    .breaks = "every_loss_is_told"
#include "../kinds/latch.c" /* NOLINT(bugprone-suspicious-include) */
