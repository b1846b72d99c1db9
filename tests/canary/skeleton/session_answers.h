/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Session events and answers of directories, in the skeletons that keep a node's number. */
#ifndef CANARY_SKELETON_SESSION_ANSWERS_H
#define CANARY_SKELETON_SESSION_ANSWERS_H

static void on_event(zhandle_t *zh, int type, int state, const char *path, void *ctx)
{
    struct recipe *r = ctx;
    (void)path;
    if (type != ZOO_SESSION_EVENT || r->closing || r->reopen.armed) {
        return;
    }
    r->zh = zh; /* zookeeper_init() may not have returned yet */
    if (state == ZOO_CONNECTED_STATE) {
        on_connected(r);
    } else if (state == ZOO_CONNECTING_STATE && r->session != 0) {
        r->connected = false;
        r->was_suspended = true;
        tell_session(r, LS_REPORT_SUSPENDED);
    } else if (state == ZOO_EXPIRED_SESSION_STATE || state == ZOO_AUTH_FAILED_STATE) {
        lose_session(r);
    }
}

/* ---- requests and their answers ---- */

/* Whether the claim can act on an answer. After a lost answer, CONNECTED sends the claim's request again. */
static bool answered(struct claim *claim, int rc)
{
    claim->busy = false;
    if (claim->recipe->stopping || claim->recipe->session == 0) {
        return false;
    }
    return rc != ZCONNECTIONLOSS && rc != ZOPERATIONTIMEOUT && rc != ZSESSIONEXPIRED && rc != ZCLOSING;
}

/* Returns the length of the path of the next directory, below the directories that exist. */
static uint8_t next_parent(const struct claim *claim)
{
    const char *slash = strchr(directory(claim) + claim->parent + 1, '/');
    return (uint8_t)(slash != NULL ? slash - directory(claim) : (long)strlen(directory(claim)));
}

static void on_parent(int rc, const char *value, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    (void)value;
    if (!answered(claim, rc)) {
        return;
    }
    if (claim->ended) {
        clean_up(claim);
    } else if (rc != ZOK && rc != ZNODEEXISTS) {
        fail(claim, LS_EZK);
    } else {
        claim->parent = next_parent(claim);
        go(claim, directory(claim)[claim->parent] == 0 ? CREATING : MAKING_PARENT);
    }
}

/* Makes one directory at a time, from the root on. */
static int make_parent(struct claim *claim)
{
    char path[PATH_MAX_BYTES];
    snprintf(path, sizeof path, "%.*s", next_parent(claim), directory(claim));
    return zoo_acreate(claim->recipe->zh, path, NULL, -1, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT, on_parent,
                       claim);
}

#endif
