/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "support/all_states.h"

#include "base/hash.h"
#include "scenario/recipes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

void all_states_open(struct all_states *all, const char *text, uint32_t most)
{
    struct input_error error;
    memset(all, 0, sizeof *all);
    if (scenario_read_bytes(&all->scenario, "s", text, strlen(text), &error) != 0) {
        fail_msg("%s", error.text);
    }
    all->setup = (struct run_setup){
        .scenario = &all->scenario, .recipe = recipe_find("mutex"), .schedule = SCHEDULE_SEARCH};
    assert_int_equal(run_init(&all->run, &all->setup), 0);
    run_begin(&all->run, SCHEDULE_SEARCH, 1);
    all->most = most;
    all->image = calloc(most, sizeof(void *));
    all->key = calloc(2ul * most, sizeof *all->key);
    all->place = calloc(2ul * most, sizeof *all->place);
    assert_true(all->image != NULL && all->key != NULL && all->place != NULL);
}

void all_states_close(struct all_states *all)
{
    for (uint32_t i = 0; i < all->count; i++) {
        world_image_free(all->image[i]);
    }
    free(all->image);
    free(all->key);
    free(all->place);
    run_close(&all->run);
    scenario_close(&all->scenario);
}

/* Returns the slot of the fingerprint in the table, or the free slot that is to have it. */
static size_t slot_of(const struct all_states *all, uint64_t fingerprint)
{
    size_t mask = 2ul * all->most - 1;
    size_t at = fingerprint & mask;
    while (all->key[at] != 0 && all->key[at] != fingerprint) {
        at = (at + 1) & mask;
    }
    return at;
}

uint32_t all_states_find(const struct all_states *all, uint64_t fingerprint)
{
    size_t at = slot_of(all, fingerprint);
    return all->key[at] != 0 ? all->place[at] : UINT32_MAX;
}

uint32_t all_states_meet(struct all_states *all, uint64_t fingerprint)
{
    size_t at = slot_of(all, fingerprint);
    if (all->key[at] == 0) {
        assert_true(all->count < all->most);
        all->key[at] = fingerprint;
        all->place[at] = all->count;
        all->image[all->count++] = world_save(all->run.world);
    }
    return all->place[at];
}

uint64_t all_states_label(struct all_states *all, const struct action *action)
{
    struct world *world = all->run.world;
    _Alignas(8) char label[(WORLD_LABEL_MAX + 7) / 8 * 8] = {0};
    world_label(world, action, label);
    size_t size = strlen(label);
    memset(label + size, 0, sizeof label - size);
    return hash_bytes(label, sizeof label, 7);
}

void all_states_steps(struct all_states *all, uint32_t state,
                      void (*after)(void *context, const struct action *action, uint64_t label),
                      void *context)
{
    struct action actions[WORLD_ACTIONS_MAX];
    struct world *world = all->run.world;
    world_restore(world, all->image[state]);
    int count = world_actions(world, actions);
    for (int i = 0; i < count; i++) {
        world_restore(world, all->image[state]);
        uint64_t label = all_states_label(all, &actions[i]);
        world_do(world, &actions[i]);
        after(context, &actions[i], label);
    }
}
