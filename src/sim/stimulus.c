/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* What an action brings to a recipe, and in which state it finds it: for reports of what was covered. */
#include "sim/world.h"

#include <stdio.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

/* Codes that recipes tell apart have a name. */
static void name_code(int rc, char *text, size_t size)
{
    static const struct {
        int rc;
        const char *name;
    } NAMES[] = {
        {ZOK, "ok"},
        {ZCONNECTIONLOSS, "lost"},
        {ZOPERATIONTIMEOUT, "timed-out"},
        {ZCLOSING, "closing"},
        {ZINVALIDSTATE, "invalid-state"},
        {ZSESSIONEXPIRED, "expired"},
        {ZNONODE, "no-node"},
        {ZNODEEXISTS, "exists"},
        {ZNOAUTH, "no-permission"},
        {ZNOWATCHER, "no-watcher"},
        {ZNOCHILDRENFOREPHEMERALS, "parent-ephemeral"},
        {ZUNIMPLEMENTED, "unimplemented"},
        {ZBADARGUMENTS, "bad-arguments"},
    };
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        if (NAMES[i].rc == rc) {
            snprintf(text, size, "%s", NAMES[i].name);
            return;
        }
    }
    snprintf(text, size, "rc=%d", rc);
}

/* A reply with its code; a watch event with whose node it is about (unknown if it is found out at a reconnect); a session event. */
static void name_delivery(const struct action *action, char *text)
{
    struct fakezk_step step;
    step_of_action(action, &step);
    char what[FAKEZK_PATH_MAX], code[32];
    int32_t owner;
    fakezk_describe_step(&step, what, sizeof what, &owner);
    size_t size = strlen(what);
    if (fakezk_delivery_is_watch(step.client, step.handle)) {
        const char *whose = owner == 0 ? "unknown" : owner - 1 == action->process ? "own" : "other";
        snprintf(text, WORLD_LABEL_MAX, "%.60s %s", what, whose);
    } else if (size > 6 && strcmp(what + size - 6, "-reply") == 0) {
        name_code(fakezk_delivery_rc(step.client, step.handle), code, sizeof code);
        snprintf(text, WORLD_LABEL_MAX, "%.60s %s", what, code);
    } else {
        snprintf(text, WORLD_LABEL_MAX, "%.60s", what);
    }
}

/* What enters a recipe, but for timers and deliveries; NULL otherwise. */
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
        name_delivery(action, text);
        return true;
    }
    if (action->kind == ACTION_FIRE) {
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
