/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The recipe counts the levels of each owner apart from its claims, and takes them back at a release alone. The loss of
 * the session leaves them as they are.
 * recipe.h says of LS_REPORT_LOST: everything held under it is lost. It says of depth: how often the owner holds it now.
 * The owner's next acquire begins at a deeper level. Its release frees nothing, and all others wait for ever. */
/* breaks: release_matches_acquire */
#include "base/recipe.h"

/* A count for each of two locks and six owners, ten bits each. */
static uint64_t *levels(struct claim *claim, int *shift)
{
    *shift = claim->owner % 6 * 10;
    return (uint64_t *)&claim->recipe->spare[claim->lock % 2];
}

static int level(struct claim *claim, int change)
{
    int shift = 0;
    uint64_t *all = levels(claim, &shift);
    *all += (uint64_t)(int64_t)change << shift;
    return (int)(*all >> shift & 1023);
}

void clear(struct claim *claim, struct recipe *r)
{
#ifdef FIXED
    if (claim->phase == HELD) {
        level(claim, -claim->depth);
    }
#endif
    memset(claim, 0, sizeof *claim);
    claim->recipe = r;
}

void grant(struct claim *claim)
{
    ls_env_timer_stop(claim->recipe->env, &claim->deadline);
    claim->phase = HELD;
    claim->depth = level(claim, 1);
    tell(claim, LS_REPORT_GRANTED, 0);
}

int release(void *state, int lock, int owner)
{
    struct claim *claim = find(state, lock, owner);
    if (claim == NULL || claim->phase != HELD) {
        return LS_ENOTOWNER;
    }
    claim->depth = level(claim, -1);
    if (claim->depth == 0) {
        claim->freeing = true;
        go(claim, DELETING);
    }
    return 0;
}

int acquire(void *state, int lock, int owner, int timeout_ms)
{
    struct recipe *r = state;
    struct claim *claim = find(r, lock, owner);
    if (claim != NULL && claim->phase == HELD) {
        grant(claim);
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
    if (timeout_ms > 0 && ls_env_timer_start(r->env, &claim->deadline, "deadline-timer", (uint32_t)timeout_ms,
                                             on_deadline, claim) != 0) {
        clear(claim, r);
        return LS_ENOMEM;
    }
    go(claim, CREATING);
    return 0;
}
