/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The recipe keeps a pointer into the list of children, and not a copy of the name.
 * The client frees the list when the completion returns. The removal of the watch then reads freed memory.
 * It breaks "what the recipe allocates for it the recipe's" in recipe.h: the list was never the recipe's.
 * The user's caller gives up, and a watch on a wrong path is asked to go. The right one may stay for ever. */
/* breaks: contract_is_kept */
#include "base/recipe.h"

#ifndef FIXED
bool find_place(struct claim *claim, const struct String_vector *names)
{
    int32_t nearest = -1;
    bool found = false;
    claim->ahead[0] = 0;
    for (int i = 0; i < names->count; i++) {
        int32_t number = number_of(names->data[i]);
        found |= number == claim->number;
        if (number >= 0 && number < claim->number && number > nearest) {
            nearest = number;
            claim->spare[0] = (int64_t)(intptr_t)names->data[i];
            snprintf(claim->ahead, sizeof claim->ahead, "%s", names->data[i]); /* for comparisons */
        }
    }
    return found;
}

void ahead_path(const struct claim *claim, char path[PATH_MAX_BYTES])
{
    snprintf(path, PATH_MAX_BYTES, "%s/%s", directory(claim), (const char *)(intptr_t)claim->spare[0]);
}
#endif
