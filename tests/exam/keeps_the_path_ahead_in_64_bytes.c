/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The path of the node ahead is built once, when the list is read, and kept where its name was kept: in 64
 * bytes. With a directory of more than 48 characters it is cut off, the node of that name does not exist,
 * and the waiter takes that for the end of the one ahead: it lists and looks again without a pause. It
 * breaks LS_MUTEX_PATH_SIZE_MAX (mutex.h: paths of up to 900 bytes). Harm: each waiter asks the servers as
 * fast as they answer, as long as the lock is held. */
/* breaks: bounded_work */
#include "base/recipe.h"

bool find_place(struct claim *claim, const struct String_vector *names)
{
    int32_t nearest = -1;
    const char *name = NULL;
    bool found = false;
    for (int i = 0; i < names->count; i++) {
        int32_t number = number_of(names->data[i]);
        found |= number == claim->number;
        if (number >= 0 && number < claim->number && number > nearest) {
            nearest = number;
            name = names->data[i];
        }
    }
    memset(claim->ahead, 0, sizeof claim->ahead);
    if (name != NULL) {
#ifdef FIXED
        snprintf(claim->ahead, sizeof claim->ahead, "%s", name);
#else
        snprintf(claim->ahead, sizeof claim->ahead, "%s/%s", directory(claim), name);
#endif
    }
    return found;
}

void ahead_path(const struct claim *claim, char path[PATH_MAX_BYTES])
{
#ifdef FIXED
    snprintf(path, PATH_MAX_BYTES, "%s/%s", directory(claim), claim->ahead);
#else
    snprintf(path, PATH_MAX_BYTES, "%s", claim->ahead);
#endif
}

void on_ahead(zhandle_t *zh, int type, int state, const char *path, void *ctx)
{
    struct claim *claim = ctx;
    char ahead[PATH_MAX_BYTES];
    (void)state;
    ahead_path(claim, ahead);
    bool ours = zh == claim->recipe->zh && claim->watching && path != NULL && strcmp(path, ahead) == 0;
    if (type == ZOO_SESSION_EVENT || !ours) {
        return;
    }
    claim->watching = false;
    if (claim->phase == WAITING) {
        go(claim, LISTING);
    }
}
