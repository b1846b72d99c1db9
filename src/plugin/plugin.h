/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Recipes in shared objects of other people: loading them. */
#ifndef PLUGIN_PLUGIN_H
#define PLUGIN_PLUGIN_H

#include <lockstep/recipe.h>
#include <stdbool.h>
#include <stddef.h>

#define PLUGIN_PATH_MAX 240
#define PLUGIN_WHY_MAX 400

/* Whether a name stands for a file: a recipe that is built in has neither a slash nor an end. */
bool plugin_is_path(const char *name);

/* The recipe of a shared object, opened once; its name is the path as given, so that a trace finds it again. It stays for
 * the life of the program, and so does a refusal. NULL: `why` is one clause that says what was found. Before any fork. */
const struct ls_recipe *plugin_recipe(const char *path, char why[PLUGIN_WHY_MAX]);

#endif
