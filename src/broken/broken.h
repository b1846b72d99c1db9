/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Broken recipes: canaries that the judges must catch, each with one defect that a real recipe has had. */
#ifndef BROKEN_BROKEN_H
#define BROKEN_BROKEN_H

#include <lockstep/recipe.h>

/* In the order of BROKEN_LIST, which tests rely on. `breaks` is never NULL. */
extern const struct ls_recipe *const broken_recipes[];
extern const int broken_recipes_count;

/* The recipe that the broken ones are made from, without a defect: a second correct mutex. */
extern const struct ls_recipe textbook_recipe;

#endif
