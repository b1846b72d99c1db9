/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Recipes in shared objects of other people: loading them, and what keeps the rest of the program safe from them (D3b). */
#ifndef PLUGIN_PLUGIN_H
#define PLUGIN_PLUGIN_H

#include <lockstep/recipe.h>
#include <lockstep/sometimes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLUGIN_WHY_MAX 400

/* ---- load.c ---- */

/* The recipe of a shared object, opened once; its name is the path as given, so that a trace finds it again. It stays for
 * the life of the program. NULL: `why` is one clause that says what was found. To be called before any fork. */
const struct ls_recipe *plugin_recipe(const char *path, char why[PLUGIN_WHY_MAX]);

/* The marks (<lockstep/sometimes.h>) of such a recipe's file, and how many there are. NULL: none. */
struct ls_mark *plugin_marks(const struct ls_recipe *recipe, int *count);

/* ---- object.c: what the file says about itself ---- */

/* A shared object on disk, looked at before any of its code runs. */
struct object;

/* NULL: `why` says what is wrong with the file. The caller closes it. */
struct object *object_open(const char *path, char why[PLUGIN_WHY_MAX]);
void object_close(struct object *object);

/* The index-th name that it wants from others; NULL behind the last. It lives as long as the object. */
const char *object_import(const struct object *object, int index);

/* The index-th place, as an offset from where it is loaded, in which the loader writes the address of a function that it wants,
 * and its name. False behind the last. */
bool object_slot(const struct object *object, int index, uintptr_t *offset, const char **name);

/* Where its code lies. False if it has none. */
bool object_code(const struct object *object, uintptr_t *offset, size_t *size);

/* The index-th part of it that can be written when it is loaded, without what the loader makes read-only. False behind the last. */
bool object_writable(const struct object *object, int index, uintptr_t *offset, size_t *size);

/* Where its marks lie, which are among what can be written. False if it has none. */
bool object_marks(const struct object *object, uintptr_t *offset, size_t *size);

/* The function or variable that the offset lies in, NULL if that is not known. It lives as long as the object. */
const char *object_symbol(const struct object *object, uintptr_t offset);

/* ---- imports.c: what it may call ---- */

/* Returns true if the object calls nothing but what a recipe may. Otherwise `why` names the first. */
bool imports_allowed(const struct object *object, char why[PLUGIN_WHY_MAX]);

/* Has its malloc, and what is akin to it, take memory from the process that runs. */
void imports_redirect(const struct object *object, uintptr_t base);

/* ---- guard.c: crashes, endless loops, variables ---- */

/* Watches the steps of the recipe in this object, loaded at `base`, from now on. The object is kept. */
void guard_watch(const struct object *object, uintptr_t base);

/* Watches the steps of a recipe that is linked in: one that crashes, or does not end, violates contract_is_kept. */
void guard_watch_program(void);

#endif
