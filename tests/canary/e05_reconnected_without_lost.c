/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* E05: a leader hears RECONNECTED when its session has ended, and never LOST.
 *
 * Source: CURATOR-220 (open), about LeaderSelector. The mutex Z34 has the same rule.
 *
 * A leader is cut off for longer than its session lives. Its client opens another session, and tells
 * that as RECONNECTED. A leader that gives its leadership up only when it hears LOST leads for ever,
 * while its node is gone and the next candidate leads.
 *
 * One expired session is enough. FIXED tells LOST when the servers say that the session has ended, and
 * the next session as CONNECTED.
 *
 * Caught by every_loss_is_told. */
#ifndef FIXED
#define HEARS_RECONNECTED 1
#endif
#define STORY                                                                                                \
    .name = "e05-reconnected-without-lost", .summary = "a leader hears RECONNECTED in place of LOST",        \
    .breaks = "every_loss_is_told"
#include "../kinds/latch.c" /* NOLINT(bugprone-suspicious-include) */
