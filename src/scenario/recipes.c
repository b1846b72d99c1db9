/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "scenario/recipes.h"

#include "broken/broken.h"
#include "lock/recipe_mutex.h"
#include "plugin/plugin.h"

#include <stdio.h>
#include <string.h>

const struct ls_recipe *recipe_at(int index)
{
    const struct ls_recipe *const correct[] = {&ls_recipe_mutex, &textbook_recipe};
    const int corrects = (int)(sizeof correct / sizeof correct[0]);
    if (index < 0 || index >= corrects + broken_recipes_count) {
        return NULL;
    }
    return index < corrects ? correct[index] : broken_recipes[index - corrects];
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

const struct ls_recipe *recipe_load(const char *name, char why[RECIPE_WHY_MAX])
{
    if (plugin_is_path(name)) {
        return plugin_recipe(name, why);
    }
    snprintf(why, RECIPE_WHY_MAX, "no recipe has this name");
    return recipe_find(name);
}
