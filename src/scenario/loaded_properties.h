/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Properties from shared objects (--property FILE.so), which are judged besides the built-in properties. */
#ifndef SCENARIO_LOADED_PROPERTIES_H
#define SCENARIO_LOADED_PROPERTIES_H

#include "check/check.h"
#include "trace/file.h"

#include <stdbool.h>
#include <stdint.h>

#define PROPERTY_WHY_MAX 500

struct loaded_property {
    const struct property *property;
    const char *path; /* as given by the user */
    uint64_t content; /* hash of the file */
};

/* Loads the property of a shared object, for the life of the program. Every run prepared later judges it, and
 * scenarios may name it. Loading the same path again has no effect. Returns its name, or NULL; then `why` is
 * a clause with the reason. Must be called before any fork. */
const char *property_load(const char *path, char why[PROPERTY_WHY_MAX]);

/* Returns the index-th loaded property in the order of loading, or NULL behind the last. */
const struct loaded_property *property_loaded(int index);

/* Loads the properties that judged a trace. A property of the same name that was loaded from another path is
 * used in its place. Returns 0, or -1 with the complaint in *error. */
int property_load_for(const struct trace *trace, struct input_error *error);

#endif
