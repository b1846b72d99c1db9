/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Properties from shared objects (--property FILE.so): which ones there are besides those that are built in. */
#ifndef SCENARIO_PROPERTIES_H
#define SCENARIO_PROPERTIES_H

#include "check/check.h"
#include "trace/file.h"

#include <stdbool.h>
#include <stdint.h>

#define PROPERTY_WHY_MAX 500

/* One that was loaded. */
struct loaded_property {
    const struct property *property;
    const char *path; /* as it was given */
    uint64_t content; /* a hash over the file */
};

/* Loads the property of a shared object, for the life of the program: from then on it is judged besides, in every run that is
 * prepared later, and scenarios may name it. The same file again is no other. Its name; NULL: `why` is a clause that says
 * why not. Before any fork. */
const char *property_load(const char *path, char why[PROPERTY_WHY_MAX]);

/* Those that were loaded, in that order: the index-th, or NULL behind the last. */
const struct loaded_property *property_loaded(int index);

/* Loads what a trace was judged by, unless a property of that name was loaded from elsewhere: that one is taken for it. Returns
 * 0, or -1 with the complaint in *error. */
int property_load_for(const struct trace *trace, struct input_error *error);

#endif
