/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The mutex of this folder as a recipe for drivers. */
#ifndef LOCK_RECIPE_MUTEX_H
#define LOCK_RECIPE_MUTEX_H

#include <lockstep/recipe.h>

extern const struct ls_recipe ls_recipe_mutex;

#endif
