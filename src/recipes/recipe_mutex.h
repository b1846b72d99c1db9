/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Recipes for drivers that are made of src/lock:
 * - the mutex with a session that opens its handles, and the mutex on handles that the application lends
 * - the read-write lock and the semaphore
 * - the election, and several locks at once */
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
