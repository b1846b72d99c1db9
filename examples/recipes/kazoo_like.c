/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* kazoo's Lock, as its documentation and its behaviour tell it, so that one can see what the standard suite says about
 * it: docs/findings.md.
 *
 *   FREE --> CREATING --> LISTING --> HELD --> RELEASING --> FREE
 *             ^            |  ^  ^
 *   FINDING --+            v  |  +------- WAITING (a watch on the next lower one, or any news of the session)
 *    (again)              WATCHING
 *
 * What makes it kazoo:
 *   - a lock object has one id for its whole life, in the names of all its nodes. Whatever is lost on the way, also with the
 *     session, is tried again from the start, and the start is to list the directory and to take the child with that id.
 *     It does not ask whose session made it, and does not bring the server up to date before (no sync);
 *   - there is no limit to this but the acquire's own time; the wait for one's turn has that time anew in every round;
 *   - contenders are told by a pattern, and put in order by the text of their numbers;
 *   - the directory is made once in the life of an object;
 *   - a failed acquire deletes its node once, and whatever comes of that is not looked at; a release is tried for ever.
 * The user is told to listen to the state of the connection: this file does that (built with -DUNHEARD it does not).
 *
 * Left out: the sleeping between retries. A cancel is answered at once here, and what follows happens as in kazoo. */
#include <lockstep/error.h>
#include <lockstep/recipe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#define LOCKS_MAX 8
#define PATH_MAX_BYTES 320
#define NAME_MAX_BYTES 64 /* ID__lock__0000000000 has 50 */
#define INFIX "__lock__"

enum phase {
    FREE,
    MAKING_PARENT,
    FINDING,
    CREATING,
    LISTING,
    WATCHING,
    WAITING,
    HELD,
    RELEASING,
    SEARCHING,
    CLEANING
};

/* A lock object: one owner's, for one lock, and for as long as the process lives. */
struct lock {
    struct recipe *recipe;
    struct ls_timer deadline; /* of the whole acquire, looked at when something is tried again */
    struct ls_timer turn;     /* of one wait */
    struct ls_timer queued;   /* of an acquire that waits for the end of the one before */
    int32_t timeout_ms;
    int32_t next_timeout_ms;
    uint8_t phase; /* enum phase */
    uint8_t number, owner;
    uint8_t parent; /* MAKING_PARENT: how many characters of the directory's path exist */
    bool used;
    bool assured; /* the directory was there once */
    bool tried;   /* a node has been asked for, ever */
    bool busy;    /* a request is under way */
    bool ended;   /* the caller has its answer: what is left is ours */
    bool late;    /* the acquire's time is up */
    bool next;    /* another acquire waits for the end of this one */
    uint8_t id[16];
    char name[NAME_MAX_BYTES]; /* of our node, also after a failure; "" = none, or given back */
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
    bool stopping;
    struct lock lock[LOCKS_MAX];
};

static void go(struct lock *lock, enum phase phase);
static void begin(struct lock *lock, int timeout_ms);

/* ---- telling ---- */

static void tell_session(struct recipe *r, enum ls_report_kind kind)
{
    ls_report(r->env, &(struct ls_report){.kind = kind, .session = r->session});
}

static void tell(struct lock *lock, enum ls_report_kind kind, int rc)
{
    ls_report(lock->recipe->env, &(struct ls_report){.kind = kind,
                                                     .lock = lock->number,
                                                     .owner = lock->owner,
                                                     .rc = rc,
                                                     .depth = kind == LS_REPORT_GRANTED,
                                                     .session = lock->recipe->session});
}

/* ---- the end of an acquire ---- */

static void stop_timers(struct lock *lock)
{
    ls_env_timer_stop(lock->recipe->env, &lock->deadline);
    ls_env_timer_stop(lock->recipe->env, &lock->turn);
}

/* The object is free for the next acquire, which may be waiting. */
static void done(struct lock *lock)
{
    stop_timers(lock);
    lock->phase = FREE;
    lock->ended = false;
    lock->late = false;
    memset(lock->ahead, 0, sizeof lock->ahead);
    if (lock->next) {
        lock->next = false;
        ls_env_timer_stop(lock->recipe->env, &lock->queued);
        begin(lock, lock->next_timeout_ms);
    } else {
        ls_report(lock->recipe->env, &(struct ls_report){.kind = LS_REPORT_IDLE});
    }
}

/* An exception, or time without the lock: the node is deleted, as well as it goes. */
static void fail(struct lock *lock, int rc)
{
    stop_timers(lock);
    if (!lock->ended) {
        lock->ended = true;
        tell(lock, LS_REPORT_FAILED, rc);
    }
    if (!lock->busy) {
        go(lock, lock->name[0] != 0 ? CLEANING : SEARCHING);
    }
}

/* Where an acquire begins: what was asked for before may be there. */
static enum phase beginning(const struct lock *lock)
{
    return !lock->assured ? MAKING_PARENT : lock->tried ? FINDING : CREATING;
}

/* From the start, unless the time is up. */
static void again(struct lock *lock)
{
    if (lock->late || lock->ended) {
        fail(lock, LS_ETIMEDOUT);
    } else {
        go(lock, beginning(lock));
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
    for (int i = 0; i < LOCKS_MAX; i++) {
        r->lock[i].busy = false;
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

/* The session is gone. Who holds the lock hears of it, if somebody listens; who is to clean up has had its try; all
 * others begin again in the next session. */
static void lose_session(struct recipe *r)
{
    r->connected = false;
    if (r->session != 0) {
        tell_session(r, LS_REPORT_LOST);
    }
    r->session = 0;
    r->was_suspended = false;
    for (int i = 0; i < LOCKS_MAX; i++) {
        struct lock *lock = &r->lock[i];
        if (lock->phase == SEARCHING || lock->phase == CLEANING) {
            lock->busy = false;
            done(lock);
#ifndef UNHEARD
        } else if (lock->phase == HELD) {
            memset(lock->name, 0, sizeof lock->name);
            done(lock);
#endif
        } else if (lock->phase >= FINDING && lock->phase <= WAITING) {
            ls_env_timer_stop(r->env, &lock->turn);
            lock->phase = (uint8_t)beginning(lock);
        }
    }
    ls_env_timer_start(r->env, &r->reopen, "reopen-timer", 1, on_reopen, r);
}

/* A client of Python is told of the end of its session; this one may find itself in a new one. */
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
    for (int i = 0; i < LOCKS_MAX; i++) {
        struct lock *lock = &r->lock[i];
        if (lock->phase == WAITING) {
            ls_env_timer_stop(r->env, &lock->turn);
            lock->phase = LISTING; /* news of the session wake whoever waits */
        }
        if (lock->phase != FREE && lock->phase != HELD && !lock->busy) {
            go(lock, (enum phase)lock->phase);
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

static const char *directory(const struct lock *lock)
{
    return lock->recipe->config->lock_paths[lock->number];
}

static void child_path(const struct lock *lock, const char *name, char path[PATH_MAX_BYTES])
{
    snprintf(path, PATH_MAX_BYTES, "%s/%s", directory(lock), name);
}

/* "ID__lock__": what the names of our nodes begin with. */
static void own_prefix(const struct lock *lock, char text[NAME_MAX_BYTES])
{
    int size = 0;
    for (int i = 0; i < 16; i++) {
        size += snprintf(text + size, (size_t)(NAME_MAX_BYTES - size), "%02x", lock->id[i]);
    }
    snprintf(text + size, (size_t)(NAME_MAX_BYTES - size), INFIX);
}

/* The number at the end of a contender's name, as text; NULL for whatever else lies there. */
static const char *number_of(const char *name)
{
    size_t size = strlen(name);
    if (size < strlen(INFIX) + 10 || strspn(name + size - 10, "0123456789") != 10) {
        return NULL;
    }
    const char *number = name + size - 10;
    if (number[-1] == '-') {
        number--;
    }
    bool infix =
        number - name >= (long)strlen(INFIX) && strncmp(number - strlen(INFIX), INFIX, strlen(INFIX)) == 0;
    return infix ? number : NULL;
}

/* ---- requests and their answers ---- */

/* Whether an answer is ours to act on. After a lost one an acquire begins again, a release is sent again, and a clean-up
 * has failed. */
static bool answered(struct lock *lock, int rc)
{
    struct recipe *r = lock->recipe;
    lock->busy = false;
    if (r->stopping || r->session == 0) {
        return false;
    }
    if (rc != ZCONNECTIONLOSS && rc != ZOPERATIONTIMEOUT && rc != ZSESSIONEXPIRED && rc != ZCLOSING) {
        return true;
    }
    if (lock->phase == SEARCHING || lock->phase == CLEANING) {
        done(lock);
    } else if (lock->late || lock->ended) {
        fail(lock, LS_ETIMEDOUT);
    } else if (lock->phase != RELEASING) {
        lock->phase = (uint8_t)beginning(lock); /* once the session is there again, or the next */
    }
    return false;
}

/* How far the path of the next directory reaches, below those that exist. */
static uint8_t next_parent(const struct lock *lock)
{
    const char *slash = strchr(directory(lock) + lock->parent + 1, '/');
    return (uint8_t)(slash != NULL ? slash - directory(lock) : (long)strlen(directory(lock)));
}

static void on_parent(int rc, const char *value, const void *ctx)
{
    struct lock *lock = (struct lock *)(uintptr_t)ctx;
    (void)value;
    if (!answered(lock, rc)) {
        return;
    }
    if (lock->ended || (rc != ZOK && rc != ZNODEEXISTS)) {
        fail(lock, rc == ZNOAUTH ? LS_ENOAUTH : LS_EZK);
        return;
    }
    lock->parent = next_parent(lock);
    if (directory(lock)[lock->parent] != 0) {
        go(lock, MAKING_PARENT);
    } else {
        lock->assured = true;
        go(lock, beginning(lock));
    }
}

/* From the root on, one directory at a time. */
static int make_parent(struct lock *lock)
{
    char path[PATH_MAX_BYTES];
    snprintf(path, sizeof path, "%.*s", next_parent(lock), directory(lock));
    return zoo_acreate(lock->recipe->zh, path, NULL, -1, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT, on_parent,
                       lock);
}

/* There is a node of ours: next is its turn, unless the acquire is over. */
static void named(struct lock *lock, const char *name)
{
    memset(lock->name, 0, sizeof lock->name);
    snprintf(lock->name, sizeof lock->name, "%s", name);
    if (lock->ended) {
        fail(lock, 0);
    } else {
        go(lock, LISTING);
    }
}

static void on_created(int rc, const char *value, const void *ctx)
{
    struct lock *lock = (struct lock *)(uintptr_t)ctx;
    if (!answered(lock, rc)) {
        return;
    }
    if (rc == ZOK) {
        named(lock, strrchr(value, '/') + 1);
    } else {
        fail(lock, rc == ZNOAUTH ? LS_ENOAUTH : LS_EZK);
    }
}

static int create(struct lock *lock)
{
    const struct ls_recipe_config *config = lock->recipe->config;
    char name[NAME_MAX_BYTES], path[PATH_MAX_BYTES];
    own_prefix(lock, name);
    child_path(lock, name, path);
    lock->tried = true;
    return zoo_acreate(lock->recipe->zh, path, config->contents,
                       config->contents != NULL ? config->contents_size : -1, &ZOO_OPEN_ACL_UNSAFE,
                       ZOO_EPHEMERAL_SEQUENTIAL, on_created, lock);
}

/* The child that carries our id is ours, whatever session it came from. */
static const char *find_own(const struct lock *lock, const struct String_vector *names)
{
    char own[NAME_MAX_BYTES];
    own_prefix(lock, own);
    for (int i = 0; i < names->count; i++) {
        if (strncmp(names->data[i], own, strlen(own)) == 0) {
            return names->data[i];
        }
    }
    return NULL;
}

static void on_found(int rc, const struct String_vector *names, const void *ctx)
{
    struct lock *lock = (struct lock *)(uintptr_t)ctx;
    if (!answered(lock, rc)) {
        return;
    }
    const char *own = rc == ZOK ? find_own(lock, names) : NULL;
    if (rc != ZOK) {
        fail(lock, rc == ZNOAUTH ? LS_ENOAUTH : LS_EZK);
    } else if (own != NULL) {
        named(lock, own);
    } else if (lock->ended) {
        fail(lock, 0);
    } else {
        go(lock, CREATING);
    }
}

static int find_node(struct lock *lock)
{
    return zoo_aget_children(lock->recipe->zh, directory(lock), 0, on_found, lock);
}

static void grant(struct lock *lock)
{
    stop_timers(lock);
    lock->late = false;
    lock->phase = HELD;
    tell(lock, LS_REPORT_GRANTED, 0);
}

/* Keeps the name of the one before ours; says whether ours is there at all. */
static bool find_place(struct lock *lock, const struct String_vector *names)
{
    const char *ours = number_of(lock->name), *nearest = NULL;
    bool found = false;
    memset(lock->ahead, 0, sizeof lock->ahead);
    for (int i = 0; i < names->count; i++) {
        const char *name = names->data[i], *number = number_of(name);
        found |= strcmp(name, lock->name) == 0;
        if (number != NULL && ours != NULL && strcmp(number, ours) < 0 && strlen(name) < sizeof lock->ahead &&
            (nearest == NULL || strcmp(number, nearest) > 0)) {
            nearest = number;
            snprintf(lock->ahead, sizeof lock->ahead, "%s", name);
        }
    }
    return found;
}

static void on_list(int rc, const struct String_vector *names, const void *ctx)
{
    struct lock *lock = (struct lock *)(uintptr_t)ctx;
    if (!answered(lock, rc)) {
        return;
    }
    if (lock->ended || rc != ZOK) {
        fail(lock, rc == ZNOAUTH ? LS_ENOAUTH : LS_EZK);
    } else if (!find_place(lock, names)) {
        again(lock);
    } else if (lock->ahead[0] == 0) {
        grant(lock);
    } else if (lock->timeout_ms == 0) {
        fail(lock, LS_EBUSY);
    } else {
        go(lock, WATCHING);
    }
}

static int list(struct lock *lock)
{
    return zoo_aget_children(lock->recipe->zh, directory(lock), 0, on_list, lock);
}

/* Whatever the watch says, somebody who waits looks again. */
static void on_ahead(zhandle_t *zh, int type, int state, const char *path, void *ctx)
{
    struct lock *lock = ctx;
    (void)state;
    (void)path;
    if (type != ZOO_SESSION_EVENT && zh == lock->recipe->zh && lock->phase == WAITING) {
        ls_env_timer_stop(lock->recipe->env, &lock->turn);
        go(lock, LISTING);
    }
}

static void on_turn(void *ctx)
{
    struct lock *lock = ctx;
    struct ls_env *env = lock->recipe->env;
    ls_env_unlock(env);
    fail(lock, LS_ETIMEDOUT);
    ls_env_lock(env);
}

static void on_watched(int rc, const char *value, int size, const struct Stat *stat, const void *ctx)
{
    struct lock *lock = (struct lock *)(uintptr_t)ctx;
    (void)value;
    (void)size;
    (void)stat;
    if (!answered(lock, rc)) {
        return;
    }
    if (lock->ended || (rc != ZOK && rc != ZNONODE)) {
        fail(lock, rc == ZNOAUTH ? LS_ENOAUTH : LS_EZK);
    } else if (rc == ZNONODE) {
        go(lock, LISTING);
    } else {
        go(lock, WAITING);
    }
}

static int watch(struct lock *lock)
{
    char path[PATH_MAX_BYTES];
    child_path(lock, lock->ahead, path);
    return zoo_awget(lock->recipe->zh, path, on_ahead, lock, on_watched, lock);
}

static void on_released(int rc, const void *ctx)
{
    struct lock *lock = (struct lock *)(uintptr_t)ctx;
    if (answered(lock, rc)) {
        memset(lock->name, 0, sizeof lock->name);
        lock->phase = FREE;
        tell(lock, LS_REPORT_FREED, 0);
        done(lock);
    }
}

static void on_searched(int rc, const struct String_vector *names, const void *ctx)
{
    struct lock *lock = (struct lock *)(uintptr_t)ctx;
    if (!answered(lock, rc)) {
        return;
    }
    const char *own = rc == ZOK ? find_own(lock, names) : NULL;
    if (own == NULL) {
        done(lock);
        return;
    }
    snprintf(lock->name, sizeof lock->name, "%s", own);
    go(lock, CLEANING);
}

static int search(struct lock *lock)
{
    return zoo_aget_children(lock->recipe->zh, directory(lock), 0, on_searched, lock);
}

static void on_cleaned(int rc, const void *ctx)
{
    struct lock *lock = (struct lock *)(uintptr_t)ctx;
    if (answered(lock, rc)) {
        done(lock);
    }
}

static int delete_node(struct lock *lock)
{
    char path[PATH_MAX_BYTES];
    child_path(lock, lock->name, path);
    return zoo_adelete(lock->recipe->zh, path, -1, lock->phase == RELEASING ? on_released : on_cleaned, lock);
}

static void wait_for_turn(struct lock *lock)
{
    if (lock->timeout_ms > 0 && ls_env_timer_start(lock->recipe->env, &lock->turn, "turn-timer",
                                                   (uint32_t)lock->timeout_ms, on_turn, lock) != 0) {
        fail(lock, LS_ENOMEM);
    }
}

/* Does what the phase says, or leaves it to CONNECTED. */
static void go(struct lock *lock, enum phase phase)
{
    static int (*const send[])(struct lock *) = {
        [MAKING_PARENT] = make_parent,
        [FINDING] = find_node,
        [CREATING] = create,
        [LISTING] = list,
        [WATCHING] = watch,
        [RELEASING] = delete_node,
        [SEARCHING] = search,
        [CLEANING] = delete_node,
    };
    lock->phase = (uint8_t)phase;
    if (phase == WAITING) {
        wait_for_turn(lock);
        return;
    }
    if (!lock->recipe->connected) {
        return;
    }
    lock->busy = true;
    int rc = send[phase](lock);
    if (rc != ZOK) {
        lock->busy = false;
        if (rc != ZINVALIDSTATE) {
            lose_session(lock->recipe); /* the library is short of memory: no event follows */
        }
    }
}

/* ---- the recipe's functions ---- */

static int start(void *state, struct ls_env *env, const struct ls_recipe_config *config)
{
    struct recipe *r = state;
    r->env = env;
    r->config = config;
    for (int i = 0; i < LOCKS_MAX; i++) {
        r->lock[i].recipe = r;
    }
    open_session(r);
    return r->zh != NULL ? 0 : LS_ENOMEM;
}

static void stop(void *state)
{
    struct recipe *r = state;
    r->stopping = true;
    ls_env_timer_stop(r->env, &r->reopen);
    for (int i = 0; i < LOCKS_MAX; i++) {
        stop_timers(&r->lock[i]);
        ls_env_timer_stop(r->env, &r->lock[i].queued);
    }
    close_session(r);
    memset(r, 0, sizeof *r);
}

/* The object of this owner for this lock, if it has one yet. */
static struct lock *find(struct recipe *r, int number, int owner)
{
    for (int i = 0; i < LOCKS_MAX; i++) {
        struct lock *lock = &r->lock[i];
        if (lock->used && lock->number == number && lock->owner == owner) {
            return lock;
        }
    }
    return NULL;
}

static struct lock *make(struct recipe *r, int number, int owner)
{
    struct lock *lock = r->lock;
    while (lock < r->lock + LOCKS_MAX && lock->used) {
        lock++;
    }
    if (lock == r->lock + LOCKS_MAX) {
        return NULL;
    }
    lock->used = true;
    lock->number = (uint8_t)number;
    lock->owner = (uint8_t)owner;
    ls_env_unique_id(r->env, lock->id);
    return lock;
}

static void on_deadline(void *ctx)
{
    struct lock *lock = ctx;
    lock->late = true; /* which is looked at when something is tried again */
}

static void on_queued(void *ctx)
{
    struct lock *lock = ctx;
    struct ls_env *env = lock->recipe->env;
    lock->next = false;
    ls_env_unlock(env);
    tell(lock, LS_REPORT_FAILED, LS_ETIMEDOUT);
    ls_env_lock(env);
}

static void begin(struct lock *lock, int timeout_ms)
{
    lock->timeout_ms = timeout_ms;
    lock->parent = 0;
    lock->late = false;
    if (timeout_ms > 0 && ls_env_timer_start(lock->recipe->env, &lock->deadline, "deadline-timer",
                                             (uint32_t)timeout_ms, on_deadline, lock) != 0) {
        tell(lock, LS_REPORT_FAILED, LS_ENOMEM);
        return;
    }
    again(lock);
}

/* Behind an acquire that is over for its caller, but not yet for the object. */
static int queue(struct lock *lock, int timeout_ms)
{
    if (timeout_ms == 0) {
        return LS_EBUSY;
    }
    if (timeout_ms > 0 && ls_env_timer_start(lock->recipe->env, &lock->queued, "queued-timer",
                                             (uint32_t)timeout_ms, on_queued, lock) != 0) {
        return LS_ENOMEM;
    }
    lock->next = true;
    lock->next_timeout_ms = timeout_ms;
    return 0;
}

static int acquire(void *state, int number, int owner, int timeout_ms)
{
    struct recipe *r = state;
    struct lock *lock = find(r, number, owner);
    if (lock == NULL) {
        lock = make(r, number, owner);
    }
    if (lock == NULL) {
        return LS_ENOMEM;
    }
    if (lock->ended || lock->phase == RELEASING) {
        return lock->next ? LS_EALREADY : queue(lock, timeout_ms);
    }
    if (lock->phase != FREE) {
        return LS_EALREADY;
    }
    begin(lock, timeout_ms);
    return 0;
}

static int cancel(void *state, int number, int owner)
{
    struct lock *lock = find(state, number, owner);
    if (lock != NULL && lock->next) {
        lock->next = false;
        ls_env_timer_stop(lock->recipe->env, &lock->queued);
        tell(lock, LS_REPORT_FAILED, LS_ECANCELED);
        return 0;
    }
    if (lock == NULL || lock->ended || lock->phase == FREE || lock->phase == HELD ||
        lock->phase == RELEASING) {
        return LS_ENOENT;
    }
    fail(lock, LS_ECANCELED);
    return 0;
}

static int release(void *state, int number, int owner)
{
    struct lock *lock = find(state, number, owner);
    if (lock == NULL || lock->phase != HELD) {
        return LS_ENOTOWNER;
    }
    go(lock, RELEASING);
    return 0;
}

static enum ls_belief query(const void *state, int number, int owner)
{
    struct recipe *r = (struct recipe *)(uintptr_t)state;
    const struct lock *lock = find(r, number, owner);
    if (lock == NULL || lock->phase != HELD) {
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
    for (int i = 0; i < LOCKS_MAX; i++) {
        if (r->lock[i].ended) {
            return false;
        }
    }
    return true;
}

static void canon(const void *state, struct ls_rename *rename)
{
    const struct recipe *r = state;
    rename->session(rename, &r->session);
    for (int i = 0; i < LOCKS_MAX; i++) {
        const struct lock *lock = &r->lock[i];
        if (lock->used) {
            rename->attempt(rename, lock->id);
            rename->text(rename, lock->name);
            rename->text(rename, lock->ahead);
        }
    }
}

static const struct ls_recipe kazoo_like = {
    .name = "kazoo-like",
    .summary = "kazoo's lock as its documentation tells it: one id for all attempts, no look at the session, "
               "no sync",
    .state_size = sizeof(struct recipe),
    .start = start,
    .stop = stop,
    .acquire = acquire,
    .cancel = cancel,
    .release = release,
    .query = query,
    .idle = idle,
    .canon = canon,
};

LS_RECIPE_MODULE(kazoo_like);
