/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "base/guarded_variables.h"

#include <stdlib.h>

/* A range may have bytes between variables, and a sanitizer reports an access to these. The attribute turns
 * that off here, but not within memcmp(): so words are compared one by one. */
#define UNGUARDED __attribute__((no_sanitize("address", "thread")))

UNGUARDED bool variables_keep(struct variables *variables, void *at, size_t size)
{
    uintptr_t begin = (uintptr_t)at / 8 * 8, end = ((uintptr_t)at + size + 7) / 8 * 8;
    uint64_t *copy = size > 0 && variables->count < VARIABLES_RANGES_MAX ? malloc(end - begin) : NULL;
    if (copy == NULL) {
        return size == 0;
    }
    struct variables_range *range = &variables->range[variables->count++];
    *range = (struct variables_range){(volatile uint64_t *)begin, copy,
                                      (end - begin) / 8}; /* NOLINT(performance-no-int-to-ptr) */
    for (size_t i = 0; i < range->words; i++) {
        copy[i] = range->at[i];
    }
    return true;
}

/* Returns the address of the first changed byte of a changed word. */
UNGUARDED static uintptr_t first_byte(const volatile uint64_t *at, uint64_t was)
{
    uint64_t now = *at;
    const unsigned char *a = (const unsigned char *)&now, *b = (const unsigned char *)&was;
    uintptr_t byte = 0;
    while (byte < sizeof now - 1 && a[byte] == b[byte]) {
        byte++;
    }
    return (uintptr_t)at + byte;
}

UNGUARDED bool variables_are_kept(const struct variables *variables, uintptr_t *first)
{
    bool kept = true;
    for (int r = 0; r < variables->count; r++) {
        const struct variables_range *range = &variables->range[r];
        for (size_t i = 0; i < range->words; i++) {
            if (range->at[i] == range->copy[i]) {
                continue;
            }
            if (kept && first != NULL) {
                *first = first_byte(&range->at[i], range->copy[i]);
            }
            range->at[i] = range->copy[i];
            kept = false;
        }
    }
    return kept;
}
