/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* An attempt that ends removes "its" watch by zoo_aremove_all_watches(): there is one watch at a path, the author
 * thinks, because everybody watches another node. After an operator has deleted a waiter's node, the next owner of the
 * same process closes up and watches the same node ahead; the end of the first one takes that watch along. Breaks
 * mutex.h: "Each owner has a contender node of its own" and recipe.h: "exactly one GRANTED or FAILED report follows":
 * the second owner is never woken, though the lock is free. */
/* breaks: no_lost_wakeup */
#include "base/recipe.h"

int unwatch(struct claim *claim)
{
    char path[PATH_MAX_BYTES];
    const union {
        void_completion_t function;
        void_completion_t *declared; /* zookeeper.h has one star too many */
    } completion = {.function = on_unwatched};
    ahead_path(claim, path);
#ifdef FIXED
    return zoo_aremove_watches(claim->recipe->zh, path, ZWATCHTYPE_DATA, on_ahead, claim, 0,
                               completion.declared, claim);
#else
    return zoo_aremove_all_watches(claim->recipe->zh, path, ZWATCHTYPE_DATA, 0, completion.declared, claim);
#endif
}
