/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The recipe waits with zoo_awexists() on the node before its own. If that node is gone already, the watch stands
 * all the same: the server waits for the node's creation. The recipe looks at the list again and forgets the watch.
 * session.h, ls_session_idle: "the janitor has removed every node and watch of ended attempts".
 * Nobody will ever create that node again, so a busy client collects such watches without end. */
/* breaks: no_watch_left_behind */
#include "base/recipe.h"

#ifndef FIXED
static void on_exists(int rc, const struct Stat *stat, const void *ctx)
{
    on_watched(rc, NULL, 0, stat, ctx);
}

int watch(struct claim *claim)
{
    char path[PATH_MAX_BYTES];
    ahead_path(claim, path);
    claim->watching = true;
    return zoo_awexists(claim->recipe->zh, path, on_ahead, claim, on_exists, claim); /* without the data */
}
#endif
