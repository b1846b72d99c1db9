/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The abilities of a recipe (recipe.h). An ability of two functions needs both. */
#ifndef SIM_ABILITIES_H
#define SIM_ABILITIES_H

#include "coord/coordinator.h"

#include <lockstep/recipe.h>
#include <lockstep/sim.h>
#include <string.h>

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

static inline bool recipe_can_take_several(const struct ls_recipe *recipe)
{
    return recipe->acquire_all != NULL && recipe->release_all != NULL;
}

static inline bool recipe_can_resize(const struct ls_recipe *recipe)
{
    return recipe->set_capacity != NULL;
}

/* Returns whether the recipe is written for this coordinator. In both names NULL stands for "zookeeper". */
static inline bool recipe_is_for(const struct ls_recipe *recipe, const char *coordinator)
{
    const char *wanted = recipe->coordinator != NULL ? recipe->coordinator : "zookeeper";
    return strcmp(wanted, coordinator != NULL ? coordinator : "zookeeper") == 0;
}

/* Returns the first kind of lock of a world that the recipe does not know; LS_LOCK_KINDS = it knows all. */
static inline enum ls_lock_kind recipe_unknown_kind(const struct ls_recipe *recipe,
                                                    const struct world_options *options)
{
    for (int i = 0; i < options->locks; i++) {
        if (!recipe_knows_kind(recipe, (enum ls_lock_kind)options->lock[i].kind)) {
            return (enum ls_lock_kind)options->lock[i].kind;
        }
    }
    return LS_LOCK_KINDS;
}

static inline bool recipe_can_run(const struct ls_recipe *recipe, const struct world_options *options)
{
    return recipe_is_for(recipe, options->coordinator) &&
           recipe_unknown_kind(recipe, options) == LS_LOCK_KINDS &&
           (!options->several || recipe_can_take_several(recipe));
}

/* Returns the specs of the locks, inside the options; NULL = all locks are mutexes. */
static inline const struct ls_lock_spec *world_lock_specs(const struct world_options *options)
{
    for (int i = 0; i < options->locks; i++) {
        if (options->lock[i].kind != LS_LOCK_MUTEX) {
            return options->lock;
        }
    }
    return NULL;
}

const struct coordinator *world_coordinator(void);

#endif
