/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Z67: the event comes between the arming of the watch and the wait for it.
 *
 * Source: CURATOR-527 and CURATOR-641. Both describe a notification that comes before its waiter waits. In
 * the published code one monitor covers both steps, and the reports were closed. This is that code without
 * the monitor.
 *
 * B has read A's node with a watch and is about to wait. A deletes its node. B's watch fires and wakes all
 * threads that wait, but none does yet. Then B goes to sleep beside a free lock. Here a timer takes the step
 * between the two, as a thread that is not scheduled at once.
 *
 * Two clients and no fault are enough. Before it sleeps, FIXED looks whether its watch is still armed.
 *
 * Caught by no_lost_wakeup. */
#define CLAIM_FIELDS struct ls_timer asleep; /* while FALLING_ASLEEP */
#include "skeleton/known_by_name.h"

/* The waiter has come to its wait. */
static void on_asleep(void *ctx)
{
    struct claim *claim = ctx;
    struct ls_env *env = claim->recipe->env;
    ls_env_unlock(env); /* timers come with the mutex held */
#ifdef FIXED
    go(claim, claim->watching ? WAITING : LISTING);
#else
    go(claim, WAITING);
#endif
    ls_env_lock(env);
}

static void fall_asleep(struct claim *claim)
{
    struct ls_env *env = claim->recipe->env;
    claim->phase = FALLING_ASLEEP;
    if (ls_env_timer_start(env, &claim->asleep, "asleep-timer", 1, on_asleep, claim) != 0) {
        claim->phase = WAITING; /* at once */
    }
}

static void stop_timer(struct claim *claim, enum phase phase)
{
    (void)phase;
    ls_env_timer_stop(claim->recipe->env, &claim->asleep);
}

static const struct variation variation = {.fall_asleep = fall_asleep, .enters = stop_timer};

CANARY(.name = "z67-woken-before-asleep",
       .summary = "goes to sleep without another look at what came after the watch was armed",
       .breaks = "no_lost_wakeup");
