/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A process has one session for all its locks, so any node that was created of late confirms all its holds. query()
 * therefore looks at all claims; but it also counts a create that nobody has answered yet. mutex.h: LS_HELD says that
 * "a write or sync that was sent within the margin has confirmed the session". A process that was stopped for longer
 * than its session and asks for a second lock believes again in the first one, which another has by now. */
/* breaks: belief_ends_in_time */
#include "base/recipe.h"

enum ls_belief query(const void *state, int lock, int owner)
{
    struct recipe *r = (struct recipe *)(uintptr_t)state;
    const struct claim *claim = find(r, lock, owner);
    if (claim == NULL || claim->phase != HELD) {
        return LS_NOT_HELD;
    }
    bool fresh = false;
    for (int i = 0; i < CLAIMS_MAX; i++) {
        const struct claim *other = &r->claim[i];
#ifdef FIXED
        if (!other->named) {
            continue; /* its create is not answered */
        }
#endif
        fresh |= other->phase != FREE && ls_env_elapsed_ms(r->env, &other->sent) < r->timeout_ms / 2;
    }
    return r->connected && fresh ? LS_HELD : LS_UNKNOWN;
}
