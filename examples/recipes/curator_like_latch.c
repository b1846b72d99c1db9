/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* LeaderLatch as Curator 5.4 has it, so that one can see what the situations of an election say about it:
 * docs/findings.md.
 *
 * A latch has a node of its own, or none. All else are requests in the background, each of which goes its
 * own way and does something at its end:
 *
 *   create  the node becomes the latch's own, and is listed. An own node of before is deleted
 *   list    own node missing --> reset; first --> leader; else: no leader, and a watch on the one before it
 *   watch   the node is gone already --> list. Later: the node is deleted --> list
 *
 * A reset takes the leadership back, deletes the own node, and creates another one.
 *
 * What makes it Curator:
 *   - when the connection is back, with the same session or another one, the latch lists, and does not
 *     wait for a create that is under way: without an own node it resets, and then two creates are under
 *     way;
 *   - the create is protected: after a lost answer it takes the child with its id for its own. Since
 *     CURATOR-498 it looks whether the session is still the same. It does not bring the server up to date
 *     before (no sync);
 *   - the list is believed: that the first node is the own one says nothing about whose session made it;
 *   - requests that were lost are sent again, also over the end of a session, RETRIES times; a node that
 *     is to be deleted is tried for ever ("guaranteed").
 * The latch listens to the state of the connection: it does not lead while it is suspended or lost.
 *
 * A latch knows no fencing token. For the judges this file tells the czxid of the node with which the
 * latch leads, if it has seen it.
 *
 * Left out: the sleeping between retries, and close() within a listener. In Curator a latch that was
 * closed is no more, and another one may stand while the first one is cleaned up; here the next one waits
 * for that. */
#include <lockstep/error.h>
#include <lockstep/recipe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#define LATCHES_MAX 4
#define REQUESTS_MAX 16
#define WATCHES_MAX 4
#define RETRIES 3
#define PATH_MAX_BYTES 320
#define NAME_MAX_BYTES 64 /* _c_UUID-latch-0000000000 has 57 */

enum kind { NONE, MAKING_PARENT, CREATING, FINDING, LISTING, WATCHING, UNWATCHING, DELETING };

/* A request in the background, with all its retries. */
struct request {
    struct latch *latch;
    int64_t session;           /* CREATING: in which it was first sent; 0 = not yet */
    uint8_t kind;              /* enum kind */
    uint8_t tries;             /* how often it was lost */
    uint8_t parent;            /* MAKING_PARENT: how many characters of the directory's path exist */
    bool busy;                 /* it is under way */
    uint8_t id[16];            /* CREATING: of the protection */
    char name[NAME_MAX_BYTES]; /* of the node that it is about; "" = none */
};

struct latch {
    struct recipe *recipe;
    uint8_t lock;
    bool started;  /* stands or leads */
    bool waits;    /* for a first connection, to be reset then */
    bool leader;   /* what hasLeadership() says */
    bool held;     /* a grant was told, and its end was not */
    bool closed;   /* clean-up is left */
    bool freeing;  /* FREED is owed */
    bool again;    /* asked for anew meanwhile */
    int64_t czxid; /* of the own node; 0 = not known */
    int64_t token; /* czxid of the node with which it leads */
    char own[NAME_MAX_BYTES];
    char watched[WATCHES_MAX][NAME_MAX_BYTES];
    struct request request[REQUESTS_MAX];
};

struct recipe {
    struct ls_env *env;
    const struct ls_recipe_config *config;
    zhandle_t *zh;
    struct ls_timer reopen;
    int64_t session; /* 0 = none */
    bool connected, was_suspended, was_connected;
    bool closing; /* inside zookeeper_close(), which runs callbacks */
    bool plain;   /* the server knows no containers */
    struct latch latch[LATCHES_MAX];
};

static void lose_session(struct recipe *r);
static void start_latch(struct latch *latch);

/* ---- telling ---- */

static void tell_session(struct recipe *r, enum ls_report_kind kind)
{
    ls_report(r->env, &(struct ls_report){.kind = kind, .session = r->session});
}

static void tell(struct latch *latch, enum ls_report_kind kind, int rc)
{
    ls_report(latch->recipe->env, &(struct ls_report){.kind = kind,
                                                      .lock = latch->lock,
                                                      .rc = rc,
                                                      .token = latch->token,
                                                      .depth = kind == LS_REPORT_GRANTED,
                                                      .session = latch->recipe->session});
}

/* ---- names ---- */

static const char *directory(const struct latch *latch)
{
    return latch->recipe->config->lock_paths[latch->lock];
}

static void child_path(const struct latch *latch, const char *name, char path[PATH_MAX_BYTES])
{
    snprintf(path, PATH_MAX_BYTES, "%s/%s", directory(latch), name);
}

/* "_c_UUID-": how the name of the node of a create begins. */
static void protection(const struct request *request, char text[NAME_MAX_BYTES])
{
    int size = snprintf(text, NAME_MAX_BYTES, "_c_");
    for (int i = 0; i < 16; i++) {
        bool dash = i == 3 || i == 5 || i == 7 || i == 9 || i == 15;
        size +=
            snprintf(text + size, (size_t)(NAME_MAX_BYTES - size), dash ? "%02x-" : "%02x", request->id[i]);
    }
}

/* What names are put in order by. */
static const char *place(const char *name)
{
    const char *last = NULL;
    for (const char *at = strstr(name, "latch-"); at != NULL; at = strstr(at + 1, "latch-")) {
        last = at;
    }
    return last != NULL ? last + strlen("latch-") : name;
}

/* ---- requests ---- */

static void send_request(struct request *request);

static struct request *add(struct latch *latch, enum kind kind, const char *name)
{
    struct request *request = latch->request;
    while (request < latch->request + REQUESTS_MAX && request->kind != NONE) {
        request++;
    }
    if (request == latch->request + REQUESTS_MAX) {
        abort(); /* no world comes so far: a latch has a few requests at once */
    }
    request->latch = latch;
    request->kind = (uint8_t)kind;
    snprintf(request->name, sizeof request->name, "%s", name);
    if (kind == CREATING) {
        ls_env_unique_id(latch->recipe->env, request->id);
    }
    send_request(request);
    return request;
}

static bool has_requests(const struct latch *latch)
{
    for (int i = 0; i < REQUESTS_MAX; i++) {
        if (latch->request[i].kind != NONE) {
            return true;
        }
    }
    return false;
}

/* A closed latch is gone when its last request is. */
static void look_for_the_end(struct latch *latch)
{
    struct recipe *r = latch->recipe;
    if (!latch->closed || has_requests(latch)) {
        return;
    }
    bool freeing = latch->freeing, again = latch->again;
    uint8_t lock = latch->lock;
    if (freeing) {
        tell(latch, LS_REPORT_FREED, 0);
    }
    memset(latch, 0, sizeof *latch);
    latch->recipe = r;
    latch->lock = lock;
    if (again) {
        start_latch(latch);
    } else if (!freeing) {
        ls_report(r->env, &(struct ls_report){.kind = LS_REPORT_IDLE});
    }
}

static void end(struct request *request)
{
    struct latch *latch = request->latch;
    memset(request, 0, sizeof *request);
    look_for_the_end(latch);
}

/* Goes on with the same request in another way. */
static void go(struct request *request, enum kind kind)
{
    request->kind = (uint8_t)kind;
    request->tries = 0;
    send_request(request);
}

static bool is_lost(int rc)
{
    return rc == ZCONNECTIONLOSS || rc == ZOPERATIONTIMEOUT || rc == ZSESSIONEXPIRED || rc == ZCLOSING;
}

/* Whether an answer is to be acted on. After a lost one CONNECTED sends again, until there were too many. */
static bool answered(struct request *request, int rc)
{
    struct recipe *r = request->latch->recipe;
    request->busy = false;
    if (r->closing || r->session == 0) {
        return false;
    }
    if (!is_lost(rc)) {
        return true;
    }
    bool create = request->kind == CREATING || request->kind == FINDING;
    request->kind = create ? FINDING : request->kind;
    if (++request->tries > RETRIES && request->kind != DELETING && request->kind != UNWATCHING) {
        end(request); /* an error in the log */
    }
    return false;
}

/* ---- the latch ---- */

static void lead(struct latch *latch)
{
    bool held = latch->held;
    latch->leader = latch->held = true;
    if (!held) {
        latch->token = latch->czxid;
        tell(latch, LS_REPORT_GRANTED, 0);
    }
}

static void lead_no_more(struct latch *latch)
{
    bool held = latch->held;
    latch->leader = latch->held = false;
    if (held) {
        tell(latch, LS_REPORT_HOLD_LOST, LS_ENOENT);
    }
    latch->token = 0;
}

/* The former own node is deleted in the background. */
static void set_own(struct latch *latch, const char *name, int64_t czxid)
{
    char former[NAME_MAX_BYTES];
    memcpy(former, latch->own, sizeof former);
    memset(latch->own, 0, sizeof latch->own);
    snprintf(latch->own, sizeof latch->own, "%s", name);
    latch->czxid = czxid;
    if (former[0] != 0 && strcmp(former, name) != 0) {
        add(latch, DELETING, former);
    }
}

static void reset(struct latch *latch)
{
    lead_no_more(latch);
    set_own(latch, "", 0);
    add(latch, CREATING, "");
}

static void list_children(struct latch *latch)
{
    add(latch, LISTING, "");
}

/* ---- create ---- */

/* How far the path of the next directory reaches, below those that exist. */
static uint8_t next_parent(const struct request *request)
{
    const char *path = directory(request->latch);
    const char *slash = strchr(path + request->parent + 1, '/');
    return (uint8_t)(slash != NULL ? slash - path : (long)strlen(path));
}

static void on_parent(int rc, const char *value, const void *ctx)
{
    struct request *request = (struct request *)(uintptr_t)ctx;
    (void)value;
    if (!answered(request, rc)) {
        return;
    }
    if (rc == ZUNIMPLEMENTED) {
        request->latch->recipe->plain = true;
        go(request, MAKING_PARENT);
    } else if (rc != ZOK && rc != ZNODEEXISTS) {
        end(request); /* an error in the log */
    } else {
        request->parent = next_parent(request);
        go(request, directory(request->latch)[request->parent] == 0 ? CREATING : MAKING_PARENT);
    }
}

/* From the root on, one directory at a time, as containers if the server has them. */
static int make_parent(struct request *request)
{
    char path[PATH_MAX_BYTES];
    snprintf(path, sizeof path, "%.*s", next_parent(request), directory(request->latch));
    return zoo_acreate(request->latch->recipe->zh, path, NULL, -1, &ZOO_OPEN_ACL_UNSAFE,
                       request->latch->recipe->plain ? ZOO_PERSISTENT : ZOO_CONTAINER, on_parent, request);
}

static void created(struct request *request, const char *name, int64_t czxid)
{
    struct latch *latch = request->latch;
    set_own(latch, name, czxid);
    if (latch->closed) {
        set_own(latch, "", 0);
    } else {
        list_children(latch);
    }
    end(request);
}

static void on_created(int rc, const char *value, const struct Stat *stat, const void *ctx)
{
    struct request *request = (struct request *)(uintptr_t)ctx;
    if (!answered(request, rc)) {
        return;
    }
    if (rc == ZOK) {
        created(request, strrchr(value, '/') + 1, stat->czxid);
    } else if (rc == ZNONODE) {
        request->parent = 0;
        go(request, MAKING_PARENT);
    } else {
        end(request); /* an error in the log */
    }
}

static int create(struct request *request)
{
    const struct ls_recipe_config *config = request->latch->recipe->config;
    char name[NAME_MAX_BYTES], path[PATH_MAX_BYTES];
    protection(request, name);
    snprintf(path, sizeof path, "%s/%slatch-", directory(request->latch), name);
    request->session = request->session == 0 ? request->latch->recipe->session : request->session;
    return zoo_acreate2(request->latch->recipe->zh, path, config->contents,
                        config->contents != NULL ? config->contents_size : -1, &ZOO_OPEN_ACL_UNSAFE,
                        ZOO_EPHEMERAL_SEQUENTIAL, on_created, request);
}

/* The child that carries the id is the one, unless there is another session since. */
static void on_found(int rc, const struct String_vector *names, const void *ctx)
{
    struct request *request = (struct request *)(uintptr_t)ctx;
    struct latch *latch = request->latch;
    char own[NAME_MAX_BYTES];
    if (!answered(request, rc)) {
        return;
    }
    if (rc != ZOK && rc != ZNONODE) {
        end(request);
        return;
    }
    bool former = request->session != latch->recipe->session;
    request->session = latch->recipe->session;
    protection(request, own);
    for (int i = 0; rc == ZOK && i < names->count; i++) {
        bool ours = strncmp(names->data[i], own, strlen(own)) == 0;
        if (ours && !former) {
            created(request, names->data[i], 0);
            return;
        }
        if (ours) {
            add(latch, DELETING, names->data[i]);
        }
    }
    go(request, CREATING);
}

static int find(struct request *request)
{
    return zoo_aget_children(request->latch->recipe->zh, directory(request->latch), 0, on_found, request);
}

/* ---- list and watch ---- */

static void check_leadership(struct latch *latch, const struct String_vector *names)
{
    char ahead[NAME_MAX_BYTES] = "";
    bool found = false;
    for (int i = 0; i < names->count; i++) {
        const char *name = names->data[i];
        found |= latch->own[0] != 0 && strcmp(name, latch->own) == 0;
        if (strcmp(place(name), place(latch->own)) < 0 && strlen(name) < sizeof ahead &&
            (ahead[0] == 0 || strcmp(place(name), place(ahead)) > 0)) {
            snprintf(ahead, sizeof ahead, "%s", name);
        }
    }
    if (!found) {
        reset(latch);
    } else if (ahead[0] == 0) {
        lead(latch);
    } else {
        lead_no_more(latch);
        add(latch, WATCHING, ahead);
    }
}

static void on_list(int rc, const struct String_vector *names, const void *ctx)
{
    struct request *request = (struct request *)(uintptr_t)ctx;
    struct latch *latch = request->latch;
    if (!answered(request, rc)) {
        return;
    }
    if (rc == ZOK && !latch->closed) {
        check_leadership(latch, names);
    }
    end(request);
}

static int list(struct request *request)
{
    return zoo_aget_children(request->latch->recipe->zh, directory(request->latch), 0, on_list, request);
}

/* Where the name of a watched node is kept; with "" a free place. NULL = none. */
static char *watched(struct latch *latch, const char *name)
{
    for (int i = 0; i < WATCHES_MAX; i++) {
        if (strcmp(latch->watched[i], name) == 0) {
            return latch->watched[i];
        }
    }
    return NULL;
}

static void forget_watch(struct latch *latch, const char *name)
{
    char *kept = watched(latch, name);
    if (kept != NULL) {
        memset(kept, 0, NAME_MAX_BYTES);
    }
}

static void on_ahead(zhandle_t *zh, int type, int state, const char *path, void *ctx)
{
    struct latch *latch = ctx;
    (void)state;
    if (zh != latch->recipe->zh || type != ZOO_DELETED_EVENT || path == NULL) {
        return;
    }
    forget_watch(latch, strrchr(path, '/') + 1);
    if (latch->started) {
        list_children(latch);
    }
}

static void on_watched(int rc, const char *value, int size, const struct Stat *stat, const void *ctx)
{
    struct request *request = (struct request *)(uintptr_t)ctx;
    struct latch *latch = request->latch;
    (void)value;
    (void)size;
    (void)stat;
    if (!answered(request, rc)) {
        return;
    }
    if (rc != ZOK) {
        forget_watch(latch, request->name);
    }
    if (rc == ZNONODE && latch->started) {
        list_children(latch);
    } else if (rc == ZOK && latch->closed && watched(latch, request->name) != NULL) {
        go(request, UNWATCHING); /* all watches of the latch are removed */
        return;
    }
    end(request);
}

static int watch(struct request *request)
{
    struct latch *latch = request->latch;
    char path[PATH_MAX_BYTES];
    char *kept = watched(latch, request->name);
    kept = kept != NULL ? kept : watched(latch, "");
    if (kept != NULL) {
        memcpy(kept, request->name, NAME_MAX_BYTES);
    }
    child_path(latch, request->name, path);
    return zoo_awget(latch->recipe->zh, path, on_ahead, latch, on_watched, request);
}

static void on_unwatched(int rc, const void *ctx)
{
    struct request *request = (struct request *)(uintptr_t)ctx;
    if (answered(request, rc)) {
        forget_watch(request->latch, request->name);
        end(request);
    }
}

static int unwatch(struct request *request)
{
    char path[PATH_MAX_BYTES];
    const union {
        void_completion_t function;
        void_completion_t *declared; /* zookeeper.h has one star too many */
    } completion = {.function = on_unwatched};
    child_path(request->latch, request->name, path);
    return zoo_aremove_watches(request->latch->recipe->zh, path, ZWATCHTYPE_DATA, on_ahead, request->latch, 0,
                               completion.declared, request);
}

/* ---- delete ---- */

static void on_deleted(int rc, const void *ctx)
{
    struct request *request = (struct request *)(uintptr_t)ctx;
    if (answered(request, rc)) {
        end(request);
    }
}

static int delete_node(struct request *request)
{
    char path[PATH_MAX_BYTES];
    child_path(request->latch, request->name, path);
    return zoo_adelete(request->latch->recipe->zh, path, -1, on_deleted, request);
}

/* Sends what the kind says, or leaves it to CONNECTED. */
static void send_request(struct request *request)
{
    static int (*const send[])(struct request *) = {[MAKING_PARENT] = make_parent,
                                                    [CREATING] = create,
                                                    [FINDING] = find,
                                                    [LISTING] = list,
                                                    [WATCHING] = watch,
                                                    [UNWATCHING] = unwatch,
                                                    [DELETING] = delete_node};
    struct recipe *r = request->latch->recipe;
    if (!r->connected) {
        return;
    }
    request->busy = true;
    int rc = send[request->kind](request);
    if (rc == ZOK) {
        return;
    }
    request->busy = false;
    if (rc == ZNOWATCHER) {
        forget_watch(request->latch, request->name); /* it has fired meanwhile: nothing was sent */
        end(request);
    } else if (rc != ZINVALIDSTATE) {
        lose_session(r); /* the library is short of memory: no event follows */
    }
}

/* ---- the session ---- */

static void on_event(zhandle_t *zh, int type, int state, const char *path, void *ctx);
static void on_reopen(void *ctx);

static void start_reopen(struct recipe *r, uint32_t delay_ms)
{
    ls_env_lock(r->env);
    ls_env_timer_start(r->env, &r->reopen, "reopen-timer", delay_ms, on_reopen, r);
    ls_env_unlock(r->env);
}

static void open_session(struct recipe *r)
{
    zhandle_t *zh = zookeeper_init(r->config->hosts, on_event, r->config->session_timeout_ms, NULL, r, 0);
    r->zh = r->zh != NULL ? r->zh : zh; /* callbacks may have run already */
    if (r->zh == NULL) {
        start_reopen(r, 100);
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
}

static void on_reopen(void *ctx)
{
    struct recipe *r = ctx;
    ls_env_unlock(r->env); /* timers come with the mutex held */
    close_session(r);
    open_session(r);
    ls_env_lock(r->env);
}

/* The requests of a latch stay, and go on in the next session. Its watches are gone. */
static void lose_session(struct recipe *r)
{
    r->connected = false;
    if (r->session != 0) {
        tell_session(r, LS_REPORT_LOST);
    }
    r->session = 0;
    r->was_suspended = false;
    for (int i = 0; i < LATCHES_MAX; i++) {
        struct latch *latch = &r->latch[i];
        latch->leader = latch->held = false;
        memset(latch->watched, 0, sizeof latch->watched);
        for (int j = 0; j < REQUESTS_MAX; j++) {
            struct request *request = &latch->request[j];
            bool sent = request->busy && request->kind == CREATING;
            request->kind = sent ? FINDING : request->kind;
            request->busy = false;
            if (request->kind == UNWATCHING) {
                memset(request, 0, sizeof *request);
            }
        }
        look_for_the_end(latch);
    }
    start_reopen(r, 1);
}

/* What was lost is sent again, and then the latch looks where it stands. */
static void reconnect(struct latch *latch, bool first)
{
    for (int i = 0; i < REQUESTS_MAX && latch->recipe->connected; i++) {
        struct request *request = &latch->request[i];
        if (request->kind != NONE && !request->busy) {
            send_request(request);
        }
    }
    if (latch->waits) {
        latch->waits = false;
        reset(latch);
    } else if (latch->started && !first) {
        list_children(latch);
    }
}

static void on_connected(struct recipe *r)
{
    int64_t session = zoo_client_id(r->zh)->client_id;
    if (r->session != 0 && r->session != session) {
        lose_session(r); /* and no event has told of it */
        return;
    }
    bool first = !r->was_connected;
    r->connected = r->was_connected = true;
    if (r->session == 0) {
        r->session = session;
        tell_session(r, LS_REPORT_CONNECTED);
    } else if (r->was_suspended) {
        tell_session(r, LS_REPORT_RECONNECTED);
    }
    r->was_suspended = false;
    for (int i = 0; i < r->config->lock_count; i++) {
        reconnect(&r->latch[i], first);
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
        for (int i = 0; i < LATCHES_MAX; i++) {
            r->latch[i].leader = false;
        }
    } else if (state == ZOO_EXPIRED_SESSION_STATE || state == ZOO_AUTH_FAILED_STATE) {
        lose_session(r);
    }
}

/* ---- the recipe's functions ---- */

static int start(void *state, struct ls_env *env, const struct ls_recipe_config *config)
{
    struct recipe *r = state;
    if (config->lock_count > LATCHES_MAX) {
        return LS_EUNSUPPORTED;
    }
    r->env = env;
    r->config = config;
    for (int i = 0; i < LATCHES_MAX; i++) {
        r->latch[i].recipe = r;
        r->latch[i].lock = (uint8_t)i;
    }
    open_session(r);
    return r->zh != NULL ? 0 : LS_ENOMEM;
}

static void stop(void *state)
{
    struct recipe *r = state;
    ls_env_lock(r->env);
    ls_env_timer_stop(r->env, &r->reopen);
    ls_env_unlock(r->env);
    close_session(r);
}

static void start_latch(struct latch *latch)
{
    latch->started = true;
    latch->waits = !latch->recipe->connected;
    if (!latch->waits) {
        reset(latch);
    }
}

static int acquire(void *state, int lock, int owner, int timeout_ms)
{
    struct latch *latch = &((struct recipe *)state)->latch[lock];
    if (owner != 0 || timeout_ms >= 0) {
        return LS_EUNSUPPORTED;
    }
    if (latch->started || latch->again) {
        return LS_EALREADY;
    }
    if (latch->closed) {
        latch->again = true;
    } else {
        start_latch(latch);
    }
    return 0;
}

/* Deletes the own node and removes all watches, in the background. */
static void close_latch(struct latch *latch)
{
    latch->started = latch->waits = latch->leader = latch->held = false;
    latch->closed = true;
    set_own(latch, "", 0);
    for (int i = 0; i < WATCHES_MAX; i++) {
        bool asked = false;
        for (int j = 0; j < REQUESTS_MAX; j++) {
            const struct request *request = &latch->request[j];
            asked |= request->kind == WATCHING && strcmp(request->name, latch->watched[i]) == 0;
        }
        if (latch->watched[i][0] != 0 && !asked) {
            add(latch, UNWATCHING, latch->watched[i]);
        }
    }
    look_for_the_end(latch);
}

static int cancel(void *state, int lock, int owner)
{
    struct latch *latch = &((struct recipe *)state)->latch[lock];
    (void)owner;
    if (latch->again) {
        latch->again = false;
        tell(latch, LS_REPORT_FAILED, LS_ECANCELED);
    } else if (latch->started && !latch->held) {
        tell(latch, LS_REPORT_FAILED, LS_ECANCELED);
        close_latch(latch);
    } else {
        return LS_ENOENT;
    }
    return 0;
}

static int release(void *state, int lock, int owner)
{
    struct latch *latch = &((struct recipe *)state)->latch[lock];
    (void)owner;
    if (!latch->held) {
        return LS_ENOTOWNER;
    }
    latch->freeing = true;
    close_latch(latch);
    return 0;
}

static enum ls_belief query(const void *state, int lock, int owner)
{
    const struct latch *latch = &((const struct recipe *)state)->latch[lock];
    if (owner != 0 || !latch->held) {
        return LS_NOT_HELD;
    }
    return latch->leader ? LS_HELD : LS_UNKNOWN;
}

static bool idle(const void *state)
{
    const struct recipe *r = state;
    for (int i = 0; i < LATCHES_MAX; i++) {
        if (r->latch[i].closed) {
            return false;
        }
    }
    return true;
}

static void canon(const void *state, struct ls_rename *rename)
{
    const struct recipe *r = state;
    rename->session(rename, &r->session);
    for (int i = 0; i < LATCHES_MAX; i++) {
        const struct latch *latch = &r->latch[i];
        rename->zxid(rename, &latch->czxid);
        rename->zxid(rename, &latch->token);
        rename->text(rename, latch->own);
        for (int j = 0; j < WATCHES_MAX; j++) {
            rename->text(rename, latch->watched[j]);
        }
        for (int j = 0; j < REQUESTS_MAX; j++) {
            rename->session(rename, &latch->request[j].session);
            rename->attempt(rename, latch->request[j].id);
            rename->text(rename, latch->request[j].name);
        }
    }
}

static const struct ls_recipe curator_like_latch = {
    .name = "curator-like-latch",
    .summary = "Curator's LeaderLatch: lists when the connection is back, protected create, no sync",
    .kinds = LS_LOCK_BIT(LS_LOCK_ELECTION),
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

LS_RECIPE_MODULE(curator_like_latch);
