/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* InterProcessSemaphoreV2 as Curator 5.4 has it, so that one can see what the situations of a semaphore
 * say about it: docs/findings.md.
 *
 *   PATH/locks    _c_UUID-lock-N: the inner lock, an InterProcessMutex
 *   PATH/leases   _c_UUID-lease-N: one node for each lease
 *
 * Node 0 of a claim stands in the line, all others are leases. step() looks at what a claim has, and does
 * what is next. For one lease after the other:
 *
 *   line node --> first in line? --no--> watch the one before it, and wait
 *                      | yes
 *                      v
 *   lease node --> in the list of leases? --no--> the inner lock is released, and all begins anew
 *                      | yes
 *                      v
 *             as many leases as allowed, or fewer? --no--> wait for the watch on that list
 *                      | yes
 *                      v
 *             the watches are removed, the inner lock is released
 *
 * What makes it Curator:
 *   - the inner lock is taken anew for each lease of an acquire, and leases that an acquire has got are
 *     kept meanwhile;
 *   - all leases of the list are counted, also those that came later;
 *   - the list is believed: it may show a lease that a former session made;
 *   - whoever waits is woken by each event of the session, and lists again;
 *   - nodes are created in protected mode: after a lost answer the child with the id is the one. Since
 *     CURATOR-498 a create looks whether the session is still the same. It does not bring the server up to
 *     date before (no sync);
 *   - requests that were lost are sent again, also over the end of a session, RETRIES times; a node that
 *     is to be deleted is tried for ever ("guaranteed");
 *   - a time limit bounds the waiting, not the requests before and after it. An attempt at the inner lock
 *     that ran out of time leaves its watch.
 * Its users are told to listen to the state of the connection, and not to rely on a lease while it is
 * suspended or lost. This file does that for them. A lease has no fencing token: for the judges this file
 * tells the czxid of the oldest lease, if it has seen that.
 *
 * Left out: the shared count of leases, and the sleeping between retries. */
#include <lockstep/error.h>
#include <lockstep/recipe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#define CLAIMS_MAX 4
#define NODES_MAX 4 /* the one in the line, and three leases */
#define RETRIES 3
#define PATH_MAX_BYTES 320
#define NAME_MAX_BYTES 64 /* _c_UUID-lease-0000000000 has 57 */

enum phase {
    FREE,
    MAKING_PARENT,
    CREATING,
    FINDING,
    LISTING,
    WATCHING,
    COUNTING,
    WAITING,
    HELD,
    UNWATCHING,
    DELETING
};

enum watch { NOTHING, AHEAD, ROOM };

struct node {
    int64_t session;           /* in which its create was first sent; 0 = not yet */
    int64_t czxid;             /* 0 = not known */
    bool doubtful;             /* a create may have reached the coordinator */
    uint8_t id[16];            /* of the protection */
    char name[NAME_MAX_BYTES]; /* "" = not known */
};

/* One owner's way to its leases and back. */
struct claim {
    struct recipe *recipe;
    struct ls_timer deadline;
    struct node node[NODES_MAX]; /* the first stands in the line */
    char ahead[NAME_MAX_BYTES];  /* the name before ours in the line; "" = none, or not known */
    int32_t rc;                  /* of the failure that is told when all nodes are deleted; 0 = none */
    uint8_t phase;               /* enum phase: what is under way, or is waited for */
    uint8_t watching;            /* enum watch */
    uint8_t at;                  /* the node that the request is about */
    uint8_t lock, owner;
    uint8_t got;    /* that many leases are granted */
    uint8_t parent; /* MAKING_PARENT: how many characters of the directory's path exist */
    uint8_t tries;  /* how often the present request was lost */
    uint8_t rounds; /* how often a node was gone when it was looked for */
    bool busy;      /* a request is under way */
    bool leads;     /* the inner lock is taken */
    bool roomy;     /* the lease at hand is granted: the inner lock is to be released */
    bool again;     /* the lease at hand is gone: the inner lock is to be released, and all begins anew */
    bool held;      /* granted and not given back */
    bool ended;     /* the caller has its answer: what is left is ours to clean up */
    bool freeing;   /* given back: FREED is owed */
    bool trying;    /* has no time to wait */
    bool late;      /* the time is up */
};

struct recipe {
    struct ls_env *env;
    const struct ls_recipe_config *config;
    zhandle_t *zh;
    struct ls_timer reopen;
    int64_t session; /* 0 = none */
    bool connected;
    bool was_suspended;
    bool closing; /* inside zookeeper_close(), which runs callbacks */
    bool plain;   /* the server knows no containers */
    bool stopping;
    struct claim claim[CLAIMS_MAX];
};

static void step(struct claim *claim);

/* ---- telling ---- */

static void tell_session(struct recipe *r, enum ls_report_kind kind)
{
    ls_report(r->env, &(struct ls_report){.kind = kind, .session = r->session});
}

static int64_t token_of(const struct claim *claim)
{
    int64_t oldest = 0;
    for (int at = 1; at < NODES_MAX; at++) {
        int64_t czxid = claim->node[at].czxid;
        oldest = czxid != 0 && (oldest == 0 || czxid < oldest) ? czxid : oldest;
    }
    return oldest;
}

static void tell(struct claim *claim, enum ls_report_kind kind, int rc)
{
    ls_report(claim->recipe->env, &(struct ls_report){.kind = kind,
                                                      .lock = claim->lock,
                                                      .owner = claim->owner,
                                                      .rc = rc,
                                                      .token = claim->held ? token_of(claim) : 0,
                                                      .depth = claim->held ? 1 : 0,
                                                      .session = claim->recipe->session});
}

/* ---- the end of a claim ---- */

static void clear(struct claim *claim, struct recipe *r)
{
    memset(claim, 0, sizeof *claim);
    claim->recipe = r; /* watches of it may still fire */
}

/* Tells the caller what is owed, once. What is left of the claim cleans up behind its back. */
static void settle(struct claim *claim)
{
    bool freeing = claim->freeing;
    int rc = claim->rc;
    claim->freeing = claim->held = false;
    claim->rc = 0;
    claim->ended = true;
    ls_env_timer_stop(claim->recipe->env, &claim->deadline);
    if (freeing) {
        tell(claim, LS_REPORT_FREED, 0);
    } else if (rc != 0) {
        tell(claim, LS_REPORT_FAILED, rc);
    }
}

static void forget(struct claim *claim)
{
    struct recipe *r = claim->recipe;
    bool cleaned = claim->ended;
    settle(claim);
    clear(claim, r);
    if (cleaned) {
        ls_report(r->env, &(struct ls_report){.kind = LS_REPORT_IDLE});
    }
}

/* An exception: the caller has it at once, the nodes are removed in the background. */
static void fail(struct claim *claim, int rc)
{
    claim->rc = rc;
    settle(claim);
    if (!claim->busy) {
        step(claim);
    }
}

static int error_of(int rc)
{
    return rc == ZNOAUTH ? LS_ENOAUTH : LS_EZK;
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
        zookeeper_close(zh); /* after this nobody calls us for it */
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

/* The session is gone. Who holds a lease hears of it; all others go on in the next session. */
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
        claim->watching = NOTHING;
        if (claim->held) {
            forget(claim);
        }
    }
    ls_env_timer_start(r->env, &r->reopen, "reopen-timer", 1, on_reopen, r);
}

/* A client of Java is told of the end of its session; this one may find itself in a new one. */
static void on_connected(struct recipe *r)
{
    int64_t session = zoo_client_id(r->zh)->client_id;
    if (r->session != 0 && r->session != session) {
        lose_session(r);
        return;
    }
    r->connected = true;
    if (r->session == 0) {
        r->session = session;
        tell_session(r, LS_REPORT_CONNECTED);
    } else if (r->was_suspended) {
        tell_session(r, LS_REPORT_RECONNECTED);
    }
    r->was_suspended = false;
    for (int i = 0; i < CLAIMS_MAX; i++) {
        struct claim *claim = &r->claim[i];
        if (claim->phase == WAITING) {
            memset(claim->ahead, 0, sizeof claim->ahead); /* watchers hear of the session too: list again */
            claim->phase = claim->leads ? COUNTING : LISTING;
        }
        if (claim->phase != FREE && claim->phase != HELD && !claim->busy) {
            step(claim);
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

static const struct ls_lock_spec *spec_of(const struct claim *claim)
{
    return &claim->recipe->config->locks[claim->lock];
}

static int leases_of(const struct claim *claim)
{
    return spec_of(claim)->count > 0 ? spec_of(claim)->count : 1;
}

static void directory(const struct claim *claim, int at, char path[PATH_MAX_BYTES])
{
    snprintf(path, PATH_MAX_BYTES, "%s/%s", claim->recipe->config->lock_paths[claim->lock],
             at == 0 ? "locks" : "leases");
}

static void child_path(const struct claim *claim, int at, const char *name, char path[PATH_MAX_BYTES])
{
    directory(claim, at, path);
    size_t size = strlen(path);
    snprintf(path + size, PATH_MAX_BYTES - size, "/%s", name);
}

/* "_c_UUID-lock-": what the name of a node begins with. */
static void protection(const struct claim *claim, int at, char text[NAME_MAX_BYTES])
{
    int size = snprintf(text, NAME_MAX_BYTES, "_c_");
    for (int i = 0; i < 16; i++) {
        bool dash = i == 3 || i == 5 || i == 7 || i == 9 || i == 15;
        size += snprintf(text + size, (size_t)(NAME_MAX_BYTES - size), dash ? "%02x-" : "%02x",
                         claim->node[at].id[i]);
    }
    snprintf(text + size, (size_t)(NAME_MAX_BYTES - size), at == 0 ? "lock-" : "lease-");
}

/* What names of the line are put in order by. */
static const char *place(const char *name)
{
    const char *last = NULL;
    for (const char *at = strstr(name, "lock-"); at != NULL; at = strstr(at + 1, "lock-")) {
        last = at;
    }
    return last != NULL ? last + strlen("lock-") : name;
}

/* ---- requests and their answers ---- */

static void ask(struct claim *claim, enum phase phase, int at);

static void begin_node(struct claim *claim, int at)
{
    memset(&claim->node[at], 0, sizeof claim->node[at]);
    ls_env_unique_id(claim->recipe->env, claim->node[at].id);
}

/* The lease at hand. */
static int present(const struct claim *claim)
{
    return claim->got + 1;
}

/* Whether an answer is ours to act on; after a lost one CONNECTED goes on, until there were too many. */
static bool answered(struct claim *claim, int rc)
{
    struct recipe *r = claim->recipe;
    claim->busy = false;
    if (r->stopping) {
        return false;
    }
    if (rc != ZCONNECTIONLOSS && rc != ZOPERATIONTIMEOUT && rc != ZSESSIONEXPIRED && rc != ZCLOSING) {
        claim->tries = 0;
        return r->session != 0;
    }
    if (!claim->ended && !claim->roomy && ++claim->tries > RETRIES) {
        claim->rc = claim->freeing ? 0 : claim->rc != 0 ? claim->rc : LS_EGAVEUP;
        settle(claim);
    }
    return false;
}

/* How far the path of the next directory reaches, below those that exist. */
static uint8_t next_parent(const struct claim *claim, const char *path)
{
    const char *slash = strchr(path + claim->parent + 1, '/');
    return (uint8_t)(slash != NULL ? slash - path : (long)strlen(path));
}

static void on_parent(int rc, const char *value, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    char path[PATH_MAX_BYTES];
    (void)value;
    if (!answered(claim, rc)) {
        return;
    }
    directory(claim, claim->at, path);
    if (claim->ended) {
        step(claim);
    } else if (rc == ZUNIMPLEMENTED) {
        claim->recipe->plain = true;
        ask(claim, MAKING_PARENT, claim->at);
    } else if (rc != ZOK && rc != ZNODEEXISTS) {
        fail(claim, error_of(rc));
    } else {
        claim->parent = next_parent(claim, path);
        ask(claim, path[claim->parent] == 0 ? CREATING : MAKING_PARENT, claim->at);
    }
}

/* From the root on, one directory at a time, as containers if the server has them. */
static int make_parent(struct claim *claim)
{
    char path[PATH_MAX_BYTES];
    directory(claim, claim->at, path);
    path[next_parent(claim, path)] = 0;
    return zoo_acreate(claim->recipe->zh, path, NULL, -1, &ZOO_OPEN_ACL_UNSAFE,
                       claim->recipe->plain ? ZOO_PERSISTENT : ZOO_CONTAINER, on_parent, claim);
}

static void on_created(int rc, const char *value, const struct Stat *stat, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    struct node *node = &claim->node[claim->at];
    if (!answered(claim, rc)) {
        return;
    }
    node->doubtful = false;
    if (rc == ZOK) {
        snprintf(node->name, sizeof node->name, "%s", strrchr(value, '/') + 1);
        node->czxid = stat->czxid;
        step(claim);
    } else if (claim->ended) {
        step(claim);
    } else if (rc == ZNONODE) {
        claim->parent = 0;
        ask(claim, MAKING_PARENT, claim->at);
    } else {
        fail(claim, error_of(rc));
    }
}

static int create(struct claim *claim)
{
    const struct ls_recipe_config *config = claim->recipe->config;
    struct node *node = &claim->node[claim->at];
    char name[NAME_MAX_BYTES], path[PATH_MAX_BYTES];
    protection(claim, claim->at, name);
    child_path(claim, claim->at, name, path);
    node->doubtful = true;
    node->session = node->session == 0 ? claim->recipe->session : node->session;
    return zoo_acreate2(claim->recipe->zh, path, config->contents,
                        config->contents != NULL ? config->contents_size : -1, &ZOO_OPEN_ACL_UNSAFE,
                        ZOO_EPHEMERAL_SEQUENTIAL, on_created, claim);
}

/* Of a former session: it goes with that, and nobody waits for the answer. */
static void on_dropped(int rc, const void *ctx)
{
    (void)rc;
    (void)ctx;
}

/* The child that carries the id is the one, unless there is another session since. */
static void on_found(int rc, const struct String_vector *names, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    struct node *node = &claim->node[claim->at];
    char own[NAME_MAX_BYTES], path[PATH_MAX_BYTES];
    if (!answered(claim, rc)) {
        return;
    }
    if (rc != ZOK && rc != ZNONODE && !claim->ended) {
        fail(claim, error_of(rc));
        return;
    }
    bool former = node->session != claim->recipe->session;
    node->session = claim->recipe->session;
    protection(claim, claim->at, own);
    for (int i = 0; rc == ZOK && i < names->count; i++) {
        if (strncmp(names->data[i], own, strlen(own)) != 0) {
            continue;
        }
        if (former) {
            child_path(claim, claim->at, names->data[i], path);
            zoo_adelete(claim->recipe->zh, path, -1, on_dropped, claim);
        } else {
            snprintf(node->name, sizeof node->name, "%s", names->data[i]);
        }
    }
    node->doubtful = false;
    step(claim);
}

static int find_node(struct claim *claim)
{
    char path[PATH_MAX_BYTES];
    directory(claim, claim->at, path);
    return zoo_aget_children(claim->recipe->zh, path, 0, on_found, claim);
}

/* ---- the inner lock ---- */

/* Keeps the name of the one before ours; says whether ours is there at all. */
static bool find_place(struct claim *claim, const struct String_vector *names)
{
    const char *own = claim->node[0].name;
    bool found = false;
    memset(claim->ahead, 0, sizeof claim->ahead);
    for (int i = 0; i < names->count; i++) {
        const char *name = names->data[i];
        found |= strcmp(name, own) == 0;
        if (strcmp(place(name), place(own)) < 0 && strlen(name) < sizeof claim->ahead &&
            (claim->ahead[0] == 0 || strcmp(place(name), place(claim->ahead)) > 0)) {
            memset(claim->ahead, 0, sizeof claim->ahead);
            snprintf(claim->ahead, sizeof claim->ahead, "%s", name);
        }
    }
    return found;
}

/* A node of ours is not there: says whether there may be another try. */
static bool once_more(struct claim *claim)
{
    if (++claim->rounds <= RETRIES) {
        return true;
    }
    fail(claim, LS_EZK);
    return false;
}

static void on_line(int rc, const struct String_vector *names, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    if (!answered(claim, rc)) {
        return;
    }
    if (claim->ended) {
        step(claim);
    } else if (rc == ZNONODE || (rc == ZOK && !find_place(claim, names))) {
        memset(claim->ahead, 0, sizeof claim->ahead);
        begin_node(claim, 0);
        if (once_more(claim)) {
            step(claim);
        }
    } else if (rc != ZOK) {
        fail(claim, error_of(rc));
    } else {
        claim->leads = claim->ahead[0] == 0;
        step(claim);
    }
}

static int list_line(struct claim *claim)
{
    char path[PATH_MAX_BYTES];
    directory(claim, 0, path);
    return zoo_aget_children(claim->recipe->zh, path, 0, on_line, claim);
}

/* Waits, or ends for lack of time: then the nodes go first, and the caller hears of it behind. */
static void wait(struct claim *claim)
{
    if (claim->late) {
        claim->rc = claim->trying ? LS_EBUSY : LS_ETIMEDOUT;
        step(claim);
    } else {
        claim->phase = WAITING;
    }
}

/* Whatever the watch says, somebody who waits looks again. */
static void on_watch(zhandle_t *zh, int type, int state, const char *path, void *ctx)
{
    struct claim *claim = ctx;
    (void)state;
    if (type == ZOO_SESSION_EVENT || zh != claim->recipe->zh || path == NULL) {
        return;
    }
    bool room = strcmp(strrchr(path, '/'), "/leases") == 0;
    claim->watching = claim->watching == (room ? ROOM : AHEAD) ? NOTHING : claim->watching;
    if (claim->phase == WAITING) {
        memset(claim->ahead, 0, sizeof claim->ahead);
        claim->phase = claim->leads ? COUNTING : LISTING;
        step(claim);
    }
}

static void on_ahead_watched(int rc, const char *value, int size, const struct Stat *stat, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    (void)value;
    (void)size;
    (void)stat;
    if (!answered(claim, rc)) {
        return;
    }
    claim->watching = rc == ZOK ? AHEAD : NOTHING;
    if (claim->ended) {
        step(claim);
    } else if (rc == ZNONODE) {
        memset(claim->ahead, 0, sizeof claim->ahead); /* it is gone already */
        step(claim);
    } else if (rc != ZOK) {
        fail(claim, error_of(rc));
    } else {
        wait(claim);
    }
}

static int watch_ahead(struct claim *claim)
{
    char path[PATH_MAX_BYTES];
    child_path(claim, 0, claim->ahead, path);
    claim->watching = AHEAD;
    return zoo_awget(claim->recipe->zh, path, on_watch, claim, on_ahead_watched, claim);
}

/* ---- room ---- */

static void on_leases(int rc, const struct String_vector *names, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    bool found = false;
    if (!answered(claim, rc)) {
        return;
    }
    claim->watching = rc == ZOK ? ROOM : NOTHING;
    for (int i = 0; rc == ZOK && i < names->count; i++) {
        found |= strcmp(names->data[i], claim->node[present(claim)].name) == 0;
    }
    if (claim->ended) {
        step(claim);
    } else if (rc != ZOK) {
        fail(claim, error_of(rc));
    } else if (!found) {
        if (once_more(claim)) {
            claim->again = true;
            step(claim);
        }
    } else if (names->count <= spec_of(claim)->capacity) {
        claim->roomy = true;
        step(claim);
    } else {
        wait(claim);
    }
}

static int count(struct claim *claim)
{
    char path[PATH_MAX_BYTES];
    directory(claim, 1, path);
    claim->watching = ROOM;
    return zoo_awget_children(claim->recipe->zh, path, on_watch, claim, on_leases, claim);
}

/* ---- the way back ---- */

static void on_unwatched(int rc, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    if (answered(claim, rc)) {
        claim->watching = NOTHING;
        step(claim);
    }
}

static int unwatch(struct claim *claim)
{
    char path[PATH_MAX_BYTES];
    const union {
        void_completion_t function;
        void_completion_t *declared; /* zookeeper.h has one star too many */
    } completion = {.function = on_unwatched};
    bool room = claim->watching == ROOM;
    directory(claim, 1, path);
    if (!room) {
        child_path(claim, 0, claim->ahead, path);
    }
    return zoo_aremove_watches(claim->recipe->zh, path, room ? ZWATCHTYPE_CHILD : ZWATCHTYPE_DATA, on_watch,
                               claim, 0, completion.declared, claim);
}

static void on_deleted(int rc, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    if (answered(claim, rc)) {
        begin_node(claim, claim->at);
        step(claim);
    }
}

static int delete_node(struct claim *claim)
{
    char path[PATH_MAX_BYTES];
    child_path(claim, claim->at, claim->node[claim->at].name, path);
    return zoo_adelete(claim->recipe->zh, path, -1, on_deleted, claim);
}

/* ---- what is next ---- */

/* Asks for something, or leaves it to CONNECTED. */
static void ask(struct claim *claim, enum phase phase, int at)
{
    static int (*const send[])(struct claim *) = {
        [MAKING_PARENT] = make_parent, [CREATING] = create, [FINDING] = find_node,  [LISTING] = list_line,
        [WATCHING] = watch_ahead,      [COUNTING] = count,  [UNWATCHING] = unwatch, [DELETING] = delete_node};
    claim->phase = (uint8_t)phase;
    claim->at = (uint8_t)at;
    if (!claim->recipe->connected) {
        return;
    }
    claim->busy = true;
    int rc = send[phase](claim);
    if (rc == ZOK) {
        return;
    }
    claim->busy = false;
    if (rc == ZNOWATCHER) {
        claim->watching = NOTHING; /* it has fired, and nothing was sent */
        step(claim);
    } else if (rc != ZINVALIDSTATE) {
        lose_session(claim->recipe); /* the library is short of memory: no event follows */
    }
}

/* Removes watches, then leases from this one on, then the node in the line. Says whether one was there. */
static bool remove_next(struct claim *claim, int from)
{
    if (claim->watching == ROOM || (claim->watching == AHEAD && claim->leads)) {
        ask(claim, UNWATCHING, 0);
        return true;
    }
    for (int i = from; i <= NODES_MAX; i++) {
        int at = i < NODES_MAX ? i : 0; /* leases first */
        const struct node *node = &claim->node[at];
        if (node->doubtful || node->name[0] != 0) {
            ask(claim, node->name[0] != 0 ? DELETING : FINDING, at);
            return true;
        }
    }
    return false;
}

/* Creates a node, or looks for it. Says whether there is something to do. */
static bool make_node(struct claim *claim, int at)
{
    const struct node *node = &claim->node[at];
    if (node->name[0] == 0) {
        ask(claim, node->doubtful ? FINDING : CREATING, at);
    }
    return node->name[0] == 0;
}

static void grant(struct claim *claim)
{
    ls_env_timer_stop(claim->recipe->env, &claim->deadline);
    claim->phase = HELD;
    claim->held = true;
    tell(claim, LS_REPORT_GRANTED, 0);
}

static void take(struct claim *claim)
{
    if (make_node(claim, 0)) {
        return;
    }
    if (!claim->leads) {
        ask(claim, claim->ahead[0] != 0 ? WATCHING : LISTING, 0);
    } else if (!make_node(claim, present(claim))) {
        ask(claim, COUNTING, present(claim));
    }
}

static void step(struct claim *claim)
{
    if (claim->ended || claim->freeing || claim->rc != 0) {
        if (!remove_next(claim, 1)) {
            forget(claim);
        }
        return;
    }
    if (claim->roomy || claim->again) {
        if (remove_next(claim, claim->roomy ? NODES_MAX : present(claim))) {
            return;
        }
        claim->got = (uint8_t)(claim->got + claim->roomy);
        claim->rounds = claim->roomy ? 0 : claim->rounds;
        claim->leads = claim->roomy = claim->again = false;
        memset(claim->ahead, 0, sizeof claim->ahead);
    }
    if (claim->got == leases_of(claim)) {
        grant(claim);
    } else {
        take(claim);
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
    }
    close_session(r);
    memset(r, 0, sizeof *r);
}

/* The claim of an owner who still has a caller. */
static struct claim *find(struct recipe *r, int lock, int owner)
{
    for (int i = 0; i < CLAIMS_MAX; i++) {
        struct claim *claim = &r->claim[i];
        if (claim->phase != FREE && !claim->ended && !claim->freeing && claim->lock == lock &&
            claim->owner == owner) {
            return claim;
        }
    }
    return NULL;
}

static void on_deadline(void *ctx)
{
    struct claim *claim = ctx;
    struct ls_env *env = claim->recipe->env;
    claim->late = true;
    if (claim->phase != WAITING) {
        return; /* only waiting ends by time */
    }
    ls_env_unlock(env);
    wait(claim);
    ls_env_lock(env);
}

static int acquire(void *state, int lock, int owner, int timeout_ms)
{
    struct recipe *r = state;
    if (find(r, lock, owner) != NULL) {
        return LS_EALREADY;
    }
    struct claim *claim = r->claim;
    while (claim < r->claim + CLAIMS_MAX && claim->phase != FREE) {
        claim++;
    }
    if (claim == r->claim + CLAIMS_MAX || r->config->locks[lock].count >= NODES_MAX) {
        return LS_ENOMEM;
    }
    clear(claim, r);
    claim->lock = (uint8_t)lock;
    claim->owner = (uint8_t)owner;
    claim->trying = claim->late = timeout_ms == 0;
    if (timeout_ms > 0 && ls_env_timer_start(r->env, &claim->deadline, "deadline-timer", (uint32_t)timeout_ms,
                                             on_deadline, claim) != 0) {
        clear(claim, r);
        return LS_ENOMEM;
    }
    for (int at = 0; at < NODES_MAX; at++) {
        begin_node(claim, at);
    }
    step(claim);
    return 0;
}

/* An interrupt. */
static int cancel(void *state, int lock, int owner)
{
    struct claim *claim = find(state, lock, owner);
    if (claim == NULL || claim->held || claim->rc != 0) {
        return LS_ENOENT;
    }
    fail(claim, LS_ECANCELED);
    return 0;
}

static int release(void *state, int lock, int owner)
{
    struct claim *claim = find(state, lock, owner);
    if (claim == NULL || !claim->held) {
        return LS_ENOTOWNER;
    }
    claim->held = false;
    claim->freeing = true;
    step(claim);
    return 0;
}

static enum ls_belief query(const void *state, int lock, int owner)
{
    struct recipe *r = (struct recipe *)(uintptr_t)state;
    const struct claim *claim = find(r, lock, owner);
    if (claim == NULL || !claim->held) {
        return LS_NOT_HELD;
    }
    return r->connected ? LS_HELD : LS_UNKNOWN;
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

static enum ls_node_class classify(const struct ls_recipe_config *config, const char *below, int *lock)
{
    (void)config;
    (void)lock;
    if (strncmp(below, "locks/", 6) == 0 && strstr(below, "lock-") != NULL) {
        return LS_NODE_QUEUED;
    }
    bool lease = strncmp(below, "leases/", 7) == 0 && strstr(below + 7, "lease-") != NULL;
    return lease ? LS_NODE_CONTENDER : LS_NODE_OTHER;
}

static void canon(const void *state, struct ls_rename *rename)
{
    const struct recipe *r = state;
    rename->session(rename, &r->session);
    for (int i = 0; i < CLAIMS_MAX; i++) {
        const struct claim *claim = &r->claim[i];
        for (int at = 0; at < NODES_MAX && claim->phase != FREE; at++) {
            rename->session(rename, &claim->node[at].session);
            rename->zxid(rename, &claim->node[at].czxid);
            rename->attempt(rename, claim->node[at].id);
            rename->text(rename, claim->node[at].name);
        }
        if (claim->phase != FREE) {
            rename->text(rename, claim->ahead);
        }
    }
}

static const char *const directories[] = {"leases", "locks", NULL};

static const struct ls_recipe curator_like_semaphore = {
    .name = "curator-like-semaphore",
    .summary =
        "Curator's InterProcessSemaphoreV2: an inner lock for each lease, no look at the session, no sync",
    .kinds = LS_LOCK_BIT(LS_LOCK_SEMAPHORE),
    .state_size = sizeof(struct recipe),
    .start = start,
    .stop = stop,
    .acquire = acquire,
    .cancel = cancel,
    .release = release,
    .query = query,
    .idle = idle,
    .canon = canon,
    .classify = classify,
    .directories = directories,
    .contender_per_unit = true,
    .queues = true,
};

LS_RECIPE_MODULE(curator_like_semaphore);
