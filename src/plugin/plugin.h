/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Recipes in users' shared objects: loading them, and protecting the program from them (D3b). */
#ifndef PLUGIN_PLUGIN_H
#define PLUGIN_PLUGIN_H

#include <lockstep/recipe.h>
#include <lockstep/sometimes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLUGIN_WHY_MAX 400

/* ---- load.c ---- */

/* Returns the recipe of a shared object. The object stays open for the life of the program, and a later call
 * with the same path returns the same recipe. The recipe's name is the path as given, so that a trace finds
 * it again. Returns NULL on failure; then `why` is a clause with the reason. Must be called before workers
 * are forked. */
const struct ls_recipe *plugin_recipe(const char *path, char why[PLUGIN_WHY_MAX]);

/* Returns the marks (<lockstep/sometimes.h>) of such a recipe's file, and their number; NULL = none. */
struct ls_mark *plugin_marks(const struct ls_recipe *recipe, int *count);

/* ---- object.c: the contents of the file ---- */

/* A shared object on disk, read before any of its code runs. */
struct object;

/* Opens a file, which the caller closes. NULL on failure; then `why` is the reason. */
struct object *object_open(const char *path, char why[PLUGIN_WHY_MAX]);
void object_close(struct object *object);

/* Returns the index-th imported name, also of a weak import; NULL behind the last. It lives as long as the
 * object. */
const char *object_import(const struct object *object, int index);

/* Writes the index-th relocation slot, as an offset from the load address. *name is the undefined symbol that
 * the slot refers to, "" if it refers to none. Returns false behind the last slot, and if the slot cannot be
 * read. */
bool object_slot(const struct object *object, int index, uintptr_t *offset, const char **name);

/* Write a range, as an offset from the load address and a size in bytes. Return false if there is none.
 *
 * - object_code(): the first executable part.
 * - object_writable(): the index-th part that stays writable after loading.
 * - object_marks(): the marks. Returns false also if they are not aligned, or lie outside of the writable
 *   parts. */
bool object_code(const struct object *object, uintptr_t *offset, size_t *size);
bool object_writable(const struct object *object, int index, uintptr_t *offset, size_t *size);
bool object_marks(const struct object *object, uintptr_t *offset, size_t *size);

/* Returns whether threads have copies of variables of the object (`__thread`, `_Thread_local`). */
bool object_has_thread_variables(const struct object *object);

/* Returns the name of the function or variable at an offset; NULL = unknown. Lives as long as the object. */
const char *object_symbol(const struct object *object, uintptr_t offset);

/* ---- imports.c: the functions that it may call ---- */

/* Returns whether the object imports only names that a recipe may import. If not, `why` names the first other
 * one. */
bool imports_allowed(const struct object *object, char why[PLUGIN_WHY_MAX]);

/* Replaces malloc(), printf() and their like in the object, loaded at `base`, by functions of this program.
 * These use the memory and the output of the process that the world is calling. */
void imports_redirect(const struct object *object, uintptr_t base);

/* ---- sandbox_signals.c: crashes, endless loops, variables ---- */

/* Guards the steps of the recipe in this object, loaded at `base`, from now on, in place of those guarded
 * before. The object must stay open. Returns false if its variables cannot all be watched; the object must
 * not be used then. */
bool guard_watch(const struct object *object, uintptr_t base);

/* Guards the steps of a recipe that is linked in: a crash or an endless loop violates contract_is_kept. Does
 * nothing after guard_watch(), which guards more. */
void guard_watch_program(void);

#endif
