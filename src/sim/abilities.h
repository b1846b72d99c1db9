/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* What a recipe can be asked for: of each pair of functions it has both or none (recipe.h). */
#ifndef SIM_ABILITIES_H
#define SIM_ABILITIES_H

#include <lockstep/recipe.h>

static inline bool recipe_can_guard(const struct ls_recipe *recipe)
{
    return recipe->guard != NULL && recipe->handle != NULL;
}

static inline bool recipe_can_revoke(const struct ls_recipe *recipe)
{
    return recipe->revocable != NULL && recipe->revoke != NULL;
}

static inline bool recipe_can_close(const struct ls_recipe *recipe)
{
    return recipe->close != NULL && recipe->open != NULL;
}

#endif
