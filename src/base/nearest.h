/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* "Did you mean": the name that a mistyped word comes nearest to. */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include <stddef.h>

#define NEAREST_WORD_MAX 64 /* bytes of a word and of a name; longer ones are near nothing */

struct nearest {
    const char *word; /* borrowed; needs no end */
    size_t size;
    const char *name; /* the nearest so far, borrowed; NULL = none is near enough */
    unsigned distance;
};

/* Counts letters that are missing, too many, wrong or swapped with their neighbour. A name is near with one such
 * letter for three of the word, and with 3 at most. */
void nearest_begin(struct nearest *nearest, const char *word, size_t size);

/* Looks at a name, which must live until the last nearest_text(). Of names that are equally near the first counts. */
void nearest_look_at(struct nearest *nearest, const char *name);

/* "; did you mean 'NAME'?", or "". Valid until the next call. */
const char *nearest_text(const struct nearest *nearest);

#endif
