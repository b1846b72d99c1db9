/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Growing arrays: a pointer, a count, and a maximum, the number of elements for which there is memory. At
 * first the pointer is NULL, and both numbers are 0. The owner frees the pointer with free(). */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/* Makes room for `max` elements of `size` bytes. `pointer` is the address of the array's pointer. Returns
 * false, with the array unchanged, if memory is short. */
bool array_resize(void *pointer, size_t max, size_t size);

/* Returns the next maximum of an array: `first` elements more than twice the present maximum. */
static inline size_t array_more(size_t max, size_t first)
{
    return 2 * max + first;
}

/* Makes room for one element behind `count`; a full array grows to array_more(). Returns false, with the
 * array unchanged, if memory is short. */
static inline bool array_room(void *pointer, size_t count, size_t *max, size_t size, size_t first)
{
    size_t more = array_more(*max, first);
    if (count < *max) {
        return true;
    }
    if (!array_resize(pointer, more, size)) {
        return false;
    }
    *max = more;
    return true;
}

#endif
