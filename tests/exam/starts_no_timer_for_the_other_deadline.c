/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* One timer serves the deadlines of all owners of a process: it runs to the nearest one. When it has gone off it is started for the
 * next one. The mistake: it is not, if the nearest one is over because its owner has got the lock (or given up) in time. The deadline of
 * the other owner is then forgotten, and it waits for ever. Breaks "A positive timeout_ms fails with LS_ETIMEDOUT after so
 * many milliseconds" (recipe.h). */
/* breaks: deadline_is_kept */
#include "base/recipe.h"

/* recipe.spare[0] is the timer, recipe.spare[1] the claim it runs for, from 1. claim.spare[0] is when the acquire began,
 * claim.spare[1] its timeout, 0 = none or over. */
static struct ls_timer *timer_of(struct recipe *r)
{
    return (struct ls_timer *)(uintptr_t)&r->spare[0];
}

static struct ls_stamp *began(struct claim *claim)
{
    return (struct ls_stamp *)(uintptr_t)&claim->spare[0];
}

static int arm(struct recipe *r)
{
    int64_t nearest = INT64_MAX;
    struct claim *next = NULL;
    for (int i = 0; i < CLAIMS_MAX; i++) {
        struct claim *claim = &r->claim[i];
        if (claim->phase != FREE && claim->spare[1] != 0) {
            int64_t left = claim->spare[1] - ls_env_elapsed_ms(r->env, began(claim));
            if (left < nearest) {
                nearest = left;
                next = claim;
            }
        }
    }
    if (next == NULL) {
        ls_env_timer_stop(r->env, timer_of(r));
        return 0;
    }
    r->spare[1] = next - r->claim + 1;
    return ls_env_timer_start(r->env, timer_of(r), "deadline-timer", nearest > 0 ? (uint32_t)nearest : 0,
                              on_deadline, r);
}

static void arm_again(struct recipe *r)
{
    if (arm(r) != 0) {
        fail(&r->claim[r->spare[1] - 1], LS_ENOMEM);
    }
}

/* This claim has its answer. */
static void disarm(struct claim *claim)
{
    struct recipe *r = claim->recipe;
    bool mine = claim->spare[1] != 0 && r->spare[1] == claim - r->claim + 1;
    claim->spare[1] = 0;
    if (mine) {
#ifdef FIXED
        arm_again(r);
#else
        ls_env_timer_stop(r->env, timer_of(r));
#endif
    }
}

void on_deadline(void *ctx)
{
    struct recipe *r = ctx;
    struct claim *claim = &r->claim[r->spare[1] - 1];
    ls_env_unlock(r->env);
    claim->spare[1] = 0;
    arm_again(r);
    fail(claim, LS_ETIMEDOUT);
    ls_env_lock(r->env);
}

void fail(struct claim *claim, int rc)
{
    disarm(claim);
    tell(claim, LS_REPORT_FAILED, rc);
    claim->ended = true;
    if (!claim->busy) {
        go(claim, claim->watching ? UNWATCHING : DELETING);
    }
}

void grant(struct claim *claim)
{
    disarm(claim);
    claim->phase = HELD;
    claim->depth = 1;
    tell(claim, LS_REPORT_GRANTED, 0);
}

void stop(void *state)
{
    struct recipe *r = state;
    r->stopping = true;
    ls_env_timer_stop(r->env, &r->reopen);
    ls_env_timer_stop(r->env, timer_of(r));
    close_session(r);
    memset(r, 0, sizeof *r);
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
        return LS_EBUSY; /* nobody can be asked now */
    }
    if (timeout_ms > 0) {
        claim->phase = CREATING;
        claim->spare[1] = timeout_ms;
        ls_env_stamp(r->env, began(claim));
        if (arm(r) != 0) {
            clear(claim, r);
            arm(r);
            return LS_ENOMEM;
        }
    }
    go(claim, CREATING);
    return 0;
}
