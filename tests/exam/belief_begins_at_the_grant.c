/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The recipe counts the time of its belief from the grant. The answer that led to the grant may be old by
 * then. It is, if the process was stopped while the answer lay in its socket.
 * mutex.h, ls_mutex_query: LS_HELD means "the session was confirmed, by a write or sync sent within the margin".
 * The owner is told that it holds a lock whose session ended long ago, and that another client holds. */
/* breaks: at_most_one_believer */
#include "base/recipe.h"

#ifndef FIXED
void grant(struct claim *claim)
{
    ls_env_timer_stop(claim->recipe->env, &claim->deadline);
    claim->phase = HELD;
    claim->depth = 1;
    ls_env_stamp(claim->recipe->env, &claim->sent); /* the hold begins now */
    tell(claim, LS_REPORT_GRANTED, 0);
}
#endif
