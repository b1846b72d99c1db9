/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The stimulus that an action brings to a recipe and the recipe's states, for coverage reports. Also remarks
 * beside labels. */
#include "base/assert.h"
#include "sim/remark.h"
#include "sim/world.h"

#include <stdio.h>

/* Returns the stimulus of a verb or a restart; NULL = the action has none. */
static const char *name_verb(const struct action *action)
{
    if (action->kind == ACTION_ACQUIRE && action->timeout_ms >= 0) {
        return action->timeout_ms == 0 ? "try" : "acquire timeout";
    }
    return action->kind < ACTION_KINDS ? world_action_infos[action->kind].stimulus : NULL;
}

bool world_stimulus(struct world *world, const struct action *action, char text[WORLD_LABEL_MAX])
{
    (void)world;
    if (action->process >= the_world.options.processes) {
        return false;
    }
    if (action->kind == ACTION_DELIVER) {
        the_world.coordinator->stimulus(action, text);
        return true;
    }
    if (action->kind == ACTION_FIRE) {
        LS_ASSERT(action->timer < timer_count(action->process));
        snprintf(text, WORLD_LABEL_MAX, "%.80s", timer_name(timer_at(action->process, action->timer)));
        return true;
    }
    const char *verb = name_verb(action);
    if (verb != NULL) {
        snprintf(text, WORLD_LABEL_MAX, "%s", verb);
    }
    return verb != NULL;
}

uint32_t world_recipe_states(struct world *world, int process)
{
    const struct ls_recipe *recipe = world->options.recipe;
    if (recipe->states_now == NULL || !process_at(process)->started) {
        return 1;
    }
    return recipe->states_now(process_state(process));
}

static int say_count(char *text, size_t size, int count, const char *one, const char *several)
{
    return snprintf(text, size, "%d %s", count, count == 1 ? one : several);
}

void world_remark(struct world *world, const struct action *action, char text[WORLD_LABEL_MAX])
{
    text[0] = 0;
    if (action->kind == ACTION_DELIVER && world->coordinator->answer != NULL) {
        world->coordinator->answer(action, text);
    } else if (action->kind == ACTION_CUT) {
        int used = say_count(text, WORLD_LABEL_MAX, action->apply, "request is", "requests are");
        LS_ASSERT(used < WORLD_LABEL_MAX);
        used += snprintf(text + used, WORLD_LABEL_MAX - (size_t)used, " still done, ");
        used +=
            say_count(text + used, WORLD_LABEL_MAX - (size_t)used, action->keep, "reply is", "replies are");
        snprintf(text + used, WORLD_LABEL_MAX - (size_t)used, " still told");
    }
}
