/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Memory that nobody may change: the variables of shared objects whose code is called, but must keep nothing. */
#ifndef BASE_VARIABLES_H
#define BASE_VARIABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VARIABLES_RANGES_MAX 4

/* Zero at first; its copies are kept for the life of the program. */
struct variables {
    struct variables_range {
        volatile uint64_t *at;
        uint64_t *copy;
        size_t words;
    } range[VARIABLES_RANGES_MAX];
    int count;
};

/* Keeps what these bytes are now. A range more than there is room for, and one that there is no memory for, is not watched. */
void variables_keep(struct variables *variables, void *at, size_t size);

/* True if all is as it was. Otherwise it is so again, and `first` (NULL = nobody asks) is the first address that was not. Writes
 * nothing that has not changed: it may be read-only. */
bool variables_are_kept(const struct variables *variables, uintptr_t *first);

#endif
