/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The recipe orders contenders by one 32-bit word. The word holds the node's number. Its lowest 8 bits are kept for a
 * priority. From number 16777216 on the upper bits of the number fall off. The contender 16777216 then ranks before 16777215.
 * recipe.h, acquire: whoever reports GRANTED holds the lock. mutex.h: "owners of one process exclude each other too".
 * The newcomer finds nobody before it, so two clients hold the lock at the same time. */
/* breaks: at_most_one_holder */
#include "base/recipe.h"

#ifndef FIXED
/* The place in line as one word, so that a comparison is one instruction. */
static uint32_t rank_of(int32_t number, uint8_t priority)
{
    return (uint32_t)number << 8 | priority;
}

bool find_place(struct claim *claim, const struct String_vector *names)
{
    const uint32_t mine = rank_of(claim->number, 0);
    uint32_t nearest = 0;
    bool found = false;
    memset(claim->ahead, 0, sizeof claim->ahead);
    for (int i = 0; i < names->count; i++) {
        int32_t number = number_of(names->data[i]);
        if (number < 0) {
            continue;
        }
        uint32_t rank = rank_of(number, 0);
        found |= rank == mine;
        if (rank < mine && (claim->ahead[0] == 0 || rank > nearest)) {
            nearest = rank;
            snprintf(claim->ahead, sizeof claim->ahead, "%s", names->data[i]);
        }
    }
    return found;
}
#endif
