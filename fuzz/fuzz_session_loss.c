/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The main target: worlds of two to eight clients that take locks, with every kind of fault, judged by all properties. What the
 * bytes mean: src/fuzz/input_format.h. LOCKSTEP_RECIPE names another built-in recipe than the mutex. */
#include "scenario/recipes.h"
#include "target.h"
#include "worlds.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *wanted = getenv("LOCKSTEP_RECIPE");
    const char *name = wanted != NULL && wanted[0] != 0 ? wanted : RECIPE_DEFAULT;
    const struct ls_recipe *recipe = recipe_find(name);
    (void)argc;
    (void)argv;
    if (recipe == NULL) {
        fprintf(stderr, "LOCKSTEP_RECIPE: expected a recipe (see lockstep list recipes), found '%s'\n", name);
        return -1;
    }
    worlds_open(recipe);
    return 0;
}
