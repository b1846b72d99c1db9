/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Opens shared objects with recipes, and never closes them: saved states may point to their code and data. */
#include "plugin/plugin.h"

#include "base/assert.h"
#include "base/guarded_variables.h"
#include "base/shared_object_path.h"
#include "sim/sandbox.h"

#include <dlfcn.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define RECIPES_MAX 8
#define TRIAL_S 10

struct opened {
    struct ls_recipe recipe;
    struct ls_mark *marks;
    int mark_count;
    char path[SHARED_PATH_MAX + 1];
};

static struct opened opened[RECIPES_MAX];
static int opened_count;

static const struct ls_recipe *refuse(char *why, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static const struct ls_recipe *refuse(char *why, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, PLUGIN_WHY_MAX, format, args);
    va_end(args);
    return NULL;
}

static const struct ls_recipe *remember(const char *path, const struct ls_recipe_module *module)
{
    LS_ASSERT(opened_count >= 0 && opened_count < RECIPES_MAX);
    LS_ASSERT(strlen(path) < sizeof opened[0].path);
    struct opened *next = &opened[opened_count++];
    size_t size = module->recipe_size < sizeof next->recipe ? module->recipe_size : sizeof next->recipe;
    memcpy(&next->recipe, module->recipe, size);
    strcpy(next->path, path);
    next->recipe.name = next->path;
    return &next->recipe;
}

static void find_marks(struct opened *last, const struct object *object, uintptr_t base)
{
    LS_ASSERT(last >= opened && last < opened + opened_count);
    uintptr_t offset;
    size_t size;
    if (object_marks(object, &offset, &size)) {
        last->marks = (struct ls_mark *)(base + offset); /* NOLINT(performance-no-int-to-ptr) */
        last->mark_count = (int)(size / sizeof(struct ls_mark));
    }
}

struct ls_mark *plugin_marks(const struct ls_recipe *recipe, int *count)
{
    LS_ASSERT(opened_count >= 0 && opened_count <= RECIPES_MAX);
    for (int i = 0; i < opened_count; i++) {
        if (&opened[i].recipe == recipe) {
            *count = opened[i].mark_count;
            return opened[i].marks;
        }
    }
    *count = 0;
    return NULL;
}

/* Returns the name of a missing member that every driver needs, or NULL. */
static const char *missing_part(const struct ls_recipe *recipe)
{
    return recipe->start == NULL     ? "start"
           : recipe->stop == NULL    ? "stop"
           : recipe->acquire == NULL ? "acquire"
           : recipe->cancel == NULL  ? "cancel"
           : recipe->release == NULL ? "release"
           : recipe->query == NULL   ? "query"
           : recipe->summary == NULL ? "summary"
                                     : NULL;
}

static bool has_few_directories(const struct ls_recipe *recipe)
{
    int count = 0;
    while (recipe->directories != NULL && count <= LS_RECIPE_DIRECTORIES_MAX &&
           recipe->directories[count] != NULL) {
        count++;
    }
    return count <= LS_RECIPE_DIRECTORIES_MAX;
}

static const struct ls_recipe *take(const char *path, void *handle, char *why)
{
    const struct ls_recipe_module *module = dlsym(handle, "ls_recipe_module");
    if (module == NULL) {
        return refuse(why, "it does not export a recipe (LS_RECIPE_MODULE of <lockstep/recipe.h>)");
    }
    if (module->interface != LS_RECIPE_INTERFACE || module->recipe == NULL) {
        return refuse(why, "it was compiled for interface %u, this program has %d", module->interface,
                      LS_RECIPE_INTERFACE);
    }
    const struct ls_recipe *recipe = remember(path, module);
    const char *missing = missing_part(recipe);
    bool named = module->recipe->name != NULL && module->recipe->name[0] != 0;
    bool fits = recipe->state_size > 0 && recipe->state_size <= WORLD_HEAP_BYTES;
    bool few = has_few_directories(recipe);
    if (missing == NULL && named && fits && few) {
        return recipe;
    }
    LS_ASSERT(opened_count > 0);
    opened_count--;
    if (missing != NULL || !named) {
        return refuse(why, "its recipe has no %s", missing != NULL ? missing : "name");
    }
    if (!few) {
        return refuse(why, "its recipe has too many directories, expected %d at most",
                      LS_RECIPE_DIRECTORIES_MAX);
    }
    return refuse(why, "its recipe has a state of %zu bytes, expected 1 to %d", recipe->state_size,
                  WORLD_HEAP_BYTES);
}

/* Loads the file in a child process, because the loader does not check a file, and runs its constructors.
 * Returns false if the child does not exit with status 0 within TRIAL_S seconds. Returns true if no child can
 * be made. */
static bool survives(const char *file)
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(TRIAL_S);
        dlopen(file, RTLD_NOW | RTLD_LOCAL);
        _exit(0);
    }
    return child < 0 || waitpid(child, &status, 0) != child ||
           (WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static const struct ls_recipe *load(const char *path, const char *file, char *why)
{
    struct object *object = object_open(file, why);
    if (object == NULL) {
        return NULL;
    }
    if (!imports_allowed(object, why)) {
        object_close(object);
        return NULL;
    }
    if (object_has_thread_variables(object)) { /* guard_watch() would not see their changes */
        object_close(object);
        return refuse(why, "it has variables of its threads (__thread); a recipe has one state");
    }
    if (!survives(file)) {
        object_close(object);
        return refuse(why, "whoever loads it dies: it is damaged, or its constructors fail");
    }
    struct link_map *map = NULL;
    void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) {
        object_close(object);
        return refuse(why, "%s", dlerror());
    }
    const struct ls_recipe *recipe = take(path, handle, why);
    LS_ASSERT(recipe == NULL || recipe == &opened[opened_count - 1].recipe);
    if (recipe == NULL) {
        object_close(object);
        return NULL;
    }
    LS_ASSERT(strcmp(recipe->name, path) == 0);
    imports_redirect(object, map->l_addr);
    if (!guard_watch(object, map->l_addr)) {
        LS_ASSERT(opened_count > 0);
        opened_count--;
        object_close(object);
        return refuse(why, "its variables cannot all be watched: %d parts are the most",
                      VARIABLES_RANGES_MAX);
    }
    find_marks(&opened[opened_count - 1], object, map->l_addr);
    return recipe;
}

const struct ls_recipe *plugin_recipe(const char *path, char why[PLUGIN_WHY_MAX])
{
    char file[SHARED_PATH_MAX + 3];
    for (int i = 0; i < opened_count; i++) {
        if (strcmp(opened[i].path, path) == 0) {
            return &opened[i].recipe;
        }
    }
    if (!shared_file(path, file, why, PLUGIN_WHY_MAX)) {
        return NULL;
    }
    if (opened_count == RECIPES_MAX) {
        return refuse(why, "%d shared objects are open already", RECIPES_MAX);
    }
    return load(path, file, why);
}
