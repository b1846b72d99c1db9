/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* How far the missing directories have been made is kept once for the process, because the locks of a process lie in
 * one folder as a rule and one making of it is enough. If two locks in folders of different depth are asked for at
 * once, one path goes on where the other one is, skips a directory and is refused. mutex.h: "The first acquire creates
 * the nodes of the path that are missing"; here it fails with LS_EZK though nothing is wrong. */
/* breaks: answers_have_reasons */
#include "base/recipe.h"

static int64_t progress(const struct claim *claim)
{
#ifdef FIXED
    return claim->spare[0];
#else
    return claim->recipe->spare[0];
#endif
}

static void set_progress(struct claim *claim, int64_t size)
{
#ifdef FIXED
    claim->spare[0] = size;
#else
    claim->recipe->spare[0] = size;
#endif
}

uint8_t next_parent(const struct claim *claim)
{
    const char *path = directory(claim);
    size_t from = (size_t)progress(claim) + 1;
    const char *slash = from < strlen(path) ? strchr(path + from, '/') : NULL;
    return (uint8_t)(slash != NULL ? slash - path : (long)strlen(path));
}

void on_parent(int rc, const char *value, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    (void)value;
    if (!answered(claim, rc)) {
        return;
    }
    if (claim->ended) {
        go(claim, DELETING); /* there is nothing of ours yet */
        return;
    }
    if (rc != ZOK && rc != ZNODEEXISTS) {
        fail(claim, rc == ZNOAUTH ? LS_ENOAUTH : LS_EZK);
        return;
    }
    set_progress(claim, next_parent(claim));
    go(claim, directory(claim)[progress(claim)] == 0 ? CREATING : MAKING_PARENT);
}

void on_created(int rc, const char *value, const struct Stat *stat, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    struct recipe *r = claim->recipe;
    if (!answered(claim, rc)) {
        if (r->session != 0 && !r->stopping) {
            lose_session(r); /* there may be a node that we do not know */
        }
        return;
    }
    if (rc == ZNONODE) {
        set_progress(claim, 0);
        go(claim, claim->ended ? DELETING : MAKING_PARENT);
        return;
    }
    if (rc != ZOK) {
        if (claim->ended) {
            forget(claim);
        } else {
            fail(claim, rc == ZNODEEXISTS ? LS_ESEQUENCE : rc == ZNOAUTH ? LS_ENOAUTH : LS_EZK);
        }
        return;
    }
    claim->number = (int32_t)strtol(strrchr(value, '/') + 1 + strlen(PREFIX), NULL, 10);
    claim->czxid = stat->czxid;
    claim->named = true;
    if (claim->ended) {
        go(claim, DELETING);
    } else if (claim->number < 0) {
        fail(claim, LS_ESEQUENCE); /* servers before 3.6 count on with numbers that nobody can order */
    } else {
        go(claim, LISTING);
    }
}
