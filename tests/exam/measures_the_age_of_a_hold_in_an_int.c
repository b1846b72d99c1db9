/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Twice the age of the last confirmation is kept in an int before it is compared with the session's timeout. After 2^30
 * ms, twelve days and a half, it is negative, and the hold counts as fresh again for as long. Breaks recipe.h:
 * LS_UNKNOWN is "granted and not given back, but the safe time has run out": a holder that has been stopped for longer
 * than its session is told, when it goes on, that it holds the lock, which another client has been granted meanwhile. */
/* breaks: belief_ends_in_time */
#include "base/recipe.h"

enum ls_belief query(const void *state, int lock, int owner)
{
    struct recipe *r = (struct recipe *)(uintptr_t)state;
    const struct claim *claim = find(r, lock, owner);
    if (claim == NULL || claim->phase != HELD) {
        return LS_NOT_HELD;
    }
#ifdef FIXED
    int64_t twice = 2 * ls_env_elapsed_ms(r->env, &claim->sent);
#else
    int twice = (int)(2 * ls_env_elapsed_ms(r->env, &claim->sent));
#endif
    bool fresh = twice < r->timeout_ms;
    return r->connected && fresh ? LS_HELD : LS_UNKNOWN;
}
