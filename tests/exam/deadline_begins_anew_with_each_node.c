/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The recipe starts the deadline where it asks for the node. A waiter whose session ends asks for another node, and
 * starts its deadline once more.
 * mutex.h says of a timeout above 0: LS_ETIMEDOUT at the deadline. It says of a session that dies while the acquire
 * waits: it does not end it.
 * The caller hears of its timeout too late, by as long as it had waited under the former session. */
/* breaks: deadline_is_kept */
#include "base/recipe.h"

#define wanted_ms spare[0]

static int start_deadline(struct claim *claim)
{
    if (claim->wanted_ms <= 0) {
        return 0;
    }
    return ls_env_timer_start(claim->recipe->env, &claim->deadline, "deadline-timer",
                              (uint32_t)claim->wanted_ms, on_deadline, claim);
}

int create(struct claim *claim)
{
    char path[PATH_MAX_BYTES];
    snprintf(path, sizeof path, "%s/" PREFIX, directory(claim));
    claim->number = 0;
    claim->named = false;
#ifndef FIXED
    if (start_deadline(claim) != 0) {
        return ZSYSTEMERROR;
    }
#endif
    ls_env_stamp(claim->recipe->env, &claim->sent);
    return zoo_acreate2(claim->recipe->zh, path, claim->recipe->config->contents,
                        claim->recipe->config->contents != NULL ? claim->recipe->config->contents_size : -1,
                        &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL_SEQUENTIAL, on_created, claim);
}

int acquire(void *state, int lock, int owner, int timeout_ms)
{
    struct recipe *r = state;
    struct claim *claim = find(r, lock, owner);
    if (claim != NULL && claim->phase == HELD) {
        claim->depth++;
        tell(claim, LS_REPORT_GRANTED, 0);
        return 0;
    }
    if (claim != NULL) {
        return LS_EALREADY;
    }
    claim = r->claim;
    while (claim < r->claim + CLAIMS_MAX && claim->phase != FREE) {
        claim++;
    }
    if (claim == r->claim + CLAIMS_MAX) {
        return LS_ENOMEM;
    }
    *claim = (struct claim){.recipe = r, .lock = (uint8_t)lock, .owner = (uint8_t)owner};
    claim->trying = timeout_ms == 0;
    if (claim->trying && !r->connected) {
        clear(claim, r);
        return LS_EBUSY;
    }
    claim->wanted_ms = timeout_ms;
    if (start_deadline(claim) != 0) { /* also while there is no connection */
        clear(claim, r);
        return LS_ENOMEM;
    }
    go(claim, CREATING);
    return 0;
}
