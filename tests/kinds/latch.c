/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A leader latch of one handle, and four published mistakes of latches, each by a macro. latch.sh says which property
 * catches which mistake.
 *
 *   FREE --> CREATING --> LISTING --> LEADING --> DELETING --> FREE
 *               ^            |  ^        |
 *               |            v  |        | (loss)
 *               |         WATCHING --> WAITING
 *               '------------------------'
 *
 * A candidate whose create is lost gives its session up, and takes another id.
 *
 *   RESETS_FOR_EVER       CURATOR-644, CURATOR-645: a candidate that is woken deletes its node and creates another one
 *   LEADS_ON_A_DEAD_NODE  CURATOR-696: it keeps its id, and takes the node of the former session for its own
 *   RESETS_INTERLEAVE     CURATOR-620, CURATOR-653: it begins anew while its create is under way
 *   HEARS_RECONNECTED     CURATOR-220, CURATOR-367: it tells of another session as of the same, and leads on */
#include <lockstep/error.h>
#include <lockstep/recipe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#ifndef RESETS_FOR_EVER
#define RESETS_FOR_EVER 0
#endif
#ifndef LEADS_ON_A_DEAD_NODE
#define LEADS_ON_A_DEAD_NODE 0
#endif
#ifndef RESETS_INTERLEAVE
#define RESETS_INTERLEAVE 0
#endif
#ifndef HEARS_RECONNECTED
#define HEARS_RECONNECTED 0
#endif

enum { PATH_SIZE = 256, NAME_SIZE = 64, ID_SIZE = 32, KEY_SIZE = 10 };

enum phase { FREE, CREATING, LISTING, WATCHING, WAITING, LEADING, DELETING };

struct recipe {
    struct ls_env *env;
    const struct ls_recipe_config *config;
    zhandle_t *zh;
    struct ls_timer reopen;
    int64_t session; /* 0 = none */
    int64_t czxid;   /* of the node */
    int32_t number;  /* behind its name */
    uint8_t phase;   /* enum phase */
    uint8_t flights; /* requests under way */
    bool connected, suspended, closing;
    uint8_t id[16];        /* in the names of our nodes */
    char ahead[NAME_SIZE]; /* name of the node that is watched */
};

static void go(struct recipe *r, enum phase phase);

/* ---- telling ---- */

static void tell(struct recipe *r, enum ls_report_kind kind)
{
    ls_report(r->env, &(struct ls_report){.kind = kind,
                                          .token = r->czxid,
                                          .depth = kind == LS_REPORT_GRANTED,
                                          .session = r->session});
}

static void fail(struct recipe *r, int rc)
{
    r->phase = FREE;
    ls_report(r->env, &(struct ls_report){.kind = LS_REPORT_FAILED, .rc = rc});
}

/* ---- names ---- */

static void write_id(const struct recipe *r, char text[ID_SIZE + 1])
{
    for (int i = 0; i < 16; i++) {
        snprintf(text + (size_t)2 * i, 3, "%02x", r->id[i]);
    }
}

static void write_path(const struct recipe *r, bool whole, char path[PATH_SIZE])
{
    char id[ID_SIZE + 1], key[KEY_SIZE + 2] = "";
    write_id(r, id);
    if (whole) {
        snprintf(key, sizeof key, "%010d", r->number);
    }
    snprintf(path, PATH_SIZE, "%s/_c_%s-latch-%s", r->config->lock_paths[0], id, key);
}

static int32_t number_of(const char *name)
{
    size_t size = strlen(name);
    return size > KEY_SIZE ? (int32_t)strtol(name + size - KEY_SIZE, NULL, 10) : -1;
}

/* ---- requests and their answers ---- */

static bool is_lost(int rc)
{
    return rc == ZCONNECTIONLOSS || rc == ZOPERATIONTIMEOUT || rc == ZSESSIONEXPIRED || rc == ZCLOSING;
}

static void lose_session(struct recipe *r);

static void on_created(int rc, const char *value, const struct Stat *stat, const void *ctx)
{
    struct recipe *r = (struct recipe *)(uintptr_t)ctx;
    r->flights--;
    if (r->session == 0 || r->closing) {
        return;
    }
    if (is_lost(rc)) {
        lose_session(r); /* there may be a node of ours */
    } else if (rc != ZOK) {
        fail(r, LS_EZK);
    } else {
        r->number = number_of(value);
        r->czxid = stat->czxid;
        go(r, LISTING);
    }
}

static void on_list(int rc, const struct String_vector *names, const void *ctx)
{
    struct recipe *r = (struct recipe *)(uintptr_t)ctx;
    char id[ID_SIZE + 1];
    const char *own = NULL, *ahead = NULL;
    r->flights--;
    if (r->session == 0 || r->closing || is_lost(rc) || r->phase != LISTING) {
        return;
    }
    write_id(r, id);
    for (int i = 0; rc == ZOK && i < names->count; i++) {
        own = strstr(names->data[i], id) != NULL ? names->data[i] : own;
    }
    for (int i = 0; own != NULL && i < names->count; i++) {
        int32_t number = number_of(names->data[i]);
        if (number < number_of(own) && (ahead == NULL || number > number_of(ahead))) {
            ahead = names->data[i];
        }
    }
    if (own == NULL) {
        go(r, CREATING); /* somebody has deleted it */
    } else if (ahead == NULL) {
        r->number = number_of(own);
        r->phase = LEADING;
        tell(r, LS_REPORT_GRANTED);
    } else {
        snprintf(r->ahead, sizeof r->ahead, "%s", ahead);
        go(r, WATCHING);
    }
}

static void on_dropped(int rc, const void *ctx)
{
    struct recipe *r = (struct recipe *)(uintptr_t)ctx;
    (void)rc;
    r->flights--;
}

/* What a candidate does when the node before its own is gone. */
static void look_again(struct recipe *r)
{
    char path[PATH_SIZE];
    if (RESETS_FOR_EVER && r->connected) {
        write_path(r, true, path);
        r->flights += zoo_adelete(r->zh, path, -1, on_dropped, r) == ZOK;
        ls_env_unique_id(r->env, r->id);
    }
    go(r, RESETS_FOR_EVER ? CREATING : LISTING);
}

static void on_ahead(zhandle_t *zh, int type, int state, const char *path, void *ctx)
{
    struct recipe *r = ctx;
    (void)state;
    bool told = zh == r->zh && type != ZOO_SESSION_EVENT && path != NULL && strstr(path, r->ahead) != NULL;
    if (told && RESETS_INTERLEAVE && r->phase == CREATING) {
        go(r, CREATING);
    } else if (told && r->phase == WAITING) {
        look_again(r);
    }
}

static void on_watched(int rc, const char *value, int size, const struct Stat *stat, const void *ctx)
{
    struct recipe *r = (struct recipe *)(uintptr_t)ctx;
    (void)value;
    (void)size;
    (void)stat;
    r->flights--;
    if (r->session == 0 || r->closing || is_lost(rc) || r->phase != WATCHING) {
        return;
    }
    if (rc == ZOK) {
        r->phase = WAITING;
    } else {
        look_again(r);
    }
}

static void on_deleted(int rc, const void *ctx)
{
    struct recipe *r = (struct recipe *)(uintptr_t)ctx;
    r->flights--;
    if (r->session == 0 || r->closing || is_lost(rc)) {
        return;
    }
    r->phase = FREE;
    tell(r, LS_REPORT_FREED);
}

static void go(struct recipe *r, enum phase phase)
{
    const struct ls_recipe_config *config = r->config;
    char path[PATH_SIZE];
    int size = config->contents != NULL ? config->contents_size : -1, rc = ZOK;
    r->phase = (uint8_t)phase;
    if (!r->connected) {
        return;
    }
    switch (phase) {
    case CREATING:
        write_path(r, false, path);
        rc = zoo_acreate2(r->zh, path, config->contents, size, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL_SEQUENTIAL,
                          on_created, r);
        break;
    case LISTING:
        rc = zoo_aget_children(r->zh, config->lock_paths[0], 0, on_list, r);
        break;
    case WATCHING:
        snprintf(path, sizeof path, "%s/%s", config->lock_paths[0], r->ahead);
        rc = zoo_awget(r->zh, path, on_ahead, r, on_watched, r);
        break;
    case DELETING:
        write_path(r, true, path);
        rc = zoo_adelete(r->zh, path, -1, on_deleted, r);
        break;
    default:
        return;
    }
    r->flights += rc == ZOK;
}

/* ---- the session ---- */

static void on_event(zhandle_t *zh, int type, int state, const char *path, void *ctx);

static void close_handle(struct recipe *r)
{
    zhandle_t *zh = r->zh;
    r->zh = NULL;
    r->connected = false;
    r->closing = true;
    if (zh != NULL) {
        zookeeper_close(zh);
    }
    r->closing = false;
    r->flights = 0;
}

static void open_handle(struct recipe *r)
{
    r->zh = zookeeper_init(r->config->hosts, on_event, r->config->session_timeout_ms, NULL, r, 0);
}

static void on_reopen(void *ctx)
{
    struct recipe *r = ctx;
    ls_env_unlock(r->env);
    close_handle(r);
    open_handle(r);
    ls_env_lock(r->env);
}

/* A handle is not closed in its own callback. */
static void lose_session(struct recipe *r)
{
    r->connected = false;
    if (HEARS_RECONNECTED && r->phase == LEADING) {
        r->suspended = true;
    } else if (r->session != 0) {
        tell(r, LS_REPORT_LOST);
        r->session = 0;
        r->suspended = false;
    }
    if (r->phase == DELETING) {
        r->phase = FREE;
        tell(r, LS_REPORT_FREED);
    } else if (r->phase != FREE && r->session == 0) {
        r->phase = LEADS_ON_A_DEAD_NODE ? LISTING : CREATING;
    }
    if (r->session == 0 && !LEADS_ON_A_DEAD_NODE) {
        ls_env_unique_id(r->env, r->id);
    }
    ls_env_timer_start(r->env, &r->reopen, "reopen-timer", 1, on_reopen, r);
}

static void on_connected(struct recipe *r)
{
    bool again = r->session != 0;
    r->session = zoo_client_id(r->zh)->client_id;
    r->connected = true;
    if (!again) {
        tell(r, LS_REPORT_CONNECTED);
    } else if (r->suspended) {
        tell(r, LS_REPORT_RECONNECTED);
    }
    r->suspended = false;
    if (RESETS_INTERLEAVE && again && r->phase == WAITING) {
        go(r, CREATING);
    } else if (r->flights == 0) {
        go(r, (enum phase)r->phase);
    }
}

static void on_event(zhandle_t *zh, int type, int state, const char *path, void *ctx)
{
    struct recipe *r = ctx;
    (void)path;
    if (type != ZOO_SESSION_EVENT || r->closing || r->reopen.armed) {
        return;
    }
    r->zh = zh;
    if (state == ZOO_CONNECTED_STATE) {
        on_connected(r);
    } else if (state == ZOO_CONNECTING_STATE && r->session != 0) {
        r->connected = false;
        r->suspended = true;
        tell(r, LS_REPORT_SUSPENDED);
    } else if (state == ZOO_EXPIRED_SESSION_STATE) {
        lose_session(r);
    }
}

/* ---- the recipe ---- */

static int start(void *state, struct ls_env *env, const struct ls_recipe_config *config)
{
    struct recipe *r = state;
    r->env = env;
    r->config = config;
    ls_env_unique_id(env, r->id);
    open_handle(r);
    return r->zh != NULL ? 0 : LS_ENOMEM;
}

static void stop(void *state)
{
    struct recipe *r = state;
    ls_env_lock(r->env);
    ls_env_timer_stop(r->env, &r->reopen);
    ls_env_unlock(r->env);
    close_handle(r);
}

static int acquire(void *state, int lock, int owner, int timeout_ms)
{
    struct recipe *r = state;
    if (lock != 0 || owner != 0 || timeout_ms >= 0) {
        return LS_EUNSUPPORTED;
    }
    if (r->phase != FREE) {
        return LS_EALREADY;
    }
    go(r, CREATING);
    return 0;
}

/* No world of latch.sh gives a candidacy up. */
static int cancel(void *state, int lock, int owner)
{
    (void)state;
    (void)lock;
    (void)owner;
    return LS_ENOENT;
}

static int release(void *state, int lock, int owner)
{
    struct recipe *r = state;
    (void)lock;
    (void)owner;
    if (r->phase != LEADING) {
        return LS_ENOTOWNER;
    }
    go(r, DELETING);
    return 0;
}

static enum ls_belief query(const void *state, int lock, int owner)
{
    const struct recipe *r = state;
    (void)lock;
    (void)owner;
    return r->phase != LEADING ? LS_NOT_HELD : r->connected ? LS_HELD : LS_UNKNOWN;
}

static const struct ls_recipe latch = {
    .name = "latch",
    .summary = "a small leader latch, and mistakes of others",
    .state_size = sizeof(struct recipe),
    .start = start,
    .stop = stop,
    .acquire = acquire,
    .cancel = cancel,
    .release = release,
    .query = query,
    .kinds = LS_LOCK_BIT(LS_LOCK_ELECTION),
};

LS_RECIPE_MODULE(latch);
