/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The mutex of this folder as recipes for drivers: with a session that opens its handles, and on handles that
 * the application lends. */
#ifndef RECIPES_RECIPE_MUTEX_H
#define RECIPES_RECIPE_MUTEX_H

#include <lockstep/recipe.h>

extern const struct ls_recipe ls_recipe_mutex;
extern const struct ls_recipe ls_recipe_mutex_lent;

#endif
