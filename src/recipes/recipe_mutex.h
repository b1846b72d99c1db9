/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The recipes that are made of src/lock. In mutex_lent, the application opens the handles and lends them. */
#ifndef RECIPES_RECIPE_MUTEX_H
#define RECIPES_RECIPE_MUTEX_H

#include <lockstep/recipe.h>

extern const struct ls_recipe ls_recipe_mutex;
extern const struct ls_recipe ls_recipe_mutex_lent;
extern const struct ls_recipe ls_recipe_rwlock;
extern const struct ls_recipe ls_recipe_semaphore;
extern const struct ls_recipe ls_recipe_semaphore_shared;
extern const struct ls_recipe ls_recipe_election;
extern const struct ls_recipe ls_recipe_election_selector;
extern const struct ls_recipe ls_recipe_multi;
extern const struct ls_recipe ls_recipe_multi_mixed;

#endif
