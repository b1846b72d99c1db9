/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Shared objects with properties: loading them. */
#ifndef SCENARIO_PROPERTY_FILE_H
#define SCENARIO_PROPERTY_FILE_H

#include <lockstep/property.h>

#define PROPERTY_VARIABLES_MAX 4

/* What there is to know of a shared object besides its property. */
struct property_file {
    uint64_t content; /* a hash over the file's bytes */
    /* Where its variables lie, as far as they fit in here: the writable parts of what was mapped. */
    struct property_variables {
        void *at;
        size_t size;
    } variables[PROPERTY_VARIABLES_MAX];
    int count;
};

/* The property of a shared object, opened once, for the life of the program; a struct of this program's size. *file is filled
 * in. NULL: `why`, of `size` bytes, is one clause that says what was found. To be called before any fork. */
const struct ls_property *property_open(const char *path, struct property_file *file, char *why, size_t size);

#endif
