/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The numbers of the line are sorted in an array of thirty-two. It is the children of the directory that are counted,
 * not the contenders, and those beyond are left out in silence; the list has no order, so that it is anybody who is left
 * out. Breaks mutex.h: each owner has a contender node of its own, "so that owners of one process exclude each other
 * too", as all clients on one path do: with some thirty other nodes in the directory two of them hold the lock at once. */
/* breaks: at_most_one_holder */
#include "base/recipe.h"

#ifdef FIXED
#define LINE_MAX_OF(names) 1024
#else
#define LINE_MAX_OF(names) 32
#endif

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

bool find_place(struct claim *claim, const struct String_vector *names)
{
    int32_t line[LINE_MAX_OF(names)];
    int count = 0, place = 0;
    for (int i = 0; i < names->count && i < LINE_MAX_OF(names); i++) {
        int32_t number = number_of(names->data[i]);
        if (number >= 0) {
            line[count++] = number;
        }
    }
    qsort(line, (size_t)count, sizeof *line, by_number);
    while (place < count && line[place] < claim->number) {
        place++;
    }
    memset(claim->ahead, 0, sizeof claim->ahead);
    if (place > 0) {
        snprintf(claim->ahead, sizeof claim->ahead, PREFIX "%010d", line[place - 1]);
    }
    return place < count && line[place] == claim->number;
}
