/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Text that is written piece by piece into room of a fixed size. */
#ifndef SCENARIO_LINES_H
#define SCENARIO_LINES_H

#include <stddef.h>

struct lines {
    char *at;    /* ends with a zero after each piece */
    size_t size; /* bytes of room, the zero included */
    size_t used; /* bytes written, without the zero */
};

/* Adds a piece. The room must suffice. */
void lines_put(struct lines *lines, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
