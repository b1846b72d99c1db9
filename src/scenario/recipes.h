/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The recipes that are built in. */
#ifndef SCENARIO_RECIPES_H
#define SCENARIO_RECIPES_H

#include <lockstep/recipe.h>

#define RECIPE_DEFAULT "mutex"

/* The recipe of that name, or NULL. */
const struct ls_recipe *recipe_find(const char *name);

/* All of them, the correct ones first: the index-th, or NULL behind the last. */
const struct ls_recipe *recipe_at(int index);

#endif
