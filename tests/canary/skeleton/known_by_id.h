/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A mutex that knows its node by an id in the node's name. It keeps its promises; a canary (tests/canary)
 * varies it.
 *
 * Each claim has an ephemeral sequential node. The lowest number holds, and each other claim watches the
 * next lower node. If the answer to a create is lost, the recipe looks for a node with the claim's id, as
 * Curator's protection does. Each session has a new id. Between CONNECTING and CONNECTED nothing is sent.
 *
 *   FREE --> CREATING --> LISTING --> HELD --> DELETING --> FREE
 *              |  ^        ^  |  ^
 *     no answer|  |no node |  v  |
 *              v  |        | WATCHING --> WAITING
 *           SEARCHING --> READING
 *
 * A canary includes this file, defines functions, and ends with:
 *
 *   static const struct variation variation = {.search = search};
 *   CANARY(.name = "search-without-sync", .summary = "...", .breaks = "no_orphan_node");
 *
 * It may define these macros before the include:
 *   CLAIM_FIELDS     more fields of a claim
 *   NAME_MAX_BYTES   the size of the longest name, with its final zero */
#ifndef CANARY_SKELETON_KNOWN_BY_ID_H
#define CANARY_SKELETON_KNOWN_BY_ID_H

#include <lockstep/error.h>
#include <lockstep/recipe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#ifndef CLAIM_FIELDS
#define CLAIM_FIELDS
#endif
#ifndef NAME_MAX_BYTES
#define NAME_MAX_BYTES 64
#endif

#define CLAIMS_MAX 8
#define PATH_MAX_BYTES 384
#define ID_CHARACTERS 40 /* "_c_" and a UUID and "-" */
#define PREFIX "lock-"
#define NO_NUMBER (-1)

/* SEARCHING: a look for the node of a create whose answer was lost. READING: a look at the node that was
 * found. */
enum phase {
    FREE,
    MAKING_PARENT,
    CREATING,
    SEARCHING,
    READING,
    LISTING,
    WATCHING,
    WAITING,
    HELD,
    UNWATCHING,
    DELETING
};

/* One owner's way to one lock and back. */
struct claim {
    struct recipe *recipe;
    struct ls_timer deadline;
    struct ls_stamp sent; /* time of the create: the session lives half its timeout longer */
    int64_t czxid;
    int32_t number; /* at the end of the name of its node; NO_NUMBER = no node is known */
    uint8_t phase;  /* enum phase */
    uint8_t lock, owner;
    int depth;                  /* number of acquires, while HELD */
    uint8_t parent;             /* MAKING_PARENT: length of the part of the path that exists */
    bool busy;                  /* a request is under way */
    bool maybe;                 /* the answer to a create was lost, and there may be a node */
    bool ended;                 /* the caller has its answer, and the node is still to be removed */
    bool freeing;               /* released, and FREED is still to be reported */
    bool trying;                /* does not wait */
    bool watching;              /* a watch on `ahead` is armed, or may be */
    uint8_t id[16];             /* at the beginning of the name of its node */
    char ahead[NAME_MAX_BYTES]; /* name of the node before its own */
    CLAIM_FIELDS
};

struct recipe {
    struct ls_env *env;
    const struct ls_recipe_config *config;
    zhandle_t *zh;
    struct ls_timer reopen;
    int64_t session;    /* 0 = none */
    int32_t timeout_ms; /* of the session */
    bool connected;
    bool was_suspended;
    bool closing; /* inside zookeeper_close(), which runs callbacks */
    bool stopping;
    struct claim claim[CLAIMS_MAX];
};

/* The differences of a canary. A field that is not set leaves the recipe as it is. */
struct variation {
    /* Prepares a claim that waits for the next session; in place of begin(). */
    void (*next_session)(struct claim *claim);
    /* Is called when a claim gets a new id. */
    void (*begun)(struct claim *claim);
    /* Whether the answer to a create ends the claim at once. */
    bool (*ignores_created)(const struct claim *claim);
    /* Takes note of a lost answer to a create; in place of expect_a_node(). */
    void (*create_lost)(struct claim *claim);
    /* Looks for the claim's node; in place of search_behind_sync(). */
    int (*search)(struct claim *claim);
    /* Writes the beginning of the name of the claim's node; in place of the id and PREFIX. */
    void (*name_of)(const struct claim *claim, char name[NAME_MAX_BYTES]);
    /* Shows the canary's own fields of a claim that is not FREE; for canon(). */
    void (*show)(const struct claim *claim, struct ls_rename *rename);
};

static const struct variation variation; /* the canary defines it */

static void go(struct claim *claim, enum phase phase);

#include "claim_reports.h"

/* Removes the watch first, then the node. If there may be a node that the claim does not know, searches
 * for it first. */
static void clean_up(struct claim *claim)
{
    go(claim, claim->watching ? UNWATCHING : claim->maybe ? SEARCHING : DELETING);
}

/* Ends the claim without the lock. */
static void fail(struct claim *claim, int rc)
{
    ls_env_timer_stop(claim->recipe->env, &claim->deadline);
    tell(claim, LS_REPORT_FAILED, rc);
    claim->ended = true;
    if (!claim->busy) {
        clean_up(claim);
    }
}

/* ---- names ---- */

static const char *directory(const struct claim *claim)
{
    return claim->recipe->config->lock_paths[claim->lock];
}

/* Writes "_c_UUID-", the beginning of the name of the claim's node. */
static void id_text(const struct claim *claim, char text[ID_CHARACTERS + 1])
{
    int size = snprintf(text, 4, "_c_");
    for (int i = 0; i < 16; i++) {
        bool dash = i == 3 || i == 5 || i == 7 || i == 9 || i == 15;
        size += snprintf(text + size, 4, dash ? "%02x-" : "%02x", claim->id[i]);
    }
}

/* Gives the claim a new id for a new node. */
static void begin(struct claim *claim)
{
    claim->number = NO_NUMBER;
    claim->maybe = false;
    claim->phase = CREATING;
    ls_env_unique_id(claim->recipe->env, claim->id);
    if (variation.begun != NULL) {
        variation.begun(claim);
    }
}

/* Writes the name that a create of this claim asks for, which is the beginning of its node's name. */
static void name_of(const struct claim *claim, char name[NAME_MAX_BYTES])
{
    char id[ID_CHARACTERS + 1];
    if (variation.name_of != NULL) {
        variation.name_of(claim, name);
        return;
    }
    id_text(claim, id);
    snprintf(name, NAME_MAX_BYTES, "%s" PREFIX, id);
}

static void node_path(const struct claim *claim, char path[PATH_MAX_BYTES])
{
    char name[NAME_MAX_BYTES];
    name_of(claim, name);
    snprintf(path, PATH_MAX_BYTES, "%s/%s%010d", directory(claim), name, claim->number);
}

/* Returns what follows the last PREFIX of a name, or "" if it has none. */
static const char *key_of(const char *name)
{
    const char *key = "";
    for (const char *at = strstr(name, PREFIX); at != NULL; at = strstr(at + 1, PREFIX)) {
        key = at + strlen(PREFIX);
    }
    return key;
}

/* Returns the number of a contender, or NO_NUMBER for each other child of the directory, and for the last
 * number, which several nodes may have. */
static int32_t number_of(const char *name)
{
    const char *key = key_of(name);
    if (strlen(key) != 10 || strspn(key, "0123456789") != 10 || strtol(key, NULL, 10) >= INT32_MAX) {
        return NO_NUMBER;
    }
    return (int32_t)strtol(key, NULL, 10);
}

/* ---- the session ---- */

static void on_event(zhandle_t *zh, int type, int state, const char *path, void *ctx);
static void on_reopen(void *ctx);

static void open_session(struct recipe *r)
{
    zhandle_t *zh = zookeeper_init(r->config->hosts, on_event, r->config->session_timeout_ms, NULL, r, 0);
    r->zh = r->zh != NULL ? r->zh : zh; /* callbacks may have run already */
    if (r->zh == NULL) {
        ls_env_timer_start(r->env, &r->reopen, "reopen-timer", 100, on_reopen, r);
    }
}

static void close_session(struct recipe *r)
{
    zhandle_t *zh = r->zh;
    r->zh = NULL;
    r->connected = false;
    r->closing = true;
    if (zh != NULL) {
        zookeeper_close(zh);
    }
    r->closing = false;
    /* No answer to an earlier request comes after this. */
    for (int i = 0; i < CLAIMS_MAX; i++) {
        r->claim[i].busy = false;
    }
}

static void on_reopen(void *ctx)
{
    struct recipe *r = ctx;
    ls_env_unlock(r->env); /* timers come with the mutex held */
    close_session(r);
    open_session(r);
    ls_env_lock(r->env);
}

/* The session has ended or is given up, and the servers remove its nodes and watches now or soon. A timer
 * closes the handle, because this function runs in one of the handle's callbacks. */
static void lose_session(struct recipe *r)
{
    r->connected = false;
    if (r->session != 0) {
        tell_session(r, LS_REPORT_LOST);
    }
    r->session = 0;
    r->was_suspended = false;
    for (int i = 0; i < CLAIMS_MAX; i++) {
        struct claim *claim = &r->claim[i];
        claim->watching = false;
        if (claim->phase == HELD || claim->ended || claim->freeing) {
            forget(claim);
        } else if (claim->phase != FREE) {
            (variation.next_session != NULL ? variation.next_session : begin)(claim);
        }
    }
    ls_env_timer_start(r->env, &r->reopen, "reopen-timer", 1, on_reopen, r);
}

static void on_connected(struct recipe *r)
{
    int64_t session = zoo_client_id(r->zh)->client_id;
    if (r->session != 0 && r->session != session) {
        lose_session(r); /* no event reported the end of the former session */
        return;
    }
    r->connected = true;
    r->timeout_ms = zoo_recv_timeout(r->zh);
    if (r->session == 0) {
        r->session = session;
        tell_session(r, LS_REPORT_CONNECTED);
    } else if (r->was_suspended) {
        tell_session(r, LS_REPORT_RECONNECTED);
    }
    r->was_suspended = false;
    for (int i = 0; i < CLAIMS_MAX; i++) {
        struct claim *claim = &r->claim[i];
        if (claim->phase != FREE && claim->phase != HELD && claim->phase != WAITING && !claim->busy) {
            go(claim, (enum phase)claim->phase);
        }
    }
}

#include "session_answers.h"

/* The answer to a create is lost, and the node may be there or not. At CONNECTED a search tells. */
static void expect_a_node(struct claim *claim)
{
    claim->maybe = true;
    claim->phase = SEARCHING;
}

/* Takes also a number that orders nothing: the delete needs it. */
static void take_number(struct claim *claim, const char *name)
{
    claim->number = (int32_t)strtol(key_of(name), NULL, 10);
    claim->maybe = false;
}

/* Goes on with a node that is there. */
static void queue_up(struct claim *claim, const struct Stat *stat)
{
    claim->czxid = stat->czxid;
    if (claim->ended) {
        clean_up(claim);
    } else if (claim->number < 0 || claim->number == INT32_MAX) {
        fail(claim, LS_EZK);
    } else {
        go(claim, LISTING);
    }
}

static void on_created(int rc, const char *value, const struct Stat *stat, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    if (variation.ignores_created != NULL && variation.ignores_created(claim)) {
        forget(claim);
        return;
    }
    if (!answered(claim, rc)) {
        if (claim->recipe->session != 0 && !claim->recipe->stopping) {
            (variation.create_lost != NULL ? variation.create_lost : expect_a_node)(claim);
        }
    } else if (rc == ZOK) {
        take_number(claim, strrchr(value, '/') + 1);
        queue_up(claim, stat);
    } else if (claim->ended) {
        clean_up(claim);
    } else if (rc == ZNONODE) {
        claim->parent = 0;
        go(claim, MAKING_PARENT);
    } else {
        fail(claim, LS_EZK);
    }
}

static int create(struct claim *claim)
{
    const struct ls_recipe_config *config = claim->recipe->config;
    char path[PATH_MAX_BYTES];
    char name[NAME_MAX_BYTES];
    name_of(claim, name);
    snprintf(path, sizeof path, "%s/%s", directory(claim), name);
    ls_env_stamp(claim->recipe->env, &claim->sent);
    return zoo_acreate2(claim->recipe->zh, path, config->contents,
                        config->contents != NULL ? config->contents_size : -1, &ZOO_OPEN_ACL_UNSAFE,
                        ZOO_EPHEMERAL_SEQUENTIAL, on_created, claim);
}

static void on_read(int rc, const struct Stat *stat, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    if (!answered(claim, rc)) {
        return;
    }
    if (rc == ZOK) {
        queue_up(claim, stat);
    } else if (claim->ended) {
        clean_up(claim);
    } else {
        begin(claim); /* another client has removed the node */
        go(claim, CREATING);
    }
}

static int read_node(struct claim *claim)
{
    char path[PATH_MAX_BYTES];
    node_path(claim, path);
    return zoo_aexists(claim->recipe->zh, path, 0, on_read, claim);
}

static void on_searched(int rc, const struct String_vector *names, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    if (!answered(claim, rc)) {
        return;
    }
    char ours[NAME_MAX_BYTES];
    name_of(claim, ours);
    for (int i = 0; rc == ZOK && i < names->count; i++) {
        if (strncmp(names->data[i], ours, strlen(ours)) == 0) {
            take_number(claim, names->data[i]);
        }
    }
    claim->maybe = false;
    if (claim->ended) {
        clean_up(claim);
    } else {
        go(claim, claim->number != NO_NUMBER ? READING : CREATING);
    }
}

static int look(struct claim *claim)
{
    return zoo_aget_children(claim->recipe->zh, directory(claim), 0, on_searched, claim);
}

static void on_synced(int rc, const char *value, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    (void)value;
    if (answered(claim, rc)) {
        int sent = look(claim);
        claim->busy = sent == ZOK;
        if (sent == ZMARSHALLINGERROR) {
            lose_session(claim->recipe); /* the library is short of memory: no event follows */
        }
    }
}

/* Has the server catch up with the leader before the search: it may be behind the server that got the
 * create. */
static int search_behind_sync(struct claim *claim)
{
    return zoo_async(claim->recipe->zh, directory(claim), on_synced, claim);
}

static int search(struct claim *claim)
{
    return (variation.search != NULL ? variation.search : search_behind_sync)(claim);
}

static void grant(struct claim *claim)
{
    ls_env_timer_stop(claim->recipe->env, &claim->deadline);
    claim->phase = HELD;
    claim->depth = 1;
    tell(claim, LS_REPORT_GRANTED, 0);
}

/* Keeps the name of the nearest node before the claim's own. Returns whether its own is in the list. */
static bool find_place(struct claim *claim, const struct String_vector *names)
{
    int32_t nearest = NO_NUMBER;
    bool found = false;
    memset(claim->ahead, 0, sizeof claim->ahead);
    for (int i = 0; i < names->count; i++) {
        int32_t number = number_of(names->data[i]);
        found |= number == claim->number;
        if (number < claim->number && number > nearest && strlen(names->data[i]) < NAME_MAX_BYTES) {
            nearest = number;
            memset(claim->ahead, 0, sizeof claim->ahead);
            strcpy(claim->ahead, names->data[i]);
        }
    }
    return found;
}

static void on_list(int rc, const struct String_vector *names, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    if (!answered(claim, rc)) {
        return;
    }
    if (claim->ended) {
        clean_up(claim);
    } else if (rc == ZNONODE || (rc == ZOK && !find_place(claim, names))) {
        begin(claim); /* another client has removed the node: back to the end of the line */
        go(claim, CREATING);
    } else if (rc != ZOK) {
        fail(claim, LS_EZK);
    } else if (claim->ahead[0] == 0) {
        grant(claim);
    } else if (claim->trying) {
        fail(claim, LS_EBUSY);
    } else {
        go(claim, WATCHING);
    }
}

static int list(struct claim *claim)
{
    return zoo_aget_children(claim->recipe->zh, directory(claim), 0, on_list, claim);
}

/* The node ahead is gone, or has new data. */
static void on_ahead(zhandle_t *zh, int type, int state, const char *path, void *ctx)
{
    struct claim *claim = ctx;
    const char *name = path != NULL ? strrchr(path, '/') : NULL;
    bool ours =
        zh == claim->recipe->zh && claim->watching && name != NULL && strcmp(name + 1, claim->ahead) == 0;
    (void)state;
    if (type == ZOO_SESSION_EVENT || !ours) {
        return;
    }
    claim->watching = false;
    if (claim->phase == WAITING) {
        go(claim, LISTING);
    }
}

static void on_watched(int rc, const char *value, int size, const struct Stat *stat, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    (void)value;
    (void)size;
    (void)stat;
    if (!answered(claim, rc)) {
        return;
    }
    claim->watching = rc == ZOK && claim->watching; /* the watch may have fired already */
    if (claim->ended) {
        clean_up(claim);
    } else if (rc != ZOK && rc != ZNONODE) {
        fail(claim, LS_EZK);
    } else {
        go(claim, claim->watching ? WAITING : LISTING);
    }
}

static void ahead_path(const struct claim *claim, char path[PATH_MAX_BYTES])
{
    snprintf(path, PATH_MAX_BYTES, "%s/%s", directory(claim), claim->ahead);
}

static int watch(struct claim *claim)
{
    char path[PATH_MAX_BYTES];
    ahead_path(claim, path);
    claim->watching = true;
    return zoo_awget(claim->recipe->zh, path, on_ahead, claim, on_watched, claim);
}

static void on_unwatched(int rc, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    if (answered(claim, rc)) {
        claim->watching = false;
        clean_up(claim);
    }
}

static int unwatch(struct claim *claim)
{
    char path[PATH_MAX_BYTES];
    const union {
        void_completion_t function;
        void_completion_t *declared; /* zookeeper.h has one star too many */
    } completion = {.function = on_unwatched};
    ahead_path(claim, path);
    return zoo_aremove_watches(claim->recipe->zh, path, ZWATCHTYPE_DATA, on_ahead, claim, 0,
                               completion.declared, claim);
}

static void on_deleted(int rc, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    if (answered(claim, rc)) {
        forget(claim);
    }
}

static int delete_node(struct claim *claim)
{
    char path[PATH_MAX_BYTES];
    node_path(claim, path);
    return zoo_adelete(claim->recipe->zh, path, -1, on_deleted, claim);
}

/* Enters a phase and sends its request. If there is no connection, CONNECTED sends it. */
static void go(struct claim *claim, enum phase phase)
{
    static int (*const send[])(struct claim *) = {
        [MAKING_PARENT] = make_parent, [CREATING] = create,     [SEARCHING] = search,
        [READING] = read_node,         [LISTING] = list,        [WATCHING] = watch,
        [UNWATCHING] = unwatch,        [DELETING] = delete_node};
    claim->phase = (uint8_t)phase;
    if (phase == WAITING || !claim->recipe->connected) {
        return;
    }
    if (phase == DELETING && claim->number == NO_NUMBER) {
        forget(claim); /* no node is known */
        return;
    }
    claim->busy = true;
    int rc = send[phase](claim);
    if (rc != ZOK) {
        claim->busy = false;
        if (rc != ZINVALIDSTATE && rc != ZNOWATCHER) {
            lose_session(claim->recipe); /* the library is short of memory: no event follows */
        }
    }
    if (rc == ZNOWATCHER) {
        claim->watching = false; /* the watch has fired, or its answer was lost */
        clean_up(claim);
    }
}

#include "recipe_calls.h"

static void canon(const void *state, struct ls_rename *rename)
{
    const struct recipe *r = state;
    rename->session(rename, &r->session);
    for (int i = 0; i < CLAIMS_MAX; i++) {
        const struct claim *claim = &r->claim[i];
        if (claim->phase != FREE) {
            rename->zxid(rename, &claim->czxid);
            rename->sequence(rename, &claim->number);
            rename->attempt(rename, claim->id);
            rename->text(rename, claim->ahead);
            if (variation.show != NULL) {
                variation.show(claim, rename);
            }
        }
    }
}

/* Defines the recipe. The arguments are its name, its summary, and the property that it breaks. */
#define CANARY(...)                                                                                          \
    static const struct ls_recipe canary = {.state_size = sizeof(struct recipe),                             \
                                            .start = start,                                                  \
                                            .stop = stop,                                                    \
                                            .acquire = acquire,                                              \
                                            .cancel = cancel,                                                \
                                            .release = release,                                              \
                                            .query = query,                                                  \
                                            .idle = idle,                                                    \
                                            .canon = canon,                                                  \
                                            .reentrant = true,                                               \
                                            __VA_ARGS__};                                                    \
    LS_RECIPE_MODULE(canary)

#endif
