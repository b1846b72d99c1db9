/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Text that is written piece by piece into memory of a fixed size. */
#ifndef SCENARIO_FIXED_TEXT_H
#define SCENARIO_FIXED_TEXT_H

#include <stddef.h>

struct lines {
    char *at;    /* the text, which ends with a zero after each piece */
    size_t size; /* size of the memory in bytes, the zero included */
    size_t used; /* bytes written, without the zero */
};

/* Adds a piece, which must fit. */
void lines_put(struct lines *lines, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
