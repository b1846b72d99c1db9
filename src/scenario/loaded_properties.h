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

/* Loads the property of a shared object, for the life of the program. Runs that are prepared later judge it
 * (scenario_mask()), and scenarios may name it. Loading the same path again has no effect. Returns the
 * property's name, or NULL; then `why` is a clause with the reason. A process that is forked earlier does not
 * have the property. */
const char *property_load(const char *path, char why[PROPERTY_WHY_MAX]);

/* Returns the index-th loaded property in the order of loading, or NULL behind the last. */
const struct loaded_property *property_loaded(int index);

/* Loads the properties that a trace names. If a property of the same name was loaded from another path, uses
 * that one. Returns 0, or -1 with the complaint in *error. */
int property_load_for(const struct trace *trace, struct input_error *error);

#endif
