/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* All watches of a process have the recipe as their context. The recipe looks for the waiting claim by the last part
 * of the path. Two locks can have nodes of the same name, and the first claim found is woken, whichever lock it waits for.
 * recipe.h, acquire: "Exactly one GRANTED or FAILED report follows"; here none follows for the second lock.
 * The other owner waits for ever for a lock that is free. */
/* breaks: no_lost_wakeup */
#include "base/recipe.h"

#ifndef FIXED
static void on_gone(zhandle_t *zh, int type, int state, const char *path, void *ctx)
{
    struct recipe *r = ctx;
    const char *name = path != NULL ? strrchr(path, '/') : NULL;
    if (type == ZOO_SESSION_EVENT || name == NULL) {
        return;
    }
    for (int i = 0; i < CLAIMS_MAX; i++) {
        struct claim *claim = &r->claim[i];
        if (claim->watching && strcmp(name + 1, claim->ahead) == 0) {
            on_ahead(zh, type, state, path, claim);
            return;
        }
    }
}

int watch(struct claim *claim)
{
    char path[PATH_MAX_BYTES];
    ahead_path(claim, path);
    claim->watching = true;
    return zoo_awget(claim->recipe->zh, path, on_gone, claim->recipe, on_watched, claim);
}

int unwatch(struct claim *claim)
{
    char path[PATH_MAX_BYTES];
    const union {
        void_completion_t function;
        void_completion_t *declared;
    } completion = {.function = on_unwatched};
    ahead_path(claim, path);
    return zoo_aremove_watches(claim->recipe->zh, path, ZWATCHTYPE_DATA, on_gone, claim->recipe, 0,
                               completion.declared, claim);
}
#endif
