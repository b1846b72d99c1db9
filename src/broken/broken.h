/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Broken recipes: the textbook mutex with one defect each, which a judge must catch. */
#ifndef BROKEN_BROKEN_H
#define BROKEN_BROKEN_H

#include <lockstep/recipe.h>

/* In the order of BROKEN_LIST, which tests rely on. */
extern const struct ls_recipe *const broken_recipes[];
extern const int broken_recipes_count;

/* The textbook mutex without a defect: a second correct mutex. */
extern const struct ls_recipe textbook_recipe;

#endif
