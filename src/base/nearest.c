/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "base/nearest.h"
#include "base/assert.h"

#include <stdio.h>
#include <string.h>

void nearest_begin(struct nearest *nearest, const char *word, size_t size)
{
    unsigned most = size / 3 < 3 ? (unsigned)(size / 3) : 3;
    *nearest = (struct nearest){.word = word, .size = size, .distance = most + 1};
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Returns the restricted edit distance of Damerau and Levenshtein. row[0] is the present row of its matrix,
 * row[1] and row[2] are the two rows before it. */
static unsigned distance(const char *a, size_t a_size, const char *b, size_t b_size)
{
    LS_ASSERT(a_size <= NEAREST_WORD_MAX && b_size <= NEAREST_WORD_MAX);
    unsigned row[3][NEAREST_WORD_MAX + 1];
    for (size_t j = 0; j <= b_size; j++) {
        row[0][j] = (unsigned)j;
    }
    for (size_t i = 1; i <= a_size; i++) {
        memcpy(row[2], row[1], sizeof row[1]);
        memcpy(row[1], row[0], sizeof row[0]);
        row[0][0] = (unsigned)i;
        for (size_t j = 1; j <= b_size; j++) {
            unsigned other = row[1][j - 1] + (a[i - 1] != b[j - 1]);
            unsigned best = least(other, least(row[1][j], row[0][j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                best = least(best, row[2][j - 2] + 1);
            }
            row[0][j] = best;
        }
    }
    return row[0][b_size];
}

void nearest_look_at(struct nearest *nearest, const char *name)
{
    size_t size = strlen(name);
    if (nearest->size > NEAREST_WORD_MAX || size > NEAREST_WORD_MAX) {
        return;
    }
    unsigned found = distance(nearest->word, nearest->size, name, size);
    if (found < nearest->distance) {
        nearest->distance = found;
        nearest->name = name;
    }
}

const char *nearest_text(const struct nearest *nearest)
{
    static char text[NEAREST_WORD_MAX + 32];
    text[0] = 0;
    if (nearest->name != NULL) {
        snprintf(text, sizeof text, "; did you mean '%s'?", nearest->name);
    }
    return text;
}
