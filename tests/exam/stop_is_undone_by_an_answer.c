/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The function stop() stops the timers first, then closes the handle, and says only then that it is stopping.
 * The close answers a create that was under way. The recipe takes that for a doubt, and a timer opens a new session.
 * It breaks "Ends it in an orderly way: closes the session. Nothing is reported afterwards" of recipe.h.
 * A stopped process tells of a loss. Where timers survive, it opens a session again that nobody closes. */
/* breaks: contract_is_kept */
#include "base/recipe.h"

void stop(void *state)
{
    struct recipe *r = state;
#ifdef FIXED
    r->stopping = true;
#endif
    ls_env_timer_stop(r->env, &r->reopen);
    for (int i = 0; i < CLAIMS_MAX; i++) {
        ls_env_timer_stop(r->env, &r->claim[i].deadline);
    }
    close_session(r);
    r->stopping = true;
    r->session = 0;
    for (int i = 0; i < CLAIMS_MAX; i++) {
        clear(&r->claim[i], r);
    }
}
