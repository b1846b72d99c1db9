/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Recipes: those that are built in, and shared objects. */
#ifndef SCENARIO_RECIPES_H
#define SCENARIO_RECIPES_H

#include <lockstep/recipe.h>
#include <lockstep/sim.h>

#define RECIPE_DEFAULT "mutex"

#define RECIPE_WHY_MAX 400

/* The built-in recipe of that name, or NULL. */
const struct ls_recipe *recipe_find(const char *name);

/* The first built-in recipe that is correct, for the coordinator of these options, and knows the kinds of
 * their locks. Without one it is RECIPE_DEFAULT. */
const struct ls_recipe *recipe_for(const struct world_options *options);

/* Who loads shared objects; NULL = nobody. `why` has RECIPE_WHY_MAX bytes. */
typedef const struct ls_recipe *(*recipe_loader)(const char *path, char *why);
void recipe_set_loader(recipe_loader loader);

/* The same; a path is that of a shared object, which is loaded. NULL: `why` is a clause that says why, empty if there is no
 * such name. */
const struct ls_recipe *recipe_load(const char *name, char why[RECIPE_WHY_MAX]);

/* Makes a recipe a built-in one. To be called by a constructor of whoever is linked with its coordinator. */
void recipe_add(const struct ls_recipe *recipe);

/* All that are built in, the correct ones first: the index-th, or NULL behind the last. */
const struct ls_recipe *recipe_at(int index);

#endif
