/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "scenario/recipes.h"

#include "broken/broken.h"
#include "lock/recipe_mutex.h"

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
