/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The functions of struct ls_recipe, without canon(), in the skeletons that keep a node's number. */
#ifndef CANARY_SKELETON_RECIPE_CALLS_H
#define CANARY_SKELETON_RECIPE_CALLS_H

/* ---- the recipe's functions ---- */

static int start(void *state, struct ls_env *env, const struct ls_recipe_config *config)
{
    struct recipe *r = state;
    r->env = env;
    r->config = config;
    for (int i = 0; i < CLAIMS_MAX; i++) {
        clear(&r->claim[i], r);
    }
    open_session(r);
    return r->zh != NULL ? 0 : LS_ENOMEM;
}

static void stop(void *state)
{
    struct recipe *r = state;
    r->stopping = true;
    ls_env_timer_stop(r->env, &r->reopen);
    for (int i = 0; i < CLAIMS_MAX; i++) {
        ls_env_timer_stop(r->env, &r->claim[i].deadline);
    }
    close_session(r);
    memset(r, 0, sizeof *r);
}

/* Returns the claim of an owner that still has a caller, or NULL. */
static struct claim *find(struct recipe *r, int lock, int owner)
{
    for (int i = 0; i < CLAIMS_MAX; i++) {
        struct claim *claim = &r->claim[i];
        if (claim->phase != FREE && !claim->ended && !claim->freeing && claim->lock == lock &&
            claim->owner == owner) {
            return claim;
        }
    }
    return NULL;
}

static void on_deadline(void *ctx)
{
    struct claim *claim = ctx;
    struct ls_env *env = claim->recipe->env;
    ls_env_unlock(env);
    fail(claim, LS_ETIMEDOUT);
    ls_env_lock(env);
}

static int acquire(void *state, int lock, int owner, int timeout_ms)
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
    if (timeout_ms == 0 && !r->connected) {
        return LS_EBUSY; /* no server can be asked now */
    }
    if (timeout_ms > 0 && ls_env_timer_start(r->env, &claim->deadline, "deadline-timer", (uint32_t)timeout_ms,
                                             on_deadline, claim) != 0) {
        return LS_ENOMEM;
    }
    claim->lock = (uint8_t)lock;
    claim->owner = (uint8_t)owner;
    claim->trying = timeout_ms == 0;
    begin(claim);
    go(claim, CREATING);
    return 0;
}

static int cancel(void *state, int lock, int owner)
{
    struct claim *claim = find(state, lock, owner);
    if (claim == NULL || claim->phase == HELD) {
        return LS_ENOENT;
    }
    fail(claim, LS_ECANCELED);
    return 0;
}

static int release(void *state, int lock, int owner)
{
    struct claim *claim = find(state, lock, owner);
    if (claim == NULL || claim->phase != HELD) {
        return LS_ENOTOWNER;
    }
    if (--claim->depth == 0) {
        claim->freeing = true;
        go(claim, DELETING);
    }
    return 0;
}

static enum ls_belief query(const void *state, int lock, int owner)
{
    struct recipe *r = (struct recipe *)(uintptr_t)state;
    const struct claim *claim = find(r, lock, owner);
    if (claim == NULL || claim->phase != HELD) {
        return LS_NOT_HELD;
    }
    bool fresh = ls_env_elapsed_ms(r->env, &claim->sent) * 2 < r->timeout_ms;
    return r->connected && fresh ? LS_HELD : LS_UNKNOWN;
}

static bool idle(const void *state)
{
    const struct recipe *r = state;
    for (int i = 0; i < CLAIMS_MAX; i++) {
        if (r->claim[i].ended) {
            return false;
        }
    }
    return true;
}

#endif
