/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A small mutex that passes the standard suite: the last step of docs/your-own-recipe.md. If an operator deletes
 * its node and its directory at once, it may take another node for its own (docs/what-green-means.md).
 *
 * Each contender has an ephemeral sequential node in the lock's directory; the lowest number holds, and everybody else
 * watches the next lower one.
 *
 *   FREE --> CREATING --> LISTING --> HELD --> DELETING --> FREE
 *               ^            |  ^       ^
 *               |            v  |       | (lowest)
 *               |         WATCHING --> WAITING
 *   (new session: everybody who waits begins again)
 *
 * It is built on one idea: whoever does not know whether its node exists gives the session up. A new session can have no
 * node of ours, and the coordinator removes those of the old one. So there is nothing to search for, and no id in names.
 * The price is that all locks of a process go with it.
 *
 * One request at a time is under way for each claim. Nothing is sent between CONNECTING and CONNECTED, so that
 * whatever was lost has been answered by the time of CONNECTED, and that is the moment to go on. */
#include <lockstep/error.h>
#include <lockstep/recipe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#define CLAIMS_MAX 8
#define PATH_MAX_BYTES 256
#define PREFIX "lock-"

enum phase { FREE, MAKING_PARENT, CREATING, LISTING, WATCHING, WAITING, HELD, UNWATCHING, DELETING };

/* One owner's way to one lock and back. */
struct claim {
    struct recipe *recipe;
    struct ls_timer deadline;
    struct ls_stamp
        sent; /* when the node was asked for: the session lives half its timeout longer at least */
    int64_t czxid;
    int32_t number; /* behind the name of our node */
    bool named;     /* there is a node of ours, or was */
    uint8_t phase;  /* enum phase */
    uint8_t lock, owner;
    int depth;      /* while HELD */
    uint8_t parent; /* MAKING_PARENT: how many characters of the directory's path exist */
    bool busy;      /* a request is under way */
    bool ended;     /* the caller has its answer: what is left is ours to clean up */
    bool freeing;   /* given back: FREED is owed */
    bool trying;    /* does not wait */
    bool watching;  /* a watch stands, or may stand, on `ahead` */
    char ahead[64]; /* the name of the node before ours */
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

static void go(struct claim *claim, enum phase phase);

/* ---- telling ---- */

static void tell_session(struct recipe *r, enum ls_report_kind kind)
{
    ls_report(r->env, &(struct ls_report){.kind = kind, .session = r->session});
}

static void tell(struct claim *claim, enum ls_report_kind kind, int rc)
{
    ls_report(claim->recipe->env, &(struct ls_report){.kind = kind,
                                                      .lock = claim->lock,
                                                      .owner = claim->owner,
                                                      .rc = rc,
                                                      .depth = claim->depth,
                                                      .token = claim->czxid,
                                                      .session = claim->recipe->session});
}

/* ---- the end of a claim ---- */

static void clear(struct claim *claim, struct recipe *r)
{
    memset(claim, 0, sizeof *claim);
    claim->recipe = r; /* answers to what it has asked may still come */
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

/* Ends without the lock. The watch goes first, then the node. */
static void fail(struct claim *claim, int rc)
{
    ls_env_timer_stop(claim->recipe->env, &claim->deadline);
    tell(claim, LS_REPORT_FAILED, rc);
    claim->ended = true;
    if (!claim->busy) {
        go(claim, claim->watching ? UNWATCHING : DELETING);
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

/* The session is gone, and all our nodes and watches with it, now or soon. A handle is closed by a timer, because this is
 * one of its own callbacks. */
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
            claim->phase = CREATING;
            claim->named = false; /* another directory may use the number again */
        }
    }
    ls_env_timer_start(r->env, &r->reopen, "reopen-timer", 1, on_reopen, r);
}

static void on_connected(struct recipe *r)
{
    int64_t session = zoo_client_id(r->zh)->client_id;
    if (r->session != 0 && r->session != session) {
        lose_session(r); /* and nobody has said so */
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

static const char *directory(const struct claim *claim)
{
    return claim->recipe->config->lock_paths[claim->lock];
}

static void node_path(const struct claim *claim, char path[PATH_MAX_BYTES])
{
    snprintf(path, PATH_MAX_BYTES, "%s/" PREFIX "%010d", directory(claim), claim->number);
}

/* The number behind a contender's name; -1 for whatever else lies there. */
static int32_t number_of(const char *name)
{
    size_t size = strlen(name);
    if (size != strlen(PREFIX) + 10 || strncmp(name, PREFIX, strlen(PREFIX)) != 0 ||
        strspn(name + strlen(PREFIX), "0123456789") != 10) {
        return -1;
    }
    return (int32_t)strtol(name + strlen(PREFIX), NULL, 10);
}

/* ---- requests and their answers ---- */

/* Whether an answer is ours to act on; after a lost one CONNECTED goes on. */
static bool answered(struct claim *claim, int rc)
{
    claim->busy = false;
    if (claim->recipe->stopping || claim->recipe->session == 0) {
        return false;
    }
    return rc != ZCONNECTIONLOSS && rc != ZOPERATIONTIMEOUT && rc != ZSESSIONEXPIRED && rc != ZCLOSING;
}

/* How far the path of the next directory reaches, below those that exist. */
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
        go(claim, DELETING); /* there is nothing of ours yet */
        return;
    }
    if (rc != ZOK && rc != ZNODEEXISTS) {
        fail(claim, rc == ZNOAUTH ? LS_ENOAUTH : LS_EZK);
        return;
    }
    claim->parent = next_parent(claim);
    go(claim, directory(claim)[claim->parent] == 0 ? CREATING : MAKING_PARENT);
}

/* From the root on, one directory at a time. */
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
        if (r->session != 0 && !r->stopping) {
            lose_session(r); /* there may be a node that we do not know */
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

static int create(struct claim *claim)
{
    char path[PATH_MAX_BYTES];
    snprintf(path, sizeof path, "%s/" PREFIX, directory(claim));
    claim->number = 0;
    claim->named = false;
    ls_env_stamp(claim->recipe->env, &claim->sent);
    return zoo_acreate2(claim->recipe->zh, path, claim->recipe->config->contents,
                        claim->recipe->config->contents != NULL ? claim->recipe->config->contents_size : -1,
                        &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL_SEQUENTIAL, on_created, claim);
}

static void grant(struct claim *claim)
{
    ls_env_timer_stop(claim->recipe->env, &claim->deadline);
    claim->phase = HELD;
    claim->depth = 1;
    tell(claim, LS_REPORT_GRANTED, 0);
}

/* Keeps the name of the nearest one before ours; says whether ours is there at all. */
static bool find_place(struct claim *claim, const struct String_vector *names)
{
    int32_t nearest = -1;
    bool found = false;
    for (int i = 0; i < names->count; i++) {
        int32_t number = number_of(names->data[i]);
        found |= number == claim->number;
        if (number >= 0 && number < claim->number && number > nearest) {
            nearest = number;
            snprintf(claim->ahead, sizeof claim->ahead, "%s", names->data[i]);
        }
    }
    if (nearest < 0) {
        memset(claim->ahead, 0, sizeof claim->ahead);
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
        go(claim, DELETING);
    } else if (rc == ZNONODE || (rc == ZOK && !find_place(claim, names))) {
        claim->named = false;
        go(claim, CREATING); /* somebody has removed our node: back to the end of the line */
    } else if (rc != ZOK) {
        fail(claim, rc == ZNOAUTH ? LS_ENOAUTH : LS_EZK);
    } else if (claim->ahead[0] == 0) {
        grant(claim);
    } else if (claim->trying) {
        fail(claim, LS_EBUSY);
    } else {
        go(claim, WATCHING);
    }
}

/* The node before ours is gone, or has been written to: a reason to look again, and no more. */
static void on_ahead(zhandle_t *zh, int type, int state, const char *path, void *ctx)
{
    struct claim *claim = ctx;
    struct recipe *r = claim->recipe;
    (void)state;
    const char *name = path != NULL ? strrchr(path, '/') : NULL;
    bool ours = zh == r->zh && claim->watching && name != NULL && strcmp(name + 1, claim->ahead) == 0;
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
    bool stands = rc == ZOK && claim->watching; /* else it has gone already */
    claim->watching = stands;
    if (claim->ended) {
        go(claim, stands ? UNWATCHING : DELETING);
    } else if (rc != ZOK && rc != ZNONODE) {
        fail(claim, rc == ZNOAUTH ? LS_ENOAUTH : LS_EZK);
    } else {
        go(claim, stands ? WAITING : LISTING);
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
    if (answered(claim, rc)) {
        forget(claim);
    } else if (r->session != 0 && !r->stopping) {
        lose_session(r); /* by now the name may be that of another's node */
    }
}

static int delete_node(struct claim *claim)
{
    char path[PATH_MAX_BYTES];
    node_path(claim, path);
    return zoo_adelete(claim->recipe->zh, path, -1, on_deleted, claim);
}

/* Does what the phase says, or leaves it to CONNECTED. */
static void go(struct claim *claim, enum phase phase)
{
    static int (*const send[])(struct claim *) = {[MAKING_PARENT] = make_parent,
                                                  [CREATING] = create,
                                                  [WATCHING] = watch,
                                                  [UNWATCHING] = unwatch,
                                                  [DELETING] = delete_node};
    claim->phase = (uint8_t)phase;
    if (phase == WAITING || !claim->recipe->connected) {
        return;
    }
    if (phase == DELETING && !claim->named) {
        forget(claim); /* there is none */
        return;
    }
    claim->busy = true;
    int rc = phase == LISTING ? zoo_aget_children(claim->recipe->zh, directory(claim), 0, on_list, claim)
                              : send[phase](claim);
    if (rc == ZNOWATCHER) {
        on_unwatched(rc, claim); /* it has fired meanwhile: nothing was sent */
    } else if (rc != ZOK) {
        claim->busy = false;
        if (rc != ZINVALIDSTATE) {
            lose_session(claim->recipe); /* the library is short of memory: no event follows */
        }
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
        return LS_EBUSY; /* nobody can be asked now */
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

static enum ls_belief query(const void *state, int lock, int owner)
{
    struct recipe *r = (struct recipe *)(uintptr_t)state;
    const struct claim *claim = find(r, lock, owner);
    if (claim == NULL || claim->phase != HELD) {
        return LS_NOT_HELD;
    }
    bool fresh = ls_env_elapsed_ms(r->env, &claim->sent) * 2 < r->timeout_ms;
    return r->connected && fresh ? LS_HELD : LS_UNKNOWN;
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

static void canon(const void *state, struct ls_rename *rename)
{
    const struct recipe *r = state;
    rename->session(rename, &r->session);
    for (int i = 0; i < CLAIMS_MAX; i++) {
        const struct claim *claim = &r->claim[i];
        if (claim->phase != FREE) {
            rename->zxid(rename, &claim->czxid);
            if (claim->named) {
                rename->sequence(rename, &claim->number);
            }
            rename->text(rename, claim->ahead);
        }
    }
}

static const struct ls_recipe next_in_line = {
    .name = "next-in-line",
    .summary = "everybody watches the next lower number; whoever is in doubt opens a new session",
    .state_size = sizeof(struct recipe),
    .start = start,
    .stop = stop,
    .acquire = acquire,
    .cancel = cancel,
    .release = release,
    .query = query,
    .idle = idle,
    .reentrant = true,
    .canon = canon,
};

LS_RECIPE_MODULE(next_in_line);
