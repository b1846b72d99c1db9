/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* cancel() looks for the pending acquire of the owner, "a thread waits for one lock at a time". But an acquire does not
 * wait, so that an owner may have acquires of several locks pending, or one pending and one just granted.
 * recipe.h says: cancel() gives a pending acquire up, and returns LS_ENOENT if none (of this lock) is pending.
 * Run: an owner asks for two locks, and cancels the second one just after it was granted. In place of LS_ENOENT the
 * acquire of the first lock, which nobody gave up, fails with LS_ECANCELED. */
/* breaks: answers_have_reasons */
#include "base/recipe.h"

#ifndef FIXED
int cancel(void *state, int lock, int owner)
{
    struct recipe *r = state;
    (void)lock;
    for (int i = 0; i < CLAIMS_MAX; i++) {
        struct claim *claim = &r->claim[i];
        bool pending = claim->phase != FREE && claim->phase != HELD && !claim->ended && !claim->freeing;
        if (pending && claim->owner == owner) {
            fail(claim, LS_ECANCELED);
            return 0;
        }
    }
    return LS_ENOENT;
}
#endif
