/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The same worlds as fuzz_session_loss with a recipe from a shared object, LOCKSTEP_RECIPE=FILE.so; what the guard of such a
 * recipe sees is a violation like any other. */
#include "plugin/plugin.h"
#include "scenario/coverage.h"
#include "scenario/recipes.h"
#include "target.h"
#include "worlds.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    char why[RECIPE_WHY_MAX];
    const char *path = getenv("LOCKSTEP_RECIPE");
    (void)argc;
    (void)argv;
    if (path == NULL) {
        fprintf(stderr,
                "LOCKSTEP_RECIPE: expected the path of a shared object with a recipe, found nothing\n");
        return -1;
    }
    recipe_set_loader(plugin_recipe);
    const struct ls_recipe *recipe = recipe_load(path, why);
    if (recipe == NULL) {
        fprintf(stderr, "LOCKSTEP_RECIPE: expected a recipe, found '%s'%s%s\n", path, why[0] != 0 ? ": " : "",
                why);
        return -1;
    }
    int count;
    struct ls_mark *marks = plugin_marks(recipe, &count);
    coverage_marks_of(recipe, marks, count);
    worlds_open(recipe);
    return 0;
}
