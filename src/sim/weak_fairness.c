/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Questions about "for ever": which processes wait, a world without further faults, and weak fairness.
 *
 * Weak fairness: a fair action that stays enabled is done at last. Fair are
 * - steps of the system, but not ACTION_LINGER: a write behind a broken link may be lost;
 * - free expiries, and ends of faults, but no restart: a crashed process may stay away, and its session ends;
 * - verbs of programs, but no acquire, cancel, start or open: no owner has to want a lock, but a holder gives
 *   it back as its program says. */
#include "base/assert.h"
#include "sim/waiters.h"
#include "sim/world.h"

#include <stdio.h>
#include <string.h>

bool world_waits(const struct world *world, int p)
{
    LS_ASSERT(p < world->options.processes);
    return waiter_waits(&(struct waiter){.process = (uint8_t)p, .all = true});
}

int world_faults_left(const struct world *world)
{
    (void)world;
    const struct world_state *state = the_state();
    int left = 0;
    for (int fault = 0; fault < WORLD_FAULTS; fault++) {
        left += state->budget[fault];
    }
    LS_ASSERT(!state->over || left == 0);
    return left < state->budget_total ? left : state->budget_total;
}

void world_end_faults(struct world *world)
{
    struct world_state *state = state_mark();
    memset(state->budget, 0, sizeof state->budget);
    state->over = 1;
    if (world->options.budget_total != 255) {
        state->budget_total = 0;
    }
}

static bool is_fair(const struct action *action)
{
    return action_has(action, TRAIT_FAIR) || the_world.coordinator->price(action) != 0;
}

/* Appends the server, the directory, or the process. `owner=N` follows for a verb of a task, `/2` for a step
 * of a second handle. */
static void add_role(const struct action *action, char *text)
{
    size_t used = strlen(text);
    char *end = text + used;
    size_t size = WORLD_LABEL_MAX - used;
    LS_ASSERT(used < WORLD_LABEL_MAX);
    if (action_has(action, TRAIT_SERVER)) {
        snprintf(end, size, " s%d", action->server + 1);
    } else if (action_has(action, TRAIT_DIRECTORY)) {
        snprintf(end, size, " %s", the_world.lock_path[action->lock]);
    } else if (action->process < the_world.options.processes) {
        const char *name = the_world.options.name[action->process];
        bool second = action_has(action, TRAIT_STEP) && action->kind != ACTION_BURY && action->handle > 0;
        bool of_task = world_is_verb(action) && the_world.options.program[action->process].tasks > 0;
        if (of_task) {
            snprintf(end, size, " %s owner=%d", name, action->owner);
        } else {
            snprintf(end, size, " %s%s", name, second ? "/2" : "");
        }
    }
}

bool world_channel(struct world *world, const struct action *action, char text[WORLD_LABEL_MAX])
{
    if (!is_fair(action)) {
        return false;
    }
    if (action->kind == ACTION_FIRE) {
        world_label(world, action, text);
        return true;
    }
    const char *name = world_is_verb(action) ? "program" : world_action_verb(action->kind);
    snprintf(text, WORLD_LABEL_MAX, "%s", name);
    add_role(action, text);
    return true;
}
