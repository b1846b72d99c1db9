/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Curator's InterProcessMutex as its documentation and the articles about it describe it, so that one can see what the
 * standard suite says about it: docs/findings.md.
 *
 *   FREE --> CREATING --> LISTING --> HELD --> DELETING --> FREE
 *             |    ^       |  ^  ^
 *   (reply    v    |       v  |  +------- WAITING (a watch on the next lower one, or any news of the session)
 *    lost)   FINDING ...  WATCHING
 *
 * What makes it Curator:
 *   - the node is created in protected mode: its name carries an id, and whoever does not know whether the node was
 *     created lists the directory and takes the child with that id for its own. It does not ask whose session made it,
 *     and does not bring the server up to date before (no sync);
 *   - requests that were lost are sent again, also over the end of a session, RETRIES times; a node that is to be
 *     deleted is tried for ever ("guaranteed");
 *   - children are put in order by the text behind "lock-", whatever else lies there included;
 *   - a time limit bounds the waiting for one's turn, not the requests before and after it.
 * Its users are told to listen to the state of the connection, and not to rely on the lock while it is suspended or
 * lost. This file does that for them; built with -DUNHEARD it does not, and the lock says what isAcquiredInThisProcess()
 * says.
 *
 * Left out: fair queues, revocation, and the sleeping between retries. A lock of Curator that ran out of time keeps its
 * watch until the next release; here it stays. */
#include <lockstep/error.h>
#include <lockstep/recipe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#define CLAIMS_MAX 8
#define RETRIES 3
#define PATH_MAX_BYTES 320
#define NAME_MAX_BYTES 64 /* _c_ID-lock-0000000000 has 53 */

enum phase { FREE, MAKING_PARENT, CREATING, FINDING, LISTING, WATCHING, WAITING, HELD, DELETING };

/* One owner's way to one lock and back. */
struct claim {
    struct recipe *recipe;
    struct ls_timer deadline;
    int32_t rc;    /* of the failure that is told when the node is deleted; 0 = none */
    uint8_t phase; /* enum phase */
    uint8_t lock, owner;
    int depth;                 /* while HELD */
    uint8_t parent;            /* MAKING_PARENT: how many characters of the directory's path exist */
    uint8_t tries;             /* how often the present request was lost */
    uint8_t rounds;            /* how often the node was gone when its turn was looked for */
    bool busy;                 /* a request is under way */
    bool doubtful;             /* a create may have reached the coordinator */
    bool ended;                /* the caller has its answer: what is left is ours to clean up */
    bool freeing;              /* given back: FREED is owed */
    bool trying;               /* has no time to wait */
    bool late;                 /* the time is up */
    uint8_t id[16];            /* of the protection */
    char name[NAME_MAX_BYTES]; /* of our node; "" = not known */
    char ahead[NAME_MAX_BYTES];
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
    claim->freeing = false;
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

/* Where the removal of our node begins, as far as we know it. */
static enum phase removal(const struct claim *claim)
{
    return claim->name[0] == 0 && claim->doubtful ? FINDING : DELETING;
}

/* An exception: the caller has it at once, the node is removed in the background. */
static void fail(struct claim *claim, int rc)
{
    claim->rc = rc;
    settle(claim);
    if (!claim->busy) {
        go(claim, removal(claim));
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

/* The session is gone. Who holds the lock hears of it, if somebody listens; all others go on in the next session. */
static void lose_session(struct recipe *r)
{
    r->connected = false;
    if (r->session != 0) {
        tell_session(r, LS_REPORT_LOST);
    }
    r->session = 0;
    r->was_suspended = false;
#ifndef UNHEARD
    for (int i = 0; i < CLAIMS_MAX; i++) {
        if (r->claim[i].phase == HELD) {
            forget(&r->claim[i]);
        }
    }
#endif
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
            claim->phase = LISTING; /* watchers hear of the session too, and that wakes whoever waits */
        }
        if (claim->phase == CREATING && claim->doubtful) {
            claim->phase = FINDING;
        }
        if (claim->phase != FREE && claim->phase != HELD && !claim->busy) {
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

static void child_path(const struct claim *claim, const char *name, char path[PATH_MAX_BYTES])
{
    snprintf(path, PATH_MAX_BYTES, "%s/%s", directory(claim), name);
}

/* "_c_ID-": what the names of our node begin with. */
static void protection(const struct claim *claim, char text[NAME_MAX_BYTES])
{
    int size = snprintf(text, NAME_MAX_BYTES, "_c_");
    for (int i = 0; i < 16; i++) {
        size += snprintf(text + size, (size_t)(NAME_MAX_BYTES - size), "%02x", claim->id[i]);
    }
    snprintf(text + size, (size_t)(NAME_MAX_BYTES - size), "-");
}

/* What names are put in order by. */
static const char *place(const char *name)
{
    const char *last = NULL;
    for (const char *at = strstr(name, "lock-"); at != NULL; at = strstr(at + 1, "lock-")) {
        last = at;
    }
    return last != NULL ? last + strlen("lock-") : name;
}

/* ---- requests and their answers ---- */

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
    bool waited_for = !claim->ended;
    if (waited_for && ++claim->tries > RETRIES) {
        claim->rc = claim->freeing ? 0 : claim->rc != 0 ? claim->rc : LS_EGAVEUP;
        settle(claim);
        claim->phase = (uint8_t)removal(claim);
    }
    return false;
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
    bool made = rc == ZOK || rc == ZNODEEXISTS;
    if (claim->ended) {
        go(claim, removal(claim));
    } else if (rc == ZUNIMPLEMENTED) {
        claim->recipe->plain = true;
        claim->parent = 0;
        go(claim, MAKING_PARENT);
    } else if (!made) {
        fail(claim, rc == ZNOAUTH ? LS_ENOAUTH : LS_EZK);
    } else {
        claim->parent = next_parent(claim);
        go(claim, directory(claim)[claim->parent] == 0 ? CREATING : MAKING_PARENT);
    }
}

/* From the root on, one directory at a time, as containers if the server has them. */
static int make_parent(struct claim *claim)
{
    char path[PATH_MAX_BYTES];
    snprintf(path, sizeof path, "%.*s", next_parent(claim), directory(claim));
    return zoo_acreate(claim->recipe->zh, path, NULL, -1, &ZOO_OPEN_ACL_UNSAFE,
                       claim->recipe->plain ? ZOO_PERSISTENT : ZOO_CONTAINER, on_parent, claim);
}

/* There is a node of ours: next is its turn, or its end. */
static void named(struct claim *claim, const char *name)
{
    snprintf(claim->name, sizeof claim->name, "%s", name);
    claim->doubtful = false;
    go(claim, claim->ended ? DELETING : LISTING);
}

static void on_created(int rc, const char *value, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    if (!answered(claim, rc)) {
        return;
    }
    claim->doubtful = false;
    if (rc == ZOK) {
        named(claim, strrchr(value, '/') + 1);
    } else if (claim->ended) {
        forget(claim);
    } else if (rc == ZNONODE) {
        claim->parent = 0;
        go(claim, MAKING_PARENT);
    } else {
        fail(claim, rc == ZNOAUTH ? LS_ENOAUTH : LS_EZK);
    }
}

static int create(struct claim *claim)
{
    const struct ls_recipe_config *config = claim->recipe->config;
    char name[NAME_MAX_BYTES], path[PATH_MAX_BYTES];
    protection(claim, name);
    snprintf(path, sizeof path, "%s/%slock-", directory(claim), name);
    claim->doubtful = true;
    return zoo_acreate(claim->recipe->zh, path, config->contents,
                       config->contents != NULL ? config->contents_size : -1, &ZOO_OPEN_ACL_UNSAFE,
                       ZOO_EPHEMERAL_SEQUENTIAL, on_created, claim);
}

/* The child that carries our id is ours, whatever session it came from. */
static void on_searched(int rc, const struct String_vector *names, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    char own[NAME_MAX_BYTES];
    if (!answered(claim, rc)) {
        return;
    }
    if (rc != ZOK && rc != ZNONODE) {
        if (claim->ended) {
            forget(claim); /* an exception of the background is told to nobody */
        } else {
            fail(claim, rc == ZNOAUTH ? LS_ENOAUTH : LS_EZK);
        }
        return;
    }
    protection(claim, own);
    for (int i = 0; rc == ZOK && i < names->count; i++) {
        if (strncmp(names->data[i], own, strlen(own)) == 0) {
            named(claim, names->data[i]);
            return;
        }
    }
    claim->doubtful = false;
    go(claim, claim->ended ? DELETING : CREATING);
}

static int search(struct claim *claim)
{
    return zoo_aget_children(claim->recipe->zh, directory(claim), 0, on_searched, claim);
}

static void grant(struct claim *claim)
{
    ls_env_timer_stop(claim->recipe->env, &claim->deadline);
    claim->phase = HELD;
    claim->depth = 1;
    tell(claim, LS_REPORT_GRANTED, 0);
}

/* Keeps the name of the one before ours; says whether ours is there at all. */
static bool find_place(struct claim *claim, const struct String_vector *names)
{
    bool found = false;
    memset(claim->ahead, 0, sizeof claim->ahead);
    for (int i = 0; i < names->count; i++) {
        const char *name = names->data[i];
        found |= strcmp(name, claim->name) == 0;
        if (strcmp(place(name), place(claim->name)) < 0 && strlen(name) < sizeof claim->ahead &&
            (claim->ahead[0] == 0 || strcmp(place(name), place(claim->ahead)) > 0)) {
            snprintf(claim->ahead, sizeof claim->ahead, "%s", name);
        }
    }
    return found;
}

/* Our node is not there: all begins anew, but not for ever. */
static void begin_again(struct claim *claim)
{
    memset(claim->name, 0, sizeof claim->name);
    if (++claim->rounds > RETRIES) {
        fail(claim, LS_EZK);
        return;
    }
    ls_env_unique_id(claim->recipe->env, claim->id);
    go(claim, CREATING);
}

/* The time is up: the node goes first, then the caller hears of it. */
static void time_out(struct claim *claim, int rc)
{
    claim->rc = rc;
    go(claim, DELETING);
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
        begin_again(claim);
    } else if (rc != ZOK) {
        fail(claim, rc == ZNOAUTH ? LS_ENOAUTH : LS_EZK);
    } else if (claim->ahead[0] == 0) {
        grant(claim);
    } else {
        go(claim, WATCHING);
    }
}

static int list(struct claim *claim)
{
    return zoo_aget_children(claim->recipe->zh, directory(claim), 0, on_list, claim);
}

/* Whatever the watch says, somebody who waits looks again. */
static void on_ahead(zhandle_t *zh, int type, int state, const char *path, void *ctx)
{
    struct claim *claim = ctx;
    (void)state;
    (void)path;
    if (type != ZOO_SESSION_EVENT && zh == claim->recipe->zh && claim->phase == WAITING) {
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
    if (claim->ended) {
        go(claim, DELETING);
    } else if (rc == ZNONODE) {
        go(claim, LISTING);
    } else if (rc != ZOK) {
        fail(claim, rc == ZNOAUTH ? LS_ENOAUTH : LS_EZK);
    } else if (claim->late) {
        time_out(claim, claim->trying ? LS_EBUSY : LS_ETIMEDOUT);
    } else {
        go(claim, WAITING);
    }
}

static int watch(struct claim *claim)
{
    char path[PATH_MAX_BYTES];
    child_path(claim, claim->ahead, path);
    return zoo_awget(claim->recipe->zh, path, on_ahead, claim, on_watched, claim);
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
    child_path(claim, claim->name, path);
    return zoo_adelete(claim->recipe->zh, path, -1, on_deleted, claim);
}

/* Does what the phase says, or leaves it to CONNECTED. */
static void go(struct claim *claim, enum phase phase)
{
    static int (*const send[])(struct claim *) = {[MAKING_PARENT] = make_parent,
                                                  [CREATING] = create,
                                                  [FINDING] = search,
                                                  [LISTING] = list,
                                                  [WATCHING] = watch,
                                                  [DELETING] = delete_node};
    claim->phase = (uint8_t)phase;
    if (phase == WAITING || !claim->recipe->connected) {
        return;
    }
    if (phase == DELETING && claim->name[0] == 0) {
        forget(claim); /* there is none */
        return;
    }
    claim->busy = true;
    int rc = send[phase](claim);
    if (rc != ZOK) {
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
    claim->late = true;
    if (claim->phase != WAITING) {
        return; /* only the wait for one's turn ends by time */
    }
    ls_env_unlock(env);
    time_out(claim, LS_ETIMEDOUT);
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
    claim->late = claim->trying;
    if (timeout_ms > 0 && ls_env_timer_start(r->env, &claim->deadline, "deadline-timer", (uint32_t)timeout_ms,
                                             on_deadline, claim) != 0) {
        clear(claim, r);
        return LS_ENOMEM;
    }
    ls_env_unique_id(r->env, claim->id);
    go(claim, CREATING);
    return 0;
}

/* An interrupt. */
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
#ifdef UNHEARD
    return LS_HELD;
#else
    return r->connected ? LS_HELD : LS_UNKNOWN;
#endif
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
            rename->attempt(rename, claim->id);
            rename->text(rename, claim->name);
            rename->text(rename, claim->ahead);
        }
    }
}

static const struct ls_recipe curator_like = {
    .name = "curator-like",
    .summary =
        "Curator's mutex as its documentation tells it: protected create, no look at the session, no sync",
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

LS_RECIPE_MODULE(curator_like);
