/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A create that was answered proves the session for all locks of the process, so that a holder's belief may be counted from
 * the newest of them; this recipe counts also those that are only on their way. Mutex.h: LS_HELD means that "a write or sync
 * that was sent within the margin has confirmed the session". If the server of a holder hears nothing from the leader, each
 * new acquire of another lock lets the holder believe for another half timeout, past the end of its session. */
/* breaks: belief_ends_in_time */
#include "base/recipe.h"

/* Whether what the claim has sent proves that the session still lives. */
static bool proves(const struct recipe *r, const struct claim *claim)
{
#ifdef FIXED
    return claim->named && ls_env_elapsed_ms(r->env, &claim->sent) < r->timeout_ms / 2;
#else
    return claim->phase != FREE && ls_env_elapsed_ms(r->env, &claim->sent) < r->timeout_ms / 2;
#endif
}

enum ls_belief query(const void *state, int lock, int owner)
{
    struct recipe *r = (struct recipe *)(uintptr_t)state;
    const struct claim *claim = find(r, lock, owner);
    if (claim == NULL || claim->phase != HELD) {
        return LS_NOT_HELD;
    }
    bool fresh = false;
    for (int i = 0; i < CLAIMS_MAX; i++) {
        fresh |= proves(r, &r->claim[i]);
    }
    return r->connected && fresh ? LS_HELD : LS_UNKNOWN;
}
