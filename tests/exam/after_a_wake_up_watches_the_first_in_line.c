/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A waiter that has been woken once takes itself for the next in line. From then on it watches the first in line.
 * A wake-up also comes when the contender before it gives up. Others may still stand between it and the first.
 * mutex.h, ls_mutex_participants_start, speaks of a queue, "first in the queue first". A release
 * concerns the next one alone.
 * The release of the first wakes the second and this waiter; with many waiters that give up this becomes a herd. */
/* breaks: at_most_one_wakeup_per_release */
#include "base/recipe.h"

#ifndef FIXED
bool find_place(struct claim *claim, const struct String_vector *names)
{
    bool woken = claim->spare[0] != 0; /* whether it has watched somebody before */
    int32_t chosen = -1;
    bool found = false;
    for (int i = 0; i < names->count; i++) {
        int32_t number = number_of(names->data[i]);
        found |= number == claim->number;
        if (number >= 0 && number < claim->number &&
            (chosen < 0 || (woken ? number < chosen : number > chosen))) {
            chosen = number;
            snprintf(claim->ahead, sizeof claim->ahead, "%s", names->data[i]);
        }
    }
    if (chosen < 0) {
        memset(claim->ahead, 0, sizeof claim->ahead);
    }
    claim->spare[0] = found;
    return found;
}
#endif
