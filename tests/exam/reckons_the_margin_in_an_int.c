/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The used part of the session's time is reckoned in hundredths, and the product is kept in 32 bits: after
 * 2^31 / 100 milliseconds, not quite six hours, it is negative, and a holder of so long a time believes
 * again without any reason, for the next six hours. recipe.h: LS_UNKNOWN is for holds whose "safe time has
 * run out"; mutex.h: LS_HELD needs "a write or sync that was sent within the margin". A process that is
 * stopped then and loses its session goes on believing beside the next holder. */
/* breaks: belief_ends_in_time */
#include "base/recipe.h"

#define MARGIN_PERCENT 50

enum ls_belief query(const void *state, int lock, int owner)
{
    struct recipe *r = (struct recipe *)(uintptr_t)state;
    const struct claim *claim = find(r, lock, owner);
    if (claim == NULL || claim->phase != HELD) {
        return LS_NOT_HELD;
    }
#ifdef FIXED
    int64_t used = ls_env_elapsed_ms(r->env, &claim->sent) * 100;
#else
    int32_t used = ls_env_elapsed_ms(r->env, &claim->sent) * 100;
#endif
    /* NOLINTNEXTLINE(bugprone-implicit-widening-of-multiplication-result) */
    return r->connected && used < r->timeout_ms * MARGIN_PERCENT ? LS_HELD : LS_UNKNOWN;
}
