/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "scenario/recipes.h"

#include "base/shared.h"
#include "broken/broken.h"
#include "lock/recipe_mutex.h"

#include <stdio.h>
#include <string.h>

const struct ls_recipe *recipe_at(int index)
{
    const struct ls_recipe *const correct[] = {&ls_recipe_mutex, &ls_recipe_mutex_lent, &textbook_recipe};
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
