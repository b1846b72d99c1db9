/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* When the deadline comes while a woken waiter's list is under way, its answer may well be the grant. So the recipe waits for that answer,
 * and fails only if it does not bring the lock. The mistake: the answer has no time in which it must come. If the servers
 * cannot be heard, the caller is told seconds after its deadline. Breaks "A positive timeout_ms fails with LS_ETIMEDOUT after so
 * many milliseconds" (recipe.h), "LS_ETIMEDOUT at the deadline, even during an outage" (mutex.h). */
/* breaks: deadline_is_kept */
#include "base/recipe.h"

void on_deadline(void *ctx)
{
    struct claim *claim = ctx;
    struct ls_env *env = claim->recipe->env;
    ls_env_unlock(env);
#ifndef FIXED
    if (claim->phase == LISTING && claim->busy) {
        claim->trying = true; /* the list decides, and then there is no more waiting */
        claim->spare[0] = 1;
        ls_env_lock(env);
        return;
    }
#endif
    fail(claim, LS_ETIMEDOUT);
    ls_env_lock(env);
}

void on_list(int rc, const struct String_vector *names, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    if (!answered(claim, rc)) {
        return;
    }
    if (claim->ended) {
        go(claim, DELETING);
    } else if (rc == ZNONODE || (rc == ZOK && !find_place(claim, names))) {
        claim->named = false;
        go(claim, CREATING); /* somebody has removed our node: back to the end of the line */
    } else if (rc != ZOK) {
        fail(claim, rc == ZNOAUTH ? LS_ENOAUTH : LS_EZK);
    } else if (claim->ahead[0] == 0) {
        grant(claim);
    } else if (claim->trying) {
        fail(claim, claim->spare[0] != 0 ? LS_ETIMEDOUT : LS_EBUSY);
    } else {
        go(claim, WATCHING);
    }
}
