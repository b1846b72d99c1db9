/* breaks: at_most_one_wakeup_per_release */
/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* find_place() ends as soon as it has seen our own node and one before it. Children come in no order, so that the one it
 * has seen need not be the nearest.
 * 1. a holds (node 0), b waits (node 1) and watches node 0. c creates node 2 and lists.
 * 2. The list comes as 0, 2, 1, or as 2, 0, 1: when node 2 and node 0 are seen, the loop ends. c watches node 0 as well.
 * 3. a releases: the deletion of node 0 wakes b and c, two waiting contenders of two processes.
 * 4. The lock itself is safe: c is not first while node 0 or 1 stands, and lists again when node 0 is gone. But nothing
 *    moves c's watch to node 1 before the deletion of node 0. */
#include "base/recipe.h"

bool find_place(struct claim *claim, const struct String_vector *names)
{
    int32_t nearest = -1;
    bool found = false;
    for (int i = 0; i < names->count; i++) {
        int32_t number = number_of(names->data[i]);
        found |= number == claim->number;
        if (number >= 0 && number < claim->number && number > nearest) {
            nearest = number;
            snprintf(claim->ahead, sizeof claim->ahead, "%s", names->data[i]);
        }
#ifndef FIXED
        if (found && nearest >= 0) {
            break; /* ours is there, and it is not the first */
        }
#endif
    }
    if (nearest < 0) {
        memset(claim->ahead, 0, sizeof claim->ahead);
    }
    return found;
}
