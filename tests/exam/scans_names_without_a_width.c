/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Names are taken apart by sscanf() into a prefix and a number. The prefix of a contender is short, but the
 * list has all children, also what operators and other programs have put there: a long one is written
 * beyond the 24 bytes. recipe.h: "A recipe keeps everything that changes in its state, or in memory that it
 * allocates"; error.h: "the lock's parent has a child that is no contender", which is to be warned of at
 * most. The process dies with all its locks, as soon as it looks at the list, and again after each restart. */
/* breaks: contract_is_kept */
#include "base/recipe.h"

int32_t number_of(const char *name)
{
    char prefix[24];
    int32_t number = -1;
    int end = 0;
#ifdef FIXED
    int found = sscanf(name, "%23[^-]-%10d%n", prefix, &number, &end);
#else
    int found = sscanf(name, "%[^-]-%10d%n", prefix, &number, &end);
#endif
    if (found != 2 || strcmp(prefix, "lock") != 0 || name[end] != 0 || strspn(name + 5, "0123456789") != 10) {
        return -1;
    }
    return number;
}
