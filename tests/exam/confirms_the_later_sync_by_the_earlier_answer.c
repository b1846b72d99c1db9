/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* With keep_fresh a holder sends a sync each sixth of the timeout; the moment of its sending counts once its answer is there. The
 * mistake: the next sync is sent, and its moment noted, also while the one before has no answer yet; the late answer of the
 * earlier one then confirms the moment of the later one. A process that was stopped with an answer in its socket believes
 * anew when it wakes, though its session is over and another holds. Breaks "LS_HELD: a write or sync that was sent
 * within the margin has confirmed the session" (mutex.h), "LS_UNKNOWN: ... the safe time has run out" (recipe.h). */
/* breaks: belief_ends_in_time */
#include "base/recipe.h"

/* While HELD, claim.spare are two stamps, claim.deadline is the timer, and claim.parent is made of these. */
enum {
    SLOT = 1,
    CONFIRMED = 2,
    ASKED = 4
}; /* the stamp that is confirmed, whether one is, whether the other is asked */

static struct ls_stamp *stamp_of(const struct claim *claim, int slot)
{
    _Static_assert(sizeof(struct ls_stamp) == sizeof claim->spare[0], "no room");
    return (struct ls_stamp *)(uintptr_t)&claim->spare[slot];
}

static void on_synced(int rc, const char *value, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    (void)value;
    if (claim->phase != HELD || (claim->parent & ASKED) == 0) {
        return;
    }
    claim->parent &= (uint8_t)~ASKED;
    if (rc == ZOK) {
        claim->parent ^= SLOT;
        claim->parent |= CONFIRMED;
    }
}

static void on_fresh(void *ctx)
{
    struct claim *claim = ctx;
    struct recipe *r = claim->recipe;
    if (claim->phase != HELD) {
        return;
    }
    bool send = r->connected;
#ifdef FIXED
    send = send && (claim->parent & ASKED) == 0;
#endif
    if (send) {
        ls_env_stamp(r->env, stamp_of(claim, (claim->parent & SLOT) ^ SLOT));
        claim->parent |= ASKED;
        ls_env_unlock(r->env);
        if (zoo_async(r->zh, directory(claim), on_synced, claim) != ZOK) {
            claim->parent &= (uint8_t)~ASKED;
        }
        ls_env_lock(r->env);
    }
    ls_env_timer_start(r->env, &claim->deadline, "fresh-timer", (uint32_t)r->timeout_ms / 6, on_fresh, claim);
}

void grant(struct claim *claim)
{
    struct recipe *r = claim->recipe;
    ls_env_timer_stop(r->env, &claim->deadline);
    claim->phase = HELD;
    claim->depth = 1;
    claim->parent = 0;
    if (r->config->keep_fresh) {
        ls_env_timer_start(r->env, &claim->deadline, "fresh-timer", (uint32_t)r->timeout_ms / 6, on_fresh,
                           claim);
    }
    tell(claim, LS_REPORT_GRANTED, 0);
}

enum ls_belief query(const void *state, int lock, int owner)
{
    struct recipe *r = (struct recipe *)(uintptr_t)state;
    const struct claim *claim = find(r, lock, owner);
    if (claim == NULL || claim->phase != HELD) {
        return LS_NOT_HELD;
    }
    bool fresh = ls_env_elapsed_ms(r->env, &claim->sent) < r->timeout_ms / 2;
    if ((claim->parent & CONFIRMED) != 0) {
        fresh |= ls_env_elapsed_ms(r->env, stamp_of(claim, claim->parent & SLOT)) < r->timeout_ms / 2;
    }
    return r->connected && fresh ? LS_HELD : LS_UNKNOWN;
}
