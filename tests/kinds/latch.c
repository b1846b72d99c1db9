/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A leader latch of one handle: a small election beside the library's own, in which the canaries
 * e01 to e07 plant published mistakes.
 *
 * Each candidacy has an ephemeral sequential node below the path of its election: _c_UUID-latch-N. The
 * candidate with the lowest number leads. Each other one watches the node of the next lower number.
 *
 *   FREE --> CREATING <--> MAKING_PARENT
 *     ^        |   ^
 *     |        v   | (the node is gone)
 *     |      LISTING --> LEADING
 *     |        |   ^
 *     |        v   |
 *     |     WATCHING --> WAITING
 *     |
 *     '-- DELETING <-- UNWATCHING     after release(), cancel(), close() and a failure
 *
 * - If the session ends, a leader or candidate goes back to CREATING with another id.
 * - If the answer to a create is lost, the latch gives its session up.
 * - A hold is certain for half the session timeout after its node was asked for, and unknown then.
 * - A process stands once in each election, and waits without a deadline.
 * - A leader does not watch its own node: if the operator deletes it, the leader does not hear of it.
 *
 * -D plants a mistake:
 *   RESETS_FOR_EVER       after a reconnect, and when the node ahead is gone, it creates another node
 *   LEADS_ON_A_DEAD_NODE  it keeps id and number, and takes the node of the former session for its own
 *   RESETS_LATE           after a reconnect it deletes its node, but later: it may lead by then
 *   RESETS_TWICE          it does so at once, and again later: it may lead with another node by then
 *   HEARS_RECONNECTED     it tells of another session as of the same, and leads on
 *   HEARS_LOST_LATE       it tells of the next session before the end of the last one
 *   SUCCEEDS_UNSEEN       it keeps its number when its node is gone, and does not look for the node
 * A canary (tests/canary) that includes this file defines one of these and STORY. */
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
#ifndef RESETS_LATE
#define RESETS_LATE 0
#endif
#ifndef RESETS_TWICE
#define RESETS_TWICE 0
#endif
#ifndef HEARS_RECONNECTED
#define HEARS_RECONNECTED 0
#endif
#ifndef HEARS_LOST_LATE
#define HEARS_LOST_LATE 0
#endif
#ifndef SUCCEEDS_UNSEEN
#define SUCCEEDS_UNSEEN 0
#endif

enum { PATH_SIZE = 320, NAME_SIZE = 64, ID_SIZE = 36, LOCKS_MAX = 4, NO_NUMBER = -1 };

enum phase { FREE, MAKING_PARENT, CREATING, LISTING, WATCHING, WAITING, LEADING, UNWATCHING, DELETING };

/* A process's way to one election and back. */
struct claim {
    struct recipe *recipe;
    struct ls_timer reset; /* RESETS_LATE and RESETS_TWICE */
    struct ls_stamp sent;  /* when the node was asked for */
    int64_t czxid;         /* of the node */
    int32_t number;        /* behind the name of the node */
    uint8_t lock;
    uint8_t phase;         /* enum phase */
    uint8_t flights;       /* requests under way */
    uint8_t parent;        /* MAKING_PARENT: how many characters of the directory's path exist */
    bool ended;            /* the caller has its answer: clean-up is left */
    bool freeing;          /* ended by release(): FREED is owed */
    bool again;            /* ended, and asked for anew meanwhile */
    bool watching;         /* a watch stands, or may stand, on `ahead` */
    uint8_t id[16];        /* in the name of the node */
    char ahead[NAME_SIZE]; /* name of the node that is watched */
};

struct recipe {
    struct ls_env *env;
    const struct ls_recipe_config *config;
    zhandle_t *zh;
    struct ls_timer reopen;
    int64_t session;    /* 0 = none */
    int32_t timeout_ms; /* of the session */
    bool connected, suspended, closing;
    bool late; /* HEARS_LOST_LATE: LOST is owed */
    struct claim claim[LOCKS_MAX];
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
                                                      .rc = rc,
                                                      .token = claim->czxid,
                                                      .depth = kind == LS_REPORT_GRANTED,
                                                      .session = claim->recipe->session});
}

/* ---- timers ---- */

static void start_timer(struct recipe *r, struct ls_timer *timer, const char *name, uint32_t delay_ms,
                        ls_timer_fn fn, void *ctx)
{
    ls_env_lock(r->env);
    ls_env_timer_start(r->env, timer, name, delay_ms, fn, ctx);
    ls_env_unlock(r->env);
}

static void stop_timer(struct recipe *r, struct ls_timer *timer)
{
    ls_env_lock(r->env);
    ls_env_timer_stop(r->env, timer);
    ls_env_unlock(r->env);
}

/* ---- names ---- */

static const char *directory(const struct claim *claim)
{
    return claim->recipe->config->lock_paths[claim->lock];
}

static void write_id(const struct claim *claim, char text[ID_SIZE + 1])
{
    for (int i = 0, at = 0; i < 16; i++) {
        bool dash = i == 4 || i == 6 || i == 8 || i == 10;
        at += snprintf(text + at, (size_t)(ID_SIZE + 1 - at), "%s%02x", dash ? "-" : "", claim->id[i]);
    }
}

/* The path of the node; without a number that for its create. */
static void write_path(const struct claim *claim, char path[PATH_SIZE])
{
    char id[ID_SIZE + 1], number[12] = "";
    write_id(claim, id);
    if (claim->number != NO_NUMBER) {
        snprintf(number, sizeof number, "%010d", claim->number);
    }
    snprintf(path, PATH_SIZE, "%s/_c_%s-latch-%s", directory(claim), id, number);
}

static void write_ahead(const struct claim *claim, char path[PATH_SIZE])
{
    snprintf(path, PATH_SIZE, "%s/%s", directory(claim), claim->ahead);
}

/* The number behind a candidate's name; NO_NUMBER for any other name. */
static int32_t number_of(const char *name)
{
    const char *mark = strstr(name, "-latch-");
    return mark != NULL ? (int32_t)strtol(mark + strlen("-latch-"), NULL, 10) : NO_NUMBER;
}

/* ---- the end of a claim ---- */

static void begin(struct claim *claim)
{
    ls_env_unique_id(claim->recipe->env, claim->id);
    claim->number = NO_NUMBER;
    go(claim, CREATING);
}

static void clear(struct claim *claim, struct recipe *r, int lock)
{
    memset(claim, 0, sizeof *claim);
    claim->recipe = r;
    claim->lock = (uint8_t)lock;
    claim->number = NO_NUMBER;
}

static void finish(struct claim *claim)
{
    struct recipe *r = claim->recipe;
    bool freeing = claim->freeing, again = claim->again;
    if (freeing) {
        tell(claim, LS_REPORT_FREED, 0);
    }
    stop_timer(r, &claim->reset);
    clear(claim, r, claim->lock);
    if (again) {
        begin(claim);
    } else if (!freeing) {
        ls_report(r->env, &(struct ls_report){.kind = LS_REPORT_IDLE});
    }
}

/* Goes on with an ended claim when no request is under way: the watch goes first, then the node. */
static void clean_up(struct claim *claim)
{
    claim->ended = true;
    if (claim->flights > 0) {
        return;
    }
    if (claim->watching) {
        go(claim, UNWATCHING);
    } else if (claim->number != NO_NUMBER) {
        go(claim, DELETING);
    } else {
        finish(claim);
    }
}

static void fail(struct claim *claim, int rc)
{
    claim->ended = true;
    tell(claim, LS_REPORT_FAILED, rc);
    clean_up(claim);
}

/* ---- requests and their answers ---- */

static bool is_lost(int rc)
{
    return rc == ZCONNECTIONLOSS || rc == ZOPERATIONTIMEOUT || rc == ZSESSIONEXPIRED || rc == ZCLOSING;
}

static void lose_session(struct recipe *r);

/* Whether the answer decides what comes next. A lost one does not: CONNECTED goes on. */
static bool answered(struct claim *claim, int rc, enum phase phase)
{
    claim->flights--;
    if (claim->recipe->session == 0 || claim->recipe->closing || is_lost(rc)) {
        return false;
    }
    if (claim->ended && phase < UNWATCHING) {
        clean_up(claim);
        return false;
    }
    return claim->phase == phase;
}

static int error_of(int rc)
{
    return rc == ZNOAUTH ? LS_ENOAUTH : LS_EZK;
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
    if (!answered(claim, rc, MAKING_PARENT)) {
        return;
    }
    if (rc != ZOK && rc != ZNODEEXISTS) {
        fail(claim, error_of(rc));
        return;
    }
    claim->parent = next_parent(claim);
    go(claim, directory(claim)[claim->parent] == 0 ? CREATING : MAKING_PARENT);
}

/* From the root on, one directory at a time. */
static int make_parent(struct claim *claim)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%.*s", next_parent(claim), directory(claim));
    return zoo_acreate(claim->recipe->zh, path, NULL, -1, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT, on_parent,
                       claim);
}

static void on_dropped(int rc, const void *ctx)
{
    (void)rc;
    (void)ctx;
}

/* Deletes the node, and does not wait for the answer: a part of the mistakes. */
static void drop(struct claim *claim)
{
    char path[PATH_SIZE];
    write_path(claim, path);
    zoo_adelete(claim->recipe->zh, path, -1, on_dropped, claim);
}

static void reset(struct claim *claim)
{
    drop(claim);
    begin(claim);
}

static void on_created(int rc, const char *value, const struct Stat *stat, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    struct recipe *r = claim->recipe;
    if (is_lost(rc) && r->session != 0 && !r->closing) {
        claim->flights--;
        lose_session(r); /* there may be a node of ours */
        return;
    }
    if (rc == ZOK) {
        claim->number = number_of(value);
        claim->czxid = stat->czxid;
    }
    if (!answered(claim, rc, CREATING)) {
        return;
    }
    if (rc == ZNONODE) {
        claim->parent = 0;
        go(claim, MAKING_PARENT);
    } else if (rc != ZOK) {
        fail(claim, error_of(rc));
    } else {
        go(claim, LISTING);
    }
}

static int create(struct claim *claim)
{
    const struct ls_recipe_config *config = claim->recipe->config;
    char path[PATH_SIZE];
    claim->number = NO_NUMBER;
    write_path(claim, path);
    ls_env_stamp(claim->recipe->env, &claim->sent);
    return zoo_acreate2(claim->recipe->zh, path, config->contents,
                        config->contents != NULL ? config->contents_size : -1, &ZOO_OPEN_ACL_UNSAFE,
                        ZOO_EPHEMERAL_SEQUENTIAL, on_created, claim);
}

/* Keeps the name of the nearest candidate ahead, if any. Returns whether the list has the own node. */
static bool find_place(struct claim *claim, const struct String_vector *names)
{
    char id[ID_SIZE + 1];
    int32_t nearest = NO_NUMBER;
    bool found = SUCCEEDS_UNSEEN;
    write_id(claim, id);
    memset(claim->ahead, 0, sizeof claim->ahead);
    for (int i = 0; i < names->count; i++) {
        int32_t number = number_of(names->data[i]);
        found |= number == claim->number && strstr(names->data[i], id) != NULL;
        if (number < claim->number && number > nearest) {
            nearest = number;
            snprintf(claim->ahead, sizeof claim->ahead, "%s", names->data[i]);
        }
    }
    return found;
}

static void on_list(int rc, const struct String_vector *names, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    if (!answered(claim, rc, LISTING)) {
        return;
    }
    if (rc != ZOK && rc != ZNONODE) {
        fail(claim, error_of(rc));
    } else if (rc == ZNONODE || !find_place(claim, names)) {
        begin(claim); /* the operator has deleted it */
    } else if (claim->ahead[0] != 0) {
        go(claim, WATCHING);
    } else {
        claim->phase = LEADING;
        tell(claim, LS_REPORT_GRANTED, 0);
    }
}

/* A hint to look again, and no more. */
static void on_ahead(zhandle_t *zh, int type, int state, const char *path, void *ctx)
{
    struct claim *claim = ctx;
    const char *name = path != NULL ? strrchr(path, '/') : NULL;
    (void)state;
    if (zh != claim->recipe->zh || type == ZOO_SESSION_EVENT || !claim->watching || name == NULL ||
        strcmp(name + 1, claim->ahead) != 0) {
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
    claim->watching = claim->watching && (rc == ZOK || is_lost(rc)); /* else there is none, or it has fired */
    if (!answered(claim, rc, WATCHING)) {
        return;
    }
    if (rc != ZOK && rc != ZNONODE) {
        fail(claim, error_of(rc));
    } else if (claim->watching) {
        go(claim, WAITING);
    } else if (RESETS_FOR_EVER) {
        reset(claim);
    } else {
        go(claim, LISTING);
    }
}

static int watch(struct claim *claim)
{
    char path[PATH_SIZE];
    write_ahead(claim, path);
    claim->watching = true;
    return zoo_awget(claim->recipe->zh, path, on_ahead, claim, on_watched, claim);
}

static void on_unwatched(int rc, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    if (answered(claim, rc, UNWATCHING)) {
        claim->watching = false;
        clean_up(claim);
    }
}

static int unwatch(struct claim *claim)
{
    char path[PATH_SIZE];
    const union {
        void_completion_t function;
        void_completion_t *declared; /* zookeeper.h has one star too many */
    } completion = {.function = on_unwatched};
    write_ahead(claim, path);
    return zoo_aremove_watches(claim->recipe->zh, path, ZWATCHTYPE_DATA, on_ahead, claim, 0,
                               completion.declared, claim);
}

static void on_deleted(int rc, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    if (answered(claim, rc, DELETING)) {
        finish(claim);
    }
}

static int delete_node(struct claim *claim)
{
    char path[PATH_SIZE];
    write_path(claim, path);
    return zoo_adelete(claim->recipe->zh, path, -1, on_deleted, claim);
}

static int list(struct claim *claim)
{
    return zoo_aget_children(claim->recipe->zh, directory(claim), 0, on_list, claim);
}

/* Sends the request of the phase, or leaves it to CONNECTED. */
static void go(struct claim *claim, enum phase phase)
{
    static int (*const send[])(struct claim *) = {
        [MAKING_PARENT] = make_parent, [CREATING] = create,     [LISTING] = list, [WATCHING] = watch,
        [UNWATCHING] = unwatch,        [DELETING] = delete_node};
    claim->phase = (uint8_t)phase;
    if (send[phase] == NULL || !claim->recipe->connected) {
        return;
    }
    claim->flights++;
    int rc = send[phase](claim);
    if (rc == ZNOWATCHER) {
        on_unwatched(rc, claim); /* it has fired meanwhile: nothing was sent */
    } else if (rc != ZOK) {
        claim->flights--;
        if (rc != ZINVALIDSTATE) {
            lose_session(claim->recipe); /* the client is short of memory: no event follows */
        }
    }
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
    for (int i = 0; i < LOCKS_MAX; i++) {
        r->claim[i].flights = 0;
    }
}

static void on_reopen(void *ctx);

static void open_handle(struct recipe *r)
{
    zhandle_t *zh = zookeeper_init(r->config->hosts, on_event, r->config->session_timeout_ms, NULL, r, 0);
    r->zh = r->zh != NULL ? r->zh : zh; /* callbacks may have run already */
    if (r->zh == NULL) {
        start_timer(r, &r->reopen, "reopen-timer", 100, on_reopen, r);
    }
}

static void on_reopen(void *ctx)
{
    struct recipe *r = ctx;
    ls_env_unlock(r->env);
    close_handle(r);
    open_handle(r);
    ls_env_lock(r->env);
}

/* The node is gone with its session, now or soon. */
static void lose_node(struct claim *claim)
{
    stop_timer(claim->recipe, &claim->reset);
    claim->watching = false;
    if (claim->ended) {
        finish(claim);
    } else if (claim->number != NO_NUMBER &&
               (LEADS_ON_A_DEAD_NODE || (SUCCEEDS_UNSEEN && claim->phase != LEADING))) {
        go(claim, LISTING);
    } else if (claim->phase != FREE) {
        begin(claim);
    }
}

static void lose_nodes(struct recipe *r)
{
    r->session = 0;
    r->suspended = false;
    for (int i = 0; i < LOCKS_MAX; i++) {
        lose_node(&r->claim[i]);
    }
}

/* A timer closes the handle, since this may be one of its callbacks. */
static void lose_session(struct recipe *r)
{
    bool leads = r->claim[0].phase == LEADING;
    r->connected = false;
    if ((HEARS_RECONNECTED || HEARS_LOST_LATE) && leads && r->session != 0) {
        r->suspended = true;
        r->late = HEARS_LOST_LATE;
    } else {
        if (r->session != 0) {
            tell_session(r, LS_REPORT_LOST);
        }
        lose_nodes(r);
    }
    start_timer(r, &r->reopen, "reopen-timer", 1, on_reopen, r);
}

static void on_reset(void *ctx)
{
    struct claim *claim = ctx;
    struct ls_env *env = claim->recipe->env;
    ls_env_unlock(env);
    if (claim->phase == LEADING) {
        drop(claim);
    } else if (claim->phase == WAITING) {
        reset(claim);
    }
    ls_env_lock(env);
}

/* The same session has another connection. */
static void reconnect(struct claim *claim)
{
    bool waits = claim->phase == WAITING;
    if ((RESETS_LATE || RESETS_TWICE) && waits) {
        start_timer(claim->recipe, &claim->reset, "reset-timer", 1, on_reset, claim);
    }
    if (claim->ended) {
        clean_up(claim);
    } else if ((RESETS_FOR_EVER || RESETS_TWICE) && waits) {
        reset(claim);
    } else if (claim->flights == 0) {
        go(claim, (enum phase)claim->phase);
    }
}

static void hear_session(struct recipe *r, int64_t session)
{
    int64_t former = r->session;
    r->session = session;
    tell_session(r, former == 0 ? LS_REPORT_CONNECTED : LS_REPORT_RECONNECTED);
    if (r->late) {
        r->session = former;
        r->late = false;
        tell_session(r, LS_REPORT_LOST);
        lose_nodes(r);
        r->session = session;
    }
}

static void on_connected(struct recipe *r)
{
    int64_t session = zoo_client_id(r->zh)->client_id;
    if (r->session != 0 && r->session != session && !(HEARS_RECONNECTED || HEARS_LOST_LATE)) {
        lose_session(r); /* and no event has told of it */
        return;
    }
    if (r->session == 0 || r->suspended) {
        hear_session(r, session);
    }
    r->connected = true;
    r->suspended = false;
    r->timeout_ms = zoo_recv_timeout(r->zh);
    for (int i = 0; i < LOCKS_MAX; i++) {
        reconnect(&r->claim[i]);
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
        tell_session(r, LS_REPORT_SUSPENDED);
    } else if (state == ZOO_EXPIRED_SESSION_STATE || state == ZOO_AUTH_FAILED_STATE) {
        lose_session(r);
    }
}

/* ---- the recipe ---- */

static int start(void *state, struct ls_env *env, const struct ls_recipe_config *config)
{
    struct recipe *r = state;
    if (config->lock_count > LOCKS_MAX) {
        return LS_EUNSUPPORTED;
    }
    r->env = env;
    r->config = config;
    for (int i = 0; i < LOCKS_MAX; i++) {
        clear(&r->claim[i], r, i);
    }
    open_handle(r);
    return r->zh != NULL ? 0 : LS_ENOMEM;
}

static void stop(void *state)
{
    struct recipe *r = state;
    stop_timer(r, &r->reopen);
    for (int i = 0; i < LOCKS_MAX; i++) {
        stop_timer(r, &r->claim[i].reset);
    }
    close_handle(r);
}

static int acquire(void *state, int lock, int owner, int timeout_ms)
{
    struct claim *claim = &((struct recipe *)state)->claim[lock];
    if (owner != 0 || timeout_ms >= 0) {
        return LS_EUNSUPPORTED;
    }
    if (claim->again || (claim->phase != FREE && !claim->ended)) {
        return LS_EALREADY;
    }
    if (claim->ended) {
        claim->again = true;
    } else {
        begin(claim);
    }
    return 0;
}

/* Ends what waits with this code. Returns false if nothing does. */
static bool give_up(struct claim *claim, int rc)
{
    if (claim->again) {
        claim->again = false;
        tell(claim, LS_REPORT_FAILED, rc);
    } else if (!claim->ended && claim->phase != FREE && claim->phase != LEADING) {
        fail(claim, rc);
    } else {
        return false;
    }
    return true;
}

static int cancel(void *state, int lock, int owner)
{
    (void)owner;
    return give_up(&((struct recipe *)state)->claim[lock], LS_ECANCELED) ? 0 : LS_ENOENT;
}

static bool leads(const struct claim *claim)
{
    return claim->phase == LEADING && !claim->ended;
}

static int release(void *state, int lock, int owner)
{
    struct claim *claim = &((struct recipe *)state)->claim[lock];
    (void)owner;
    if (!leads(claim)) {
        return LS_ENOTOWNER;
    }
    claim->freeing = true;
    clean_up(claim);
    return 0;
}

static int close_lock(void *state, int lock)
{
    struct claim *claim = &((struct recipe *)state)->claim[lock];
    if (claim->freeing) {
        claim->freeing = false;
        tell(claim, LS_REPORT_FREED, 0);
    }
    if (!give_up(claim, LS_ECLOSED) && leads(claim)) {
        clean_up(claim);
    }
    return 0;
}

static int open_lock(void *state, int lock)
{
    (void)state;
    (void)lock;
    return 0;
}

static enum ls_belief query(const void *state, int lock, int owner)
{
    const struct recipe *r = state;
    const struct claim *claim = &r->claim[lock];
    if (owner != 0 || !leads(claim)) {
        return LS_NOT_HELD;
    }
    bool fresh = ls_env_elapsed_ms(r->env, &claim->sent) * 2 < r->timeout_ms;
    return r->connected && fresh ? LS_HELD : LS_UNKNOWN;
}

static bool idle(const void *state)
{
    const struct recipe *r = state;
    for (int i = 0; i < LOCKS_MAX; i++) {
        if (r->claim[i].ended) {
            return false;
        }
    }
    return true;
}

/* The node of a hold has a name of its own, so that its version does not matter. */
static int guard(const void *state, int lock, int owner, zoo_op_t *op, char *path, size_t size)
{
    const struct claim *claim = &((const struct recipe *)state)->claim[lock];
    char own[PATH_SIZE];
    if (owner != 0 || !leads(claim)) {
        return LS_ENOTOWNER;
    }
    write_path(claim, own);
    if (strlen(own) >= size) {
        return LS_EOVERFLOW;
    }
    memcpy(path, own, strlen(own) + 1);
    zoo_check_op_init(op, path, -1);
    return 0;
}

static zhandle_t *handle(const void *state)
{
    const struct recipe *r = state;
    return r->connected ? r->zh : NULL;
}

static void canon(const void *state, struct ls_rename *rename)
{
    const struct recipe *r = state;
    rename->session(rename, &r->session);
    for (int i = 0; i < LOCKS_MAX; i++) {
        const struct claim *claim = &r->claim[i];
        rename->zxid(rename, &claim->czxid);
        rename->sequence(rename, &claim->number);
        rename->attempt(rename, claim->id);
        rename->text(rename, claim->ahead);
    }
}

#ifndef STORY
#define STORY .name = "latch", .summary = "a small leader latch"
#endif

static const struct ls_recipe latch = {
    STORY,
    .kinds = LS_LOCK_BIT(LS_LOCK_ELECTION),
    .state_size = sizeof(struct recipe),
    .start = start,
    .stop = stop,
    .acquire = acquire,
    .cancel = cancel,
    .release = release,
    .close = close_lock,
    .open = open_lock,
    .query = query,
    .idle = idle,
    .guard = guard,
    .handle = handle,
    .canon = canon,
    .symmetric = true,
    .in_reports = true,
    .ignores_children = true,
    .sets_no_data = true,
};

LS_RECIPE_MODULE(latch);
