/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* "Did you mean": the known name nearest to a mistyped word. */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include <stddef.h>

#define NEAREST_WORD_MAX 64 /* bytes of a word and of a name; a longer one is near nothing */

struct nearest {
    const char *word; /* borrowed; needs no terminating 0 */
    size_t size;
    const char *name;  /* the nearest so far, borrowed; NULL = none is near enough */
    unsigned distance; /* of `name`; without a name, the least that is too far */
};

/* Begins a search. The distance counts bytes that are missing, superfluous, wrong or swapped with their
 * neighbour. A name is near if its distance is at most 3, and at most a third of the word's bytes. */
void nearest_begin(struct nearest *nearest, const char *word, size_t size);

/* Compares a name, which must live until the last nearest_text(). Of equally near names the first counts. */
void nearest_look_at(struct nearest *nearest, const char *name);

/* Returns "; did you mean 'NAME'?", or "". The text is valid until the next call. */
const char *nearest_text(const struct nearest *nearest);

#endif
