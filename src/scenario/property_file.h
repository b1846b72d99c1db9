/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Loads shared objects with properties. */
#ifndef SCENARIO_PROPERTY_FILE_H
#define SCENARIO_PROPERTY_FILE_H

#include <lockstep/property.h>

#define PROPERTY_VARIABLES_MAX 4

struct property_file {
    uint64_t content; /* hash of the file's bytes */
    /* The writable parts of the mapped file, at most PROPERTY_VARIABLES_MAX of them. */
    struct property_variables {
        void *at;
        size_t size;
    } variables[PROPERTY_VARIABLES_MAX];
    int count;
};

/* Returns the property of a shared object, which stays open, and fills in *file. The result is owned here. If
 * the object was compiled with a smaller struct ls_property, the further members are 0. Returns NULL on
 * failure; then `why`, of `size` bytes, is a clause with the reason. */
const struct ls_property *property_open(const char *path, struct property_file *file, char *why, size_t size);

#endif
