/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Recipes: the built-in ones, and those of shared objects. */
#ifndef SCENARIO_RECIPES_H
#define SCENARIO_RECIPES_H

#include <lockstep/recipe.h>
#include <lockstep/sim.h>

#define RECIPE_DEFAULT "mutex"

#define RECIPE_WHY_MAX 400

/* Returns the built-in recipe of that name, or NULL. */
const struct ls_recipe *recipe_find(const char *name);

/* Returns the first built-in recipe that recipe_can_run() allows for these options, and that is not wrong on
 * purpose (`breaks` is NULL). Returns RECIPE_DEFAULT if there is none. */
const struct ls_recipe *recipe_for(const struct world_options *options);

/* Sets the function that loads shared objects; NULL = none can be loaded. `why` has RECIPE_WHY_MAX bytes. */
typedef const struct ls_recipe *(*recipe_loader)(const char *path, char *why);
void recipe_set_loader(recipe_loader loader);

/* Returns the built-in recipe of that name, or loads the shared object if the name is a path. Returns NULL on
 * failure; then `why` is a clause with the reason, empty for an unknown name. */
const struct ls_recipe *recipe_load(const char *name, char why[RECIPE_WHY_MAX]);

/* Adds a built-in recipe. Must be called in a constructor, before main(). */
void recipe_add(const struct ls_recipe *recipe);

/* Returns the index-th built-in recipe, the correct ones first; NULL behind the last. */
const struct ls_recipe *recipe_at(int index);

#endif
