/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "scenario/recipes.h"

#include "base/assert.h"
#include "base/shared.h"
#include "broken/broken.h"
#include "lock/recipe_mutex.h"

#include <stdio.h>
#include <string.h>

#define ADDED_MAX 16

static const struct ls_recipe *added[ADDED_MAX];
static int additions;

void recipe_add(const struct ls_recipe *recipe)
{
    LS_ALWAYS(additions < ADDED_MAX);
    added[additions++] = recipe;
}

/* The index-th that was added and is correct, or is not; NULL behind the last. */
static const struct ls_recipe *added_at(int index, bool correct)
{
    for (int i = 0; i < additions; i++) {
        if ((added[i]->breaks == NULL) == correct && index-- == 0) {
            return added[i];
        }
    }
    return NULL;
}

const struct ls_recipe *recipe_at(int index)
{
    const struct ls_recipe *const correct[] = {&ls_recipe_mutex, &ls_recipe_mutex_lent, &textbook_recipe};
    const int corrects = (int)(sizeof correct / sizeof correct[0]);
    int added_corrects = 0;
    while (added_at(added_corrects, true) != NULL) {
        added_corrects++;
    }
    if (index < corrects) {
        return index < 0 ? NULL : correct[index];
    }
    index -= corrects;
    if (index < added_corrects) {
        return added_at(index, true);
    }
    index -= added_corrects;
    return index < broken_recipes_count ? broken_recipes[index]
                                        : added_at(index - broken_recipes_count, false);
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
