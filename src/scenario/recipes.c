/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "scenario/recipes.h"

#include "base/assert.h"
#include "base/shared_object_path.h"
#include "broken/broken.h"
#include "recipes/recipe_mutex.h"
#include "sim/abilities.h"

#include <stdio.h>
#include <string.h>

#define ADDED_MAX 64

static struct added {
    const struct ls_recipe *recipe[ADDED_MAX];
    int count;
} added_correct, added_broken;

void recipe_add(const struct ls_recipe *recipe)
{
    struct added *added = recipe->breaks == NULL ? &added_correct : &added_broken;
    LS_ALWAYS(added->count < ADDED_MAX);
    added->recipe[added->count++] = recipe;
}

const struct ls_recipe *recipe_at(int index)
{
    const struct ls_recipe *const correct[] = {&ls_recipe_mutex,
                                               &ls_recipe_mutex_lent,
                                               &ls_recipe_rwlock,
                                               &ls_recipe_semaphore,
                                               &ls_recipe_semaphore_shared,
                                               &ls_recipe_election,
                                               &ls_recipe_election_selector,
                                               &textbook_recipe,
                                               &ls_recipe_multi,
                                               &ls_recipe_multi_mixed};
    const struct {
        const struct ls_recipe *const *recipe;
        int count;
    } lists[] = {{correct, (int)(sizeof correct / sizeof correct[0])},
                 {added_correct.recipe, added_correct.count},
                 {broken_recipes, broken_recipes_count},
                 {added_broken.recipe, added_broken.count}};
    for (size_t i = 0; index >= 0 && i < sizeof lists / sizeof lists[0]; i++) {
        if (index < lists[i].count) {
            return lists[i].recipe[index];
        }
        index -= lists[i].count;
    }
    return NULL;
}

const struct ls_recipe *recipe_find(const char *name)
{
    for (int i = 0; recipe_at(i); i++) {
        if (strcmp(recipe_at(i)->name, name) == 0) {
            return recipe_at(i);
        }
    }
    return NULL;
}

static bool takes(const struct ls_recipe *recipe, const struct world_options *options)
{
    return recipe->breaks == NULL && recipe_can_run(recipe, options);
}

const struct ls_recipe *recipe_for(const struct world_options *options)
{
    int index = 0;
    while (recipe_at(index) != NULL && !takes(recipe_at(index), options)) {
        index++;
    }
    LS_ASSERT(recipe_find(RECIPE_DEFAULT) != NULL);
    return recipe_at(index) != NULL ? recipe_at(index) : recipe_find(RECIPE_DEFAULT);
}

static recipe_loader loader;

void recipe_set_loader(recipe_loader wanted)
{
    loader = wanted;
}

const struct ls_recipe *recipe_load(const char *name, char why[RECIPE_WHY_MAX])
{
    bool path = shared_is_path(name);
    if (path && loader != NULL) {
        return loader(name, why);
    }
    snprintf(why, RECIPE_WHY_MAX, "%s",
             path ? "shared objects are loaded by the program lockstep alone" : "");
    return recipe_find(name);
}
