/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "scenario/loaded_properties.h"

#include "base/assert.h"
#include "base/shared_object_path.h"
#include "check/loaded.h"
#include "scenario/property_file.h"

#include <lockstep/sim.h>
#include <stdio.h>
#include <string.h>

#define FIRST_LINE 7 /* number of the first line `property` of a trace */
_Static_assert(LS_PROPERTY_PROCESSES_MAX == WORLD_PROCESSES_MAX && LS_PROPERTY_LOCKS_MAX == WORLD_LOCKS_MAX,
               "a property has room for each process and lock of a world");
_Static_assert((int)TRACE_PROPERTIES_MAX == LS_PROPERTY_MODULES_MAX && TRACE_RECIPE_MAX > SHARED_PATH_MAX,
               "a trace has room for each shared object");
_Static_assert(TRACE_WORD_MAX > LS_PROPERTY_NAME_MAX, "and for each name");
_Static_assert(PROPERTY_WHY_MAX > LOADED_WHY_MAX, "reasons fit");

static struct loaded_property loaded[LS_PROPERTY_MODULES_MAX];
static char paths[LS_PROPERTY_MODULES_MAX][SHARED_PATH_MAX + 1];
static int count;

const struct loaded_property *property_loaded(int index)
{
    LS_ASSERT(index >= 0 && count <= LS_PROPERTY_MODULES_MAX);
    return index < count ? &loaded[index] : NULL;
}

const char *property_load(const char *path, char why[PROPERTY_WHY_MAX])
{
    struct property_file file;
    int all;
    for (int i = 0; i < count; i++) {
        if (strcmp(paths[i], path) == 0) {
            return loaded[i].property->name;
        }
    }
    const struct ls_property *property = property_open(path, &file, why, PROPERTY_WHY_MAX);
    int position = property != NULL ? loaded_add(property, why) : -1;
    if (position < 0) {
        return NULL;
    }
    LS_ASSERT(count < LS_PROPERTY_MODULES_MAX && file.count <= PROPERTY_VARIABLES_MAX);
    for (int i = 0; i < file.count; i++) {
        loaded_watch(position, file.variables[i].at, file.variables[i].size);
    }
    snprintf(paths[count], sizeof paths[count], "%s", path);
    loaded[count] = (struct loaded_property){check_all(&all)[position], paths[count], file.content};
    return loaded[count++].property->name;
}

static bool is_loaded(const char *name)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(loaded[i].property->name, name) == 0) {
            return true;
        }
    }
    return false;
}

int property_load_for(const struct trace *trace, struct input_error *error)
{
    LS_ASSERT(trace->properties >= 0 && trace->properties <= TRACE_PROPERTIES_MAX);
    for (int i = 0; i < trace->properties; i++) {
        char why[PROPERTY_WHY_MAX];
        const struct trace_property *wanted = &trace->property[i];
        if (is_loaded(wanted->name)) {
            continue;
        }
        const char *name = property_load(wanted->path, why);
        if (name != NULL && strcmp(name, wanted->name) == 0) {
            continue;
        }
        if (name != NULL) {
            snprintf(why, sizeof why, "its property is called %s", name);
        }
        return input_complain(error, trace->input.name, FIRST_LINE + i, 1, wanted->path, strlen(wanted->path),
                              "a shared object with the property %s (--property names another place): %s",
                              wanted->name, why);
    }
    return 0;
}
