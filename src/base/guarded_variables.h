/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Memory that must not change: the variables of shared objects whose functions must not keep state. */
#ifndef BASE_GUARDED_VARIABLES_H
#define BASE_GUARDED_VARIABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VARIABLES_RANGES_MAX 4

/* All zeros at first. The copies are never freed. */
struct variables {
    struct variables_range {
        volatile uint64_t *at;
        uint64_t *copy;
        size_t words;
    } range[VARIABLES_RANGES_MAX];
    int count;
};

/* Watches a range, extended to whole words of 8 bytes: copies its present bytes. Returns false, without
 * effect, if VARIABLES_RANGES_MAX ranges are watched already, or if memory is short. Ignores a range of 0
 * bytes, and returns true for it. */
bool variables_keep(struct variables *variables, void *at, size_t size);

/* Returns whether all ranges are unchanged. If not, restores the changed words, and stores the address of the
 * first changed byte in `first` (may be NULL). Unchanged words may be read-only: they are not written to. */
bool variables_are_kept(const struct variables *variables, uintptr_t *first);

#endif
