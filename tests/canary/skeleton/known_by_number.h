/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A mutex that knows its node by the number at the end of the node's name. It keeps its promises; a canary
 * (tests/canary) varies it.
 *
 * Each claim has an ephemeral sequential node. The lowest number holds, and each other claim watches the
 * next lower node. If the answer to a create is lost, the recipe opens a new session, so that the servers
 * remove a node it does not know. Between CONNECTING and CONNECTED nothing is sent.
 *
 *   FREE --> CREATING --> LISTING --> HELD --> DELETING --> FREE
 *                            |  ^
 *                            v  |
 *                         WATCHING --> WAITING
 *
 * A canary includes this file, defines functions, and ends with:
 *
 *   static const struct variation variation = {.wakes = wakes};
 *   CANARY(.name = "event-after-re-check", .summary = "...", .breaks = "no_lost_wakeup");
 *
 * It may define RECIPE_FIELDS before the include: more fields of the recipe. */
#ifndef CANARY_SKELETON_KNOWN_BY_NUMBER_H
#define CANARY_SKELETON_KNOWN_BY_NUMBER_H

#include <lockstep/error.h>
#include <lockstep/recipe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#ifndef RECIPE_FIELDS
#define RECIPE_FIELDS
#endif

#define CLAIMS_MAX 8
#define PATH_MAX_BYTES 384
#define NAME_MAX_BYTES 64
#define PREFIX "lock-"
#define NO_NUMBER (-1)

/* READING: a look at the claim's own node, only of a canary that takes this step itself. */
enum phase { FREE, MAKING_PARENT, CREATING, READING, LISTING, WATCHING, WAITING, HELD, UNWATCHING, DELETING };

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
    bool ended;                 /* the caller has its answer, and the node is still to be removed */
    bool freeing;               /* released, and FREED is still to be reported */
    bool trying;                /* does not wait */
    bool watching;              /* a watch on `ahead` is armed, or may be */
    bool candidate;             /* has begun and was not granted since */
    char ahead[NAME_MAX_BYTES]; /* name of the node before its own */
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
    bool halted; /* the thread of the callbacks has ended: no request is sent any more */
    RECIPE_FIELDS
    struct claim claim[CLAIMS_MAX];
};

/* The differences of a canary. A field that is not set leaves the recipe as it is. */
struct variation {
    /* The recipe does not compare the session's id with the id of the former session. */
    bool trusts_the_library;
    /* The recipe lists the children again after it has armed its watch. */
    bool looks_after_watch;
    /* A claim whose node was deleted while its caller waits creates another one. */
    bool queues_again;

    /* Gets the events of the handle; in place of on_event(). */
    watcher_fn on_event;
    /* Returns the session that the next handle is to have; in place of NULL, a new one. */
    const clientid_t *(*session_to_open)(struct recipe *r);
    /* Whether the handle goes on after all, when a timer is to open another one. */
    bool (*keeps_handle)(struct recipe *r);
    /* Prepares a claim that waits for the next session; in place of begin(). */
    void (*next_session)(struct claim *claim);
    /* Is called for each claim at CONNECTED. Returns true if the claim's request is not to be sent again. */
    bool (*reconnected)(struct claim *claim);
    /* Cleans up after a failure, while no request is under way; in place of clean_up(). */
    void (*after_failure)(struct claim *claim);
    /* Whether a claim that has failed is over at once, without a clean-up. */
    bool (*is_over)(const struct claim *claim);
    /* Whether a delete is not to be sent again after a lost answer. */
    bool (*gives_up_delete)(const struct claim *claim);
    /* Whether an answer to a list is no longer possible, given the state of the claim. */
    bool (*rejects_list)(struct claim *claim);
    /* Whether an event of the watch makes the claim look again; in place of: while it is WAITING. */
    bool (*wakes)(const struct claim *claim);
    /* Goes on after the node ahead was gone already when the watch was asked for; in place of another
     * list. */
    void (*ahead_is_gone)(struct claim *claim);
    /* Sends the request of READING. */
    int (*read)(struct claim *claim);
    /* Lists the children; in place of ask_for_list(). */
    int (*list)(struct claim *claim);
};

static const struct variation variation; /* the canary defines it */

static void go(struct claim *claim, enum phase phase);

#include "claim_reports.h"

/* Removes the watch first, then the node. */
static void clean_up(struct claim *claim)
{
    go(claim, claim->watching ? UNWATCHING : DELETING);
}

/* Ends the claim without the lock. */
static void fail(struct claim *claim, int rc)
{
    ls_env_timer_stop(claim->recipe->env, &claim->deadline);
    tell(claim, LS_REPORT_FAILED, rc);
    claim->ended = true;
    if (variation.is_over != NULL && variation.is_over(claim)) {
        forget(claim);
    } else if (!claim->busy) {
        (variation.after_failure != NULL ? variation.after_failure : clean_up)(claim);
    }
}

/* ---- names ---- */

static const char *directory(const struct claim *claim)
{
    return claim->recipe->config->lock_paths[claim->lock];
}

static void begin(struct claim *claim)
{
    claim->number = NO_NUMBER;
    claim->phase = CREATING;
    claim->candidate = true;
}

static void node_path(const struct claim *claim, char path[PATH_MAX_BYTES])
{
    snprintf(path, PATH_MAX_BYTES, "%s/" PREFIX "%010d", directory(claim), claim->number);
}

/* Returns what follows the PREFIX of a name, or "" if it has none. */
static const char *key_of(const char *name)
{
    return strncmp(name, PREFIX, strlen(PREFIX)) == 0 ? name + strlen(PREFIX) : "";
}

/* Returns the number of a contender, or NO_NUMBER for each other child of the directory, and for the last
 * number. */
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
    const clientid_t *id = variation.session_to_open != NULL ? variation.session_to_open(r) : NULL;
    watcher_fn watcher = variation.on_event != NULL ? variation.on_event : on_event;
    zhandle_t *zh = zookeeper_init(r->config->hosts, watcher, r->config->session_timeout_ms, id, r, 0);
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
    if (variation.keeps_handle != NULL && variation.keeps_handle(r)) {
        return;
    }
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
    if (r->session != 0 && r->session != session && !variation.trusts_the_library) {
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
        bool handled = variation.reconnected != NULL && variation.reconnected(claim);
        bool rests = claim->phase == FREE || claim->phase == HELD || claim->phase == WAITING;
        if (!handled && !rests && !claim->busy) {
            go(claim, (enum phase)claim->phase);
        }
    }
}

#include "session_answers.h"

/* Takes also a number that orders nothing: the delete needs it. */
static void take_number(struct claim *claim, const char *name)
{
    claim->number = (int32_t)strtol(key_of(name), NULL, 10);
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
    if (variation.is_over != NULL && claim->phase != CREATING) {
        return; /* the claim was over before the answer came */
    }
    if (!answered(claim, rc)) {
        if (claim->recipe->session != 0 && !claim->recipe->stopping) {
            lose_session(claim->recipe); /* there may be a node that the claim does not know */
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
    snprintf(path, sizeof path, "%s/" PREFIX, directory(claim));
    ls_env_stamp(claim->recipe->env, &claim->sent);
    return zoo_acreate2(claim->recipe->zh, path, config->contents,
                        config->contents != NULL ? config->contents_size : -1, &ZOO_OPEN_ACL_UNSAFE,
                        ZOO_EPHEMERAL_SEQUENTIAL, on_created, claim);
}

static void grant(struct claim *claim)
{
    ls_env_timer_stop(claim->recipe->env, &claim->deadline);
    claim->phase = HELD;
    claim->candidate = false;
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
    if (!answered(claim, rc) || (variation.rejects_list != NULL && variation.rejects_list(claim))) {
        return;
    }
    if (claim->ended) {
        clean_up(claim);
    } else if ((rc == ZNONODE || (rc == ZOK && !find_place(claim, names))) && claim->watching) {
        lose_session(
            claim->recipe); /* another client has removed the node: the watch goes with the session */
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
        go(claim, claim->watching && variation.looks_after_watch ? WAITING : WATCHING);
    }
}

static int ask_for_list(struct claim *claim)
{
    return zoo_aget_children(claim->recipe->zh, directory(claim), 0, on_list, claim);
}

static int list(struct claim *claim)
{
    return (variation.list != NULL ? variation.list : ask_for_list)(claim);
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
    if (variation.wakes != NULL ? variation.wakes(claim) : claim->phase == WAITING) {
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
    } else if (rc == ZNONODE && variation.ahead_is_gone != NULL) {
        variation.ahead_is_gone(claim);
    } else {
        go(claim, claim->watching && !variation.looks_after_watch ? WAITING : LISTING);
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
    struct recipe *r = claim->recipe;
    if (!answered(claim, rc) && (variation.gives_up_delete == NULL || !variation.gives_up_delete(claim))) {
        if (r->session != 0 && !r->stopping) {
            lose_session(r); /* by now another session's node may have the name */
        }
    } else if (claim->ended || claim->freeing || !variation.queues_again) {
        forget(claim);
    } else {
        begin(claim); /* a caller still waits: back to the end of the line */
        go(claim, CREATING);
    }
}

static int delete_node(struct claim *claim)
{
    char path[PATH_MAX_BYTES];
    node_path(claim, path);
    return zoo_adelete(claim->recipe->zh, path, -1, on_deleted, claim);
}

/* Sends the request of a phase. Returns a result code. */
static int send_request(struct claim *claim, enum phase phase)
{
    switch (phase) {
    case MAKING_PARENT:
        return make_parent(claim);
    case CREATING:
        return create(claim);
    case READING:
        return variation.read != NULL ? variation.read(claim) : ZAPIERROR;
    case LISTING:
        return list(claim);
    case WATCHING:
        return watch(claim);
    case UNWATCHING:
        return unwatch(claim);
    default:
        return delete_node(claim);
    }
}

/* Enters a phase and sends its request. If there is no connection, CONNECTED sends it. */
static void go(struct claim *claim, enum phase phase)
{
    claim->phase = (uint8_t)phase;
    if (phase == WAITING || !claim->recipe->connected || claim->recipe->halted) {
        return;
    }
    if (phase == DELETING && claim->number == NO_NUMBER) {
        forget(claim); /* no node is known */
        return;
    }
    claim->busy = true;
    int rc = send_request(claim, phase);
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
            rename->text(rename, claim->ahead);
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
