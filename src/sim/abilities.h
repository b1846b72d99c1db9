/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* What a recipe can be asked for: of each pair of functions it has both or none, and it knows kinds of lock (recipe.h). */
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

static inline bool recipe_knows_kind(const struct ls_recipe *recipe, enum ls_lock_kind kind)
{
    uint32_t kinds = recipe->kinds != 0 ? recipe->kinds : LS_LOCK_BIT(LS_LOCK_MUTEX);
    return (kinds & LS_LOCK_BIT(kind)) != 0;
}

/* The word of scenario files. */
static inline const char *lock_kind_name(enum ls_lock_kind kind)
{
    static const char *const NAMES[LS_LOCK_KINDS] = {"mutex", "semaphore", "rwlock"};
    return kind < LS_LOCK_KINDS ? NAMES[kind] : "lock of this kind";
}

#endif
