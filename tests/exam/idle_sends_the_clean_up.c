/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A cancelled or late acquire leaves its watch and its node to the function idle(), which sends the requests.
 * It breaks "Pure: true when no clean-up is left over" of recipe.h: idle() has an effect.
 * A service that never asks keeps the node of the dead acquire. Whoever comes after it waits for ever. */
/* breaks: no_orphan_node */
#include "base/recipe.h"

#ifndef FIXED
void fail(struct claim *claim, int rc)
{
    ls_env_timer_stop(claim->recipe->env, &claim->deadline);
    tell(claim, LS_REPORT_FAILED, rc);
    claim->ended = true;
    if (!claim->busy) {
        claim->phase = claim->watching ? UNWATCHING : DELETING; /* idle() goes on */
    }
}

bool idle(const void *state)
{
    struct recipe *r = (struct recipe *)(uintptr_t)state;
    bool all = true;
    for (int i = 0; i < CLAIMS_MAX; i++) {
        struct claim *claim = &r->claim[i];
        if (claim->ended && !claim->busy) {
            go(claim, (enum phase)claim->phase);
        }
        all &= !claim->ended;
    }
    return all;
}
#endif
