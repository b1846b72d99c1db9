/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The function query() marks the moment again when it says HELD, so that each question renews the belief.
 * It breaks "Pure: no side effect, no call of ZooKeeper" of recipe.h, and the margin of query in mutex.h.
 * Whoever asks often is told HELD for ever, though no server has confirmed the session since the create. */
/* breaks: belief_ends_in_time */
#include "base/recipe.h"

#ifndef FIXED
enum ls_belief query(const void *state, int lock, int owner)
{
    struct recipe *r = (struct recipe *)(uintptr_t)state;
    struct claim *claim = find(r, lock, owner);
    if (claim == NULL || claim->phase != HELD) {
        return LS_NOT_HELD;
    }
    bool fresh = ls_env_elapsed_ms(r->env, &claim->sent) * 2 < r->timeout_ms;
    if (r->connected && fresh) {
        ls_env_stamp(r->env, &claim->sent); /* the link is up: count anew */
        return LS_HELD;
    }
    return LS_UNKNOWN;
}
#endif
