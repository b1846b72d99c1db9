/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A mutex that knows its node by the node's name. It keeps its promises; a canary (tests/canary) varies
 * it.
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
 *   static const struct variation variation = {.before = before};
 *   CANARY(.name = "z05-...", .summary = "...", .breaks = "at_most_one_holder");
 *
 * It may define these macros before the include:
 *   CLAIM_FIELDS    more fields of a claim
 *   RECIPE_FIELDS   more fields of the recipe
 *   CANON NULL      the recipe compares session ids, so that a search must not rename them */
#ifndef CANARY_SKELETON_KNOWN_BY_NAME_H
#define CANARY_SKELETON_KNOWN_BY_NAME_H

#include <lockstep/error.h>
#include <lockstep/recipe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#ifndef CLAIM_FIELDS
#define CLAIM_FIELDS
#endif
#ifndef RECIPE_FIELDS
#define RECIPE_FIELDS
#endif
#ifndef CANON
#define CANON canon
#endif

#define CLAIMS_MAX 8
#define PATH_MAX_BYTES 256
#define SESSION_DIGITS 16
#define NUMBER_DIGITS 10
#define NAME_MAX_BYTES 40

/* Some steps are in no recipe but that of a canary which takes them itself:
 * - SEARCHING looks for the node of a create whose answer was lost, and READING looks at the node;
 * - FALLING_ASLEEP is between WATCHING and WAITING. */
enum phase {
    FREE,
    MAKING_PARENT,
    CREATING,
    LISTING,
    WATCHING,
    FALLING_ASLEEP,
    WAITING,
    HELD,
    SEARCHING,
    READING,
    UNWATCHING,
    DELETING
};

/* One owner's way to one lock and back. */
struct claim {
    struct recipe *recipe;
    struct ls_timer deadline;
    struct ls_stamp sent; /* time of the create: the session lives half its timeout longer */
    int64_t czxid;
    uint8_t phase; /* enum phase */
    uint8_t lock, owner;
    int depth;                 /* number of acquires, while HELD */
    uint8_t parent;            /* MAKING_PARENT: length of the part of the directory's path that exists */
    bool busy;                 /* a request is under way */
    bool ended;                /* the caller has its answer, and the node is still to be removed */
    bool freeing;              /* released, and FREED is still to be reported */
    bool trying;               /* does not wait */
    bool unasked;              /* no caller asked for this claim, so no report is about it */
    bool watching;             /* a watch on `ahead` is armed, or may be */
    char name[NAME_MAX_BYTES]; /* name of the claim's node; empty = no node */
    char ahead[64];            /* name of the node before it */
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
    RECIPE_FIELDS
    struct claim claim[CLAIMS_MAX];
};

/* The differences of a canary. A field that is not set leaves the recipe as it is. */
struct variation {
    /* A node's name is x-SESSION-NUMBER in place of lock-NUMBER. */
    bool names_session;
    /* A node's name is x-SESSION-CLAIM-NUMBER, where CLAIM is the place of the claim. */
    bool names_claim;
    /* A claim that is over keeps its lock and its owner. */
    bool keeps_owner;
    /* A caller that gives up leaves its watch armed. */
    bool leaves_watch;
    /* A holder keeps what it holds when its session ends. */
    bool keeps_hold;
    /* A claim whose node was deleted while its caller waits creates another one. */
    bool queues_again;
    /* The recipe orders negative numbers too, so that the counter has no end. */
    bool signed_numbers;

    /* Reports the end of a session; in place of LS_REPORT_LOST. */
    void (*report_loss)(struct recipe *r);
    /* Returns the report for a new session; in place of LS_REPORT_CONNECTED. */
    enum ls_report_kind (*new_session)(struct recipe *r);
    /* Whether a child of the directory counts; in place of a check of the whole name. */
    bool (*is_contender)(const char *name);
    /* Whether the first contender comes before the second; in place of the order of numbers. */
    bool (*before)(const char *name, const char *other);
    /* Whether the first of two nodes before the claim's own is the one to watch; in place of the nearer
     * one. */
    bool (*is_better)(const char *name, const char *other);
    /* Whether the claim is the first of the list in which `ahead` was found; in place of: no node is
     * ahead. */
    bool (*is_first)(const struct claim *claim, const struct String_vector *names);
    /* Arms the watch on `path` and returns a result code; in place of zoo_awget(). */
    int (*arm)(struct claim *claim, const char *path);
    /* Whether the request that arms the watch has done so, given its result; in place of rc == ZOK. */
    bool (*is_armed)(int rc);
    /* Goes on after the node ahead was gone already when the watch was asked for; in place of another
     * list. */
    void (*ahead_is_gone)(struct claim *claim);
    /* Goes on after the watch is armed; in place of WAITING. */
    void (*fall_asleep)(struct claim *claim);
    /* Is called before the claim enters a phase. */
    void (*enters)(struct claim *claim, enum phase phase);
    /* Goes on after a lost answer to a create, while the session lives; in place of a new session. */
    void (*create_lost)(struct claim *claim);
    /* Send the requests of SEARCHING and READING. */
    int (*search)(struct claim *claim);
    int (*read)(struct claim *claim);
    /* Writes the path that is deleted; in place of node_path(). */
    void (*path_to_delete)(const struct claim *claim, char path[PATH_MAX_BYTES]);
    /* Takes an event of any watch that the claim has ever armed. Returns true if nothing else is to
     * happen. */
    bool (*takes_event)(struct claim *claim, int type);
    /* Whether a deadline that has passed is put off. */
    bool (*puts_off)(struct claim *claim);
    /* Returns the belief of a holder; in place of LS_HELD while the session is known to live. */
    enum ls_belief (*believes)(const struct claim *claim);
};

static const struct variation variation; /* the canary defines it */

static void go(struct claim *claim, enum phase phase);

/* ---- reports ---- */

static void tell_session(struct recipe *r, enum ls_report_kind kind)
{
    ls_report(r->env, &(struct ls_report){.kind = kind, .session = r->session});
}

static void tell(struct claim *claim, enum ls_report_kind kind, int rc)
{
    if (claim->unasked) {
        return;
    }
    ls_report(claim->recipe->env, &(struct ls_report){.kind = kind,
                                                      .lock = claim->lock,
                                                      .owner = claim->owner,
                                                      .rc = rc,
                                                      .depth = claim->depth,
                                                      .token = claim->czxid,
                                                      .session = claim->recipe->session});
}

/* ---- the end of a claim ---- */

/* Keeps the recipe: answers to earlier requests of the claim may still come. */
static void clear(struct claim *claim, struct recipe *r)
{
    uint8_t lock = claim->lock, owner = claim->owner;
    memset(claim, 0, sizeof *claim);
    claim->recipe = r;
    if (variation.keeps_owner) {
        claim->lock = lock;
        claim->owner = owner;
    }
}

static void forget(struct claim *claim)
{
    bool cleaned = claim->ended;
    struct recipe *r = claim->recipe;
    ls_env_timer_stop(r->env, &claim->deadline);
    if (claim->freeing) {
        tell(claim, LS_REPORT_FREED, 0);
    }
    clear(claim, r);
    if (cleaned) {
        ls_report(r->env, &(struct ls_report){.kind = LS_REPORT_IDLE});
    }
}

/* Removes the watch first, then the node. A search for the node goes on. */
static void clean_up(struct claim *claim)
{
    bool unwatches = claim->watching && !variation.leaves_watch;
    go(claim, claim->phase == SEARCHING ? SEARCHING : unwatches ? UNWATCHING : DELETING);
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

static void before_entering(struct claim *claim, enum phase phase)
{
    if (variation.enters != NULL) {
        variation.enters(claim, phase);
    }
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
        zookeeper_close(zh); /* no callback of this handle runs later */
    }
    r->closing = false;
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

static void report_loss(struct recipe *r)
{
    tell_session(r, LS_REPORT_LOST);
}

/* The session has ended or is given up, and the servers remove its nodes and watches now or soon. A timer
 * closes the handle, because this function runs in one of the handle's callbacks. */
static void lose_session(struct recipe *r)
{
    r->connected = false;
    if (r->session != 0) {
        (variation.report_loss != NULL ? variation.report_loss : report_loss)(r);
    }
    r->session = 0;
    r->was_suspended = false;
    for (int i = 0; i < CLAIMS_MAX; i++) {
        struct claim *claim = &r->claim[i];
        claim->watching = false;
        before_entering(claim, CREATING);
        bool keeps_hold = claim->phase == HELD && variation.keeps_hold;
        if (claim->ended || claim->freeing || (claim->phase == HELD && !keeps_hold)) {
            forget(claim);
        } else if (claim->phase != FREE && !keeps_hold) {
            claim->phase = CREATING;
            memset(claim->name, 0, sizeof claim->name);
        }
    }
    ls_env_timer_start(r->env, &r->reopen, "reopen-timer", 1, on_reopen, r);
}

/* Whether CONNECTED has to send the claim's next request. */
static bool is_held_up(const struct claim *claim)
{
    bool rests = claim->phase == FREE || claim->phase == HELD || claim->phase == WAITING ||
                 claim->phase == FALLING_ASLEEP;
    return !rests && !claim->busy;
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
        tell_session(r, variation.new_session != NULL ? variation.new_session(r) : LS_REPORT_CONNECTED);
    } else if (r->was_suspended) {
        tell_session(r, LS_REPORT_RECONNECTED);
    }
    r->was_suspended = false;
    for (int i = 0; i < CLAIMS_MAX; i++) {
        if (is_held_up(&r->claim[i])) {
            go(&r->claim[i], (enum phase)r->claim[i].phase);
        }
    }
}

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

/* ---- names ---- */

static const char *prefix(void)
{
    return variation.names_session ? "x-" : "lock-";
}

/* Writes the beginning of the name of the claim's node. */
static void own_prefix(const struct claim *claim, char text[NAME_MAX_BYTES])
{
    const struct recipe *r = claim->recipe;
    int size = snprintf(text, NAME_MAX_BYTES, "%s", prefix());
    if (variation.names_session) {
        size += snprintf(text + size, NAME_MAX_BYTES - (size_t)size, "%0*llx-", SESSION_DIGITS,
                         (unsigned long long)r->session);
    }
    if (variation.names_claim) {
        snprintf(text + size, NAME_MAX_BYTES - (size_t)size, "%d-", (int)(claim - r->claim));
    }
}

static const char *directory(const struct claim *claim)
{
    return claim->recipe->config->lock_paths[claim->lock];
}

static void node_path(const struct claim *claim, char path[PATH_MAX_BYTES])
{
    snprintf(path, PATH_MAX_BYTES, "%s/%s", directory(claim), claim->name);
}

/* Returns the number at the end of a contender's name, or -1 for each other child of the directory. The
 * last number, 2^31 - 1, is given again and again and orders nothing: -1 too. */
static int32_t number_of(const char *name)
{
    size_t size = strlen(name);
    size_t expected = strlen(prefix()) + (variation.names_session ? SESSION_DIGITS + 1 : 0) +
                      (variation.names_claim ? 2 : 0) + NUMBER_DIGITS;
    if (size != expected || strncmp(name, prefix(), strlen(prefix())) != 0 ||
        name[size - NUMBER_DIGITS - 1] != '-' ||
        strspn(name + size - NUMBER_DIGITS, "0123456789") != NUMBER_DIGITS) {
        return -1;
    }
    long number = strtol(name + size - NUMBER_DIGITS, NULL, 10);
    return number < INT32_MAX ? (int32_t)number : -1;
}

/* Whether a name has the prefix and ten digits, or the prefix, a minus sign, and nine or ten digits. */
static bool has_signed_number(const char *name)
{
    if (strncmp(name, prefix(), strlen(prefix())) != 0) {
        return false;
    }
    const char *number = name + strlen(prefix());
    size_t size = strlen(number);
    size_t minus = number[0] == '-' ? 1 : 0;
    return size >= NUMBER_DIGITS && size <= NUMBER_DIGITS + minus &&
           strspn(number + minus, "0123456789") == size - minus;
}

/* Returns the number of a contender whose name has_signed_number(). */
__attribute__((unused)) static int32_t signed_number(const char *name)
{
    return (int32_t)strtol(name + strlen(prefix()), NULL, 10);
}

static bool is_contender(const char *name)
{
    if (variation.is_contender != NULL) {
        return variation.is_contender(name);
    }
    return variation.signed_numbers ? has_signed_number(name) : number_of(name) >= 0;
}

/* Whether one contender comes before another in the line. */
static bool comes_before(const char *name, const char *other)
{
    return variation.before != NULL ? variation.before(name, other) : number_of(name) < number_of(other);
}

/* Whether the first of two nodes before the claim's own is the one to watch. */
static bool is_nearer(const char *name, const char *other)
{
    return variation.is_better != NULL ? variation.is_better(name, other) : comes_before(other, name);
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
        go(claim, DELETING); /* the claim has no node yet */
        return;
    }
    if (rc != ZOK && rc != ZNODEEXISTS) {
        fail(claim, rc == ZNOAUTH ? LS_ENOAUTH : LS_EZK);
        return;
    }
    claim->parent = next_parent(claim);
    go(claim, directory(claim)[claim->parent] == 0 ? CREATING : MAKING_PARENT);
}

/* Makes one directory at a time, from the root on. */
static int make_parent(struct claim *claim)
{
    char path[PATH_MAX_BYTES];
    snprintf(path, sizeof path, "%.*s", next_parent(claim), directory(claim));
    return zoo_acreate(claim->recipe->zh, path, NULL, -1, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT, on_parent,
                       claim);
}

static void on_created(int rc, const char *value, const struct Stat *stat, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    struct recipe *r = claim->recipe;
    if (!answered(claim, rc)) {
        if (r->session != 0 && !r->stopping && variation.create_lost != NULL) {
            variation.create_lost(claim);
        } else if (r->session != 0 && !r->stopping) {
            lose_session(r); /* there may be a node that the claim does not know */
        }
        return;
    }
    if (rc == ZNONODE) {
        claim->parent = 0;
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
    snprintf(claim->name, sizeof claim->name, "%s", strrchr(value, '/') + 1);
    claim->czxid = stat->czxid;
    if (number_of(claim->name) < 0 && !variation.signed_numbers && !claim->ended) {
        fail(claim, LS_ESEQUENCE); /* the counter is at its end */
    } else {
        go(claim, claim->ended ? DELETING : LISTING);
    }
}

static int create(struct claim *claim)
{
    const struct ls_recipe_config *config = claim->recipe->config;
    char path[PATH_MAX_BYTES], name[NAME_MAX_BYTES];
    own_prefix(claim, name);
    snprintf(path, sizeof path, "%s/%s", directory(claim), name);
    ls_env_stamp(claim->recipe->env, &claim->sent);
    return zoo_acreate2(claim->recipe->zh, path, config->contents,
                        config->contents != NULL ? config->contents_size : -1, &ZOO_OPEN_ACL_UNSAFE,
                        ZOO_EPHEMERAL_SEQUENTIAL, on_created, claim);
}

static void grant(struct claim *claim)
{
    ls_env_timer_stop(claim->recipe->env, &claim->deadline);
    claim->phase = HELD;
    claim->depth = 1;
    tell(claim, LS_REPORT_GRANTED, 0);
}

/* Keeps the name of the node to watch. Returns whether the claim's own node is in the list. */
static bool find_place(struct claim *claim, const struct String_vector *names)
{
    const char *nearest = "";
    bool found = false;
    for (int i = 0; i < names->count; i++) {
        const char *name = names->data[i];
        found |= strcmp(name, claim->name) == 0;
        if (is_contender(name) && comes_before(name, claim->name) &&
            (nearest[0] == 0 || is_nearer(name, nearest))) {
            nearest = name;
        }
    }
    memset(claim->ahead, 0, sizeof claim->ahead);
    snprintf(claim->ahead, sizeof claim->ahead, "%s", nearest);
    return found;
}

static bool is_first(const struct claim *claim, const struct String_vector *names)
{
    return variation.is_first != NULL ? variation.is_first(claim, names) : claim->ahead[0] == 0;
}

static void on_list(int rc, const struct String_vector *names, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    if (!answered(claim, rc)) {
        return;
    }
    if (claim->ended) {
        go(claim, DELETING);
    } else if (rc == ZNONODE || (rc == ZOK && !find_place(claim, names))) {
        go(claim, CREATING); /* another client has removed the node: back to the end of the line */
    } else if (rc != ZOK) {
        fail(claim, rc == ZNOAUTH ? LS_ENOAUTH : LS_EZK);
    } else if (is_first(claim, names)) {
        grant(claim);
    } else if (claim->trying) {
        fail(claim, LS_EBUSY);
    } else {
        go(claim, claim->ahead[0] != 0 ? WATCHING : WAITING);
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
    (void)state;
    if (zh != claim->recipe->zh || (variation.takes_event != NULL && variation.takes_event(claim, type))) {
        return;
    }
    if (type == ZOO_SESSION_EVENT || !claim->watching || name == NULL ||
        strcmp(name + 1, claim->ahead) != 0) {
        return;
    }
    claim->watching = false;
    if (claim->phase == WAITING) {
        go(claim, LISTING);
    }
}

static void after_arming(struct claim *claim)
{
    if (variation.fall_asleep != NULL) {
        variation.fall_asleep(claim);
    } else {
        go(claim, WAITING);
    }
}

static void on_armed(int rc, const struct Stat *stat, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    (void)stat;
    if (!answered(claim, rc)) {
        return;
    }
    bool armed = variation.is_armed != NULL ? variation.is_armed(rc) : rc == ZOK;
    claim->watching &= armed; /* the watch may have fired already */
    if (claim->ended) {
        clean_up(claim);
    } else if (rc != ZOK && rc != ZNONODE) {
        fail(claim, rc == ZNOAUTH ? LS_ENOAUTH : LS_EZK);
    } else if (claim->watching) {
        after_arming(claim);
    } else if (rc == ZNONODE && variation.ahead_is_gone != NULL) {
        variation.ahead_is_gone(claim);
    } else {
        go(claim, LISTING);
    }
}

static void on_read(int rc, const char *value, int size, const struct Stat *stat, const void *ctx)
{
    (void)value;
    (void)size;
    on_armed(rc, stat, ctx);
}

static void ahead_path(const struct claim *claim, char path[PATH_MAX_BYTES])
{
    snprintf(path, PATH_MAX_BYTES, "%s/%s", directory(claim), claim->ahead);
}

/* Arms a watch with a read, which leaves none on a node that is not there. */
static int read_and_watch(struct claim *claim, const char *path)
{
    return zoo_awget(claim->recipe->zh, path, on_ahead, claim, on_read, claim);
}

static int watch(struct claim *claim)
{
    char path[PATH_MAX_BYTES];
    ahead_path(claim, path);
    claim->watching = true;
    return variation.arm != NULL ? variation.arm(claim, path) : read_and_watch(claim, path);
}

static void on_unwatched(int rc, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    if (answered(claim, rc)) {
        claim->watching = false;
        go(claim, DELETING);
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
    if (!answered(claim, rc)) {
        if (r->session != 0 && !r->stopping && !variation.names_session) {
            lose_session(r); /* by now another session's node may have the name */
        }
        return;
    }
    if (claim->ended || claim->freeing || !variation.queues_again) {
        forget(claim);
    } else {
        go(claim, CREATING); /* a caller still waits: back to the end of the line */
    }
}

static int delete_node(struct claim *claim)
{
    char path[PATH_MAX_BYTES];
    (variation.path_to_delete != NULL ? variation.path_to_delete : node_path)(claim, path);
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
    case LISTING:
        return list(claim);
    case WATCHING:
        return watch(claim);
    case SEARCHING:
        return variation.search != NULL ? variation.search(claim) : ZAPIERROR;
    case READING:
        return variation.read != NULL ? variation.read(claim) : ZAPIERROR;
    case UNWATCHING:
        return unwatch(claim);
    default:
        return delete_node(claim);
    }
}

/* Enters a phase and sends its request. If there is no connection, CONNECTED sends it. */
static void go(struct claim *claim, enum phase phase)
{
    before_entering(claim, phase);
    claim->phase = (uint8_t)phase;
    if (phase == CREATING) {
        memset(claim->name, 0, sizeof claim->name);
    }
    if (phase == WAITING || !claim->recipe->connected) {
        return;
    }
    if (phase == DELETING && claim->name[0] == 0) {
        forget(claim); /* the claim has no node */
        return;
    }
    claim->busy = true;
    int rc = send_request(claim, phase);
    if (rc == ZNOWATCHER) {
        on_unwatched(rc, claim); /* the watch has fired meanwhile: nothing was sent */
    } else if (rc != ZOK) {
        claim->busy = false;
        if (rc != ZINVALIDSTATE) {
            lose_session(claim->recipe); /* the library is short of memory: no event follows */
        }
    }
    if (rc == ZBADARGUMENTS && phase == DELETING) {
        forget(claim); /* no second try can succeed */
    }
}

/* ---- the recipe's functions ---- */

static int start(void *state, struct ls_env *env, const struct ls_recipe_config *config)
{
    struct recipe *r = state;
    r->env = env;
    r->config = config;
    for (int i = 0; i < CLAIMS_MAX; i++) {
        clear(&r->claim[i], r);
    }
    open_session(r);
    return r->zh != NULL ? 0 : LS_ENOMEM;
}

static void stop(void *state)
{
    struct recipe *r = state;
    r->stopping = true;
    ls_env_timer_stop(r->env, &r->reopen);
    for (int i = 0; i < CLAIMS_MAX; i++) {
        ls_env_timer_stop(r->env, &r->claim[i].deadline);
        before_entering(&r->claim[i], FREE);
    }
    close_session(r);
    memset(r, 0, sizeof *r);
}

/* Returns the claim of an owner that still has a caller, or NULL. */
static struct claim *find(struct recipe *r, int lock, int owner)
{
    for (int i = 0; i < CLAIMS_MAX; i++) {
        struct claim *claim = &r->claim[i];
        bool over = claim->phase == FREE || claim->ended || claim->freeing || claim->unasked;
        if (!over && claim->lock == lock && claim->owner == owner) {
            return claim;
        }
    }
    return NULL;
}

static void on_deadline(void *ctx)
{
    struct claim *claim = ctx;
    struct ls_env *env = claim->recipe->env;
    if (variation.puts_off != NULL && variation.puts_off(claim)) {
        return;
    }
    ls_env_unlock(env);
    fail(claim, LS_ETIMEDOUT);
    ls_env_lock(env);
}

static int acquire(void *state, int lock, int owner, int timeout_ms)
{
    struct recipe *r = state;
    struct claim *claim = find(r, lock, owner);
    if (claim != NULL && claim->phase == HELD) {
        claim->depth++;
        tell(claim, LS_REPORT_GRANTED, 0);
        return 0;
    }
    if (claim != NULL) {
        return LS_EALREADY;
    }
    claim = r->claim;
    while (claim < r->claim + CLAIMS_MAX && claim->phase != FREE) {
        claim++;
    }
    if (claim == r->claim + CLAIMS_MAX) {
        return LS_ENOMEM;
    }
    *claim = (struct claim){.recipe = r, .lock = (uint8_t)lock, .owner = (uint8_t)owner};
    claim->trying = timeout_ms == 0;
    if (claim->trying && !r->connected) {
        clear(claim, r);
        return LS_EBUSY; /* no server can be asked now */
    }
    if (timeout_ms > 0 && ls_env_timer_start(r->env, &claim->deadline, "deadline-timer", (uint32_t)timeout_ms,
                                             on_deadline, claim) != 0) {
        clear(claim, r);
        return LS_ENOMEM;
    }
    go(claim, CREATING);
    return 0;
}

static int cancel(void *state, int lock, int owner)
{
    struct claim *claim = find(state, lock, owner);
    if (claim == NULL || claim->phase == HELD) {
        return LS_ENOENT;
    }
    fail(claim, LS_ECANCELED);
    return 0;
}

static int release(void *state, int lock, int owner)
{
    struct claim *claim = find(state, lock, owner);
    if (claim == NULL || claim->phase != HELD) {
        return LS_ENOTOWNER;
    }
    if (--claim->depth == 0) {
        claim->freeing = true;
        go(claim, DELETING);
    }
    return 0;
}

/* Returns the belief of a holder by the time since its create. */
static enum ls_belief belief(const struct claim *claim)
{
    const struct recipe *r = claim->recipe;
    bool fresh = ls_env_elapsed_ms(r->env, &claim->sent) * 2 < r->timeout_ms;
    return r->connected && fresh ? LS_HELD : LS_UNKNOWN;
}

static enum ls_belief query(const void *state, int lock, int owner)
{
    const struct claim *claim = find((struct recipe *)(uintptr_t)state, lock, owner);
    if (claim == NULL || claim->phase != HELD) {
        return LS_NOT_HELD;
    }
    return variation.believes != NULL ? variation.believes(claim) : belief(claim);
}

static bool idle(const void *state)
{
    const struct recipe *r = state;
    for (int i = 0; i < CLAIMS_MAX; i++) {
        if (r->claim[i].ended) {
            return false;
        }
    }
    return true;
}

__attribute__((unused)) static void canon(const void *state, struct ls_rename *rename)
{
    const struct recipe *r = state;
    rename->session(rename, &r->session);
    for (int i = 0; i < CLAIMS_MAX; i++) {
        const struct claim *claim = &r->claim[i];
        if (claim->phase != FREE) {
            rename->zxid(rename, &claim->czxid);
            rename->text(rename, claim->name);
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
                                            .reentrant = true,                                               \
                                            .canon = CANON,                                                  \
                                            __VA_ARGS__};                                                    \
    LS_RECIPE_MODULE(canary)

#endif
