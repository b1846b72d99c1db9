/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A semaphore and a read-write lock of one line of contenders, for tests of what drivers know of locks that are no mutex.
 *
 * Each contender has an ephemeral sequential node, whose first letter says the lock: s (semaphore), r or w. It holds
 * - as a semaphore's, while fewer stand before it than the capacity takes;
 * - as a reader's, while no writer stands before it;
 * - as a writer's, while nobody stands before it.
 *
 * Whoever waits is woken by one node:
 * - a reader by the nearest writer before it, a writer by the nearest contender before it;
 * - of a semaphore's waiters the first watches the child list, and each other one the data of the one before it. Who holds
 *   a semaphore writes that into its node, and so makes the next one the first that waits.
 *
 *   FREE --> CREATING --> LISTING --> HELD --> DELETING --> FREE
 *                            |  ^
 *                            v  |
 *                         WATCHING --> WAITING
 *
 * The owner of the write lock gets the read lock at once: its reader takes the number of its writer, if that
 * still stands.
 *
 * As in examples/recipes/next_in_line.c, whoever does not know whether its node exists gives the session up. Of a semaphore
 * that keeps those behind it waiting until the session ends, whatever becomes free. So worlds with a semaphore for several lose no
 * connection.
 *
 * -D changes what it does:
 *   TELLS_LOST      a holder watches its own node, and tells that its hold is lost when the node goes
 *   PRESENCE        each session has an ephemeral node of another name beside the line
 * or plants a mistake:
 *   ONE_TOO_MANY    one more holds than the capacity takes
 *   HERD            all waiters of a semaphore watch the child list
 *   PASSES_WRITERS  readers hold whoever stands before them
 *   FARTHEST        a reader watches the first writer before it, in place of the nearest
 *   READER_BEHIND   the reader of a writer takes a number of its own, at the end of the line
 *   LATER_WRITERS   a reader waits for writers behind it too
 *   UNCHECKED       a contender whose node is gone keeps its number
 *   TRUSTS_WRITER   the reader of a writer does not look whether that one still stands
 *   UNMARKED        who holds a semaphore does not say so
 *   CRIES_LOST      a grant is followed by the report that the hold is lost
 *   OUT_OF_GROUP    a contender is said to be of a lock that the group does not have
 * A canary (tests/canary) that includes this file defines one of these and STORY. */
#include <lockstep/error.h>
#include <lockstep/recipe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#define CLAIMS_MAX 8
#define PATH_MAX_BYTES 256
#define HOLDS "holds" /* the data of a semaphore's node that holds */

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
    bool admitted;  /* by the last list */
    bool unmarked;  /* HELD: its node does not say so yet */
    bool under;     /* a reader of an owner that held the write lock when its node was asked for */
    char ahead[64]; /* the name of the node that is watched; empty = the child list */
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
static void tend(struct claim *claim);

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

#ifdef PRESENCE
static void on_present(int rc, const char *value, const void *ctx)
{
    (void)rc;
    (void)value;
    (void)ctx;
}

static void show_presence(struct recipe *r)
{
    char path[PATH_MAX_BYTES];
    snprintf(path, sizeof path, "%s/here-", r->config->lock_paths[0]);
    zoo_acreate(r->zh, path, NULL, -1, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL_SEQUENTIAL, on_present, r);
}
#endif

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
#ifdef PRESENCE
        show_presence(r);
#endif
        tell_session(r, LS_REPORT_CONNECTED);
    } else if (r->was_suspended) {
        tell_session(r, LS_REPORT_RECONNECTED);
    }
    r->was_suspended = false;
    for (int i = 0; i < CLAIMS_MAX; i++) {
        struct claim *claim = &r->claim[i];
        if (claim->phase == HELD && !claim->ended) {
            tend(claim);
        } else if (claim->phase != FREE && claim->phase != WAITING && !claim->busy) {
            go(claim, claim->phase == HELD ? DELETING : (enum phase)claim->phase);
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

static char letter_of(const struct ls_lock_spec *spec)
{
    return spec->kind == LS_LOCK_SEMAPHORE ? 's' : spec->mode == LS_MODE_SHARED ? 'r' : 'w';
}

static const char *directory(const struct claim *claim)
{
    return claim->recipe->config->lock_paths[claim->lock];
}

static void node_path(const struct claim *claim, char path[PATH_MAX_BYTES])
{
    snprintf(path, PATH_MAX_BYTES, "%s/%c-%010d", directory(claim), letter_of(spec_of(claim)), claim->number);
}

/* The number behind a contender's name; -1 for whatever else lies there. */
static int32_t number_of(const char *name)
{
    bool ours = strlen(name) == 12 && strchr("srw", name[0]) != NULL && name[1] == '-';
    return ours && strspn(name + 2, "0123456789") == 10 ? (int32_t)strtol(name + 2, NULL, 10) : -1;
}

static enum ls_node_class classify(const struct ls_recipe_config *config, const char *below, int *lock)
{
    bool contender = below[0] != 0 && strchr("srw", below[0]) != NULL && below[1] == '-';
    if (config->locks[*lock].kind == LS_LOCK_READ_WRITE && below[0] == 'w') {
        ++*lock;
    }
#ifdef OUT_OF_GROUP
    *lock = 100;
#endif
    return contender ? LS_NODE_CONTENDER : LS_NODE_OTHER;
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

static struct claim *find(struct recipe *r, int lock, int owner);

/* What the owner has of the other lock of a read-write lock; NULL = nothing. */
static const struct claim *other_half(const struct claim *claim)
{
    int lock = claim->lock + (letter_of(spec_of(claim)) == 'r' ? 1 : -1);
    return spec_of(claim)->kind == LS_LOCK_READ_WRITE ? find(claim->recipe, lock, claim->owner) : NULL;
}

/* The write lock that the owner of a reader holds, or NULL. */
static const struct claim *writer_of(const struct claim *claim)
{
    const struct claim *other = letter_of(spec_of(claim)) == 'r' ? other_half(claim) : NULL;
    return other != NULL && other->phase == HELD ? other : NULL;
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
    claim->number = (int32_t)strtol(strrchr(value, '/') + 1 + 2, NULL, 10);
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
    const struct claim *writer = writer_of(claim);
    claim->under = writer != NULL;
#ifdef READER_BEHIND
    writer = NULL;
#endif
    claim->number = writer != NULL ? writer->number : 0;
    node_path(claim, path);
    if (writer == NULL) {
        strrchr(path, '-')[1] = 0; /* the server appends a number */
    }
    claim->number = 0;
    claim->named = false;
    ls_env_stamp(claim->recipe->env, &claim->sent);
    return zoo_acreate2(claim->recipe->zh, path, claim->recipe->config->contents,
                        claim->recipe->config->contents != NULL ? claim->recipe->config->contents_size : -1,
                        &ZOO_OPEN_ACL_UNSAFE, writer != NULL ? ZOO_EPHEMERAL : ZOO_EPHEMERAL_SEQUENTIAL,
                        on_created, claim);
}

/* The hold is over, and the session goes on. */
static void lose_hold(struct claim *claim)
{
    tell(claim, LS_REPORT_HOLD_LOST, 0);
    claim->ended = true;
    if (!claim->busy) {
        go(claim, claim->watching ? UNWATCHING : DELETING);
    }
}

#ifdef TELLS_LOST
static void on_own_seen(int rc, const struct Stat *stat, const void *ctx)
{
    (void)rc; /* without the watch nobody is told */
    (void)stat;
    (void)ctx;
}

/* Its own mark fires the watch too. */
static void on_own(zhandle_t *zh, int type, int state, const char *path, void *ctx)
{
    struct claim *claim = ctx;
    char own[PATH_MAX_BYTES];
    (void)state;
    node_path(claim, own);
    bool holds = claim->phase == HELD && !claim->ended && !claim->freeing;
    if (zh != claim->recipe->zh || !holds || path == NULL || strcmp(own, path) != 0) {
        return;
    }
    if (type == ZOO_DELETED_EVENT) {
        lose_hold(claim);
    } else if (type == ZOO_CHANGED_EVENT) {
        zoo_awexists(zh, own, on_own, claim, on_own_seen, claim);
    }
}
#endif

static void grant(struct claim *claim)
{
    ls_env_timer_stop(claim->recipe->env, &claim->deadline);
    memset(claim->ahead, 0, sizeof claim->ahead); /* if anything is watched, it is the child list */
    claim->phase = HELD;
    claim->depth = 1;
    if (claim->under) {
        claim->czxid = writer_of(claim)->czxid; /* it goes on in its own place */
    }
    claim->unmarked = spec_of(claim)->kind == LS_LOCK_SEMAPHORE;
    tell(claim, LS_REPORT_GRANTED, 0);
#ifdef UNMARKED
    claim->unmarked = false;
#endif
#ifdef CRIES_LOST
    tell(claim, LS_REPORT_HOLD_LOST, 0);
#endif
#ifdef TELLS_LOST
    char path[PATH_MAX_BYTES];
    node_path(claim, path);
    zoo_awexists(claim->recipe->zh, path, on_own, claim, on_own_seen, claim);
#endif
    tend(claim);
}

/* The next one of a semaphore is the first that waits now. */
static void on_marked(int rc, const struct Stat *stat, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    (void)stat;
    if (!answered(claim, rc)) {
        return;
    }
    claim->unmarked = false;
    if (claim->ended) {
        go(claim, claim->watching ? UNWATCHING : DELETING);
    } else if (rc == ZNONODE && !claim->freeing) {
        lose_hold(claim);
    } else {
        tend(claim);
    }
}

static int mark(struct claim *claim)
{
    char path[PATH_MAX_BYTES];
    node_path(claim, path);
    return zoo_aset(claim->recipe->zh, path, HOLDS, (int)strlen(HOLDS), -1, on_marked, claim);
}

/* True if this contender is in the way of the claim. */
static bool blocks(const struct claim *claim, const char *name)
{
    int32_t number = number_of(name);
#ifdef LATER_WRITERS
    if (letter_of(spec_of(claim)) == 'r') {
        return number >= 0 && name[0] == 'w';
    }
#endif
#ifdef PASSES_WRITERS
    if (letter_of(spec_of(claim)) == 'r') {
        return false;
    }
#endif
    return number >= 0 && number < claim->number && (letter_of(spec_of(claim)) != 'r' || name[0] == 'w');
}

static int capacity_of(const struct claim *claim)
{
    const struct ls_lock_spec *spec = spec_of(claim);
    int units = spec->kind == LS_LOCK_SEMAPHORE ? spec->capacity / (spec->count > 0 ? spec->count : 1) : 1;
#ifdef ONE_TOO_MANY
    units += spec->kind == LS_LOCK_SEMAPHORE;
#endif
    return units;
}

/* True if of two contenders in the way the second is to be watched. */
static bool is_better(const struct claim *claim, int32_t chosen, int32_t number)
{
#ifdef FARTHEST
    if (letter_of(spec_of(claim)) == 'r') {
        return chosen < 0 || number < chosen;
    }
#endif
    (void)claim;
    return number > chosen;
}

/* Keeps what is to be watched; says whether the claim's node is there at all. */
static bool find_place(struct claim *claim, const struct String_vector *names)
{
    int32_t chosen = -1;
    int before = 0;
    bool found = false, writer = false;
    memset(claim->ahead, 0, sizeof claim->ahead);
    for (int i = 0; i < names->count; i++) {
        int32_t number = number_of(names->data[i]);
        char letter = names->data[i][0];
        found |= number == claim->number && letter == letter_of(spec_of(claim));
        writer |=
            number >= 0 && writer_of(claim) != NULL && number == writer_of(claim)->number && letter == 'w';
        if (!blocks(claim, names->data[i])) {
            continue;
        }
        before++;
        if (is_better(claim, chosen, number)) {
            chosen = number;
            snprintf(claim->ahead, sizeof claim->ahead, "%s", names->data[i]);
        }
    }
#ifdef TRUSTS_WRITER
    writer = true;
#endif
    claim->admitted = claim->under ? writer : before < capacity_of(claim);
    bool semaphore = spec_of(claim)->kind == LS_LOCK_SEMAPHORE;
    bool first = semaphore && before == capacity_of(claim);
#ifdef HERD
    first = semaphore;
#endif
    if (first) {
        memset(claim->ahead, 0, sizeof claim->ahead);
    }
#ifdef UNCHECKED
    found = true;
#endif
    return found;
}

/* By what the last list says. `watched` = it has set the watch. */
static void go_on(struct claim *claim, bool watched)
{
    if (claim->admitted) {
        grant(claim);
    } else if (claim->under) {
        fail(claim, LS_ELOST); /* others may hold by now */
    } else if (claim->trying) {
        fail(claim, LS_EBUSY);
    } else {
        go(claim, watched ? WAITING : WATCHING);
    }
}

static void on_names(struct claim *claim, int rc, const struct String_vector *names, bool watched)
{
    if (!answered(claim, rc)) {
        return;
    }
    watched = watched && rc == ZOK && claim->watching; /* else it has fired already */
    claim->watching = watched;
    if (claim->ended) {
        go(claim, watched ? UNWATCHING : DELETING);
    } else if (rc == ZNONODE || (rc == ZOK && !find_place(claim, names))) {
        claim->named = false;
        go(claim,
           watched ? UNWATCHING : CREATING); /* somebody has removed our node: back to the end of the line */
    } else if (rc != ZOK) {
        fail(claim, rc == ZNOAUTH ? LS_ENOAUTH : LS_EZK);
    } else {
        go_on(claim, watched);
    }
}

static void on_list(int rc, const struct String_vector *names, const void *ctx)
{
    on_names((struct claim *)(uintptr_t)ctx, rc, names, false);
}

static void on_watched_list(int rc, const struct String_vector *names, const void *ctx)
{
    on_names((struct claim *)(uintptr_t)ctx, rc, names, true);
}

/* What is watched is gone, or has been written to: a reason to look again, and no more. */
static void on_ahead(zhandle_t *zh, int type, int state, const char *path, void *ctx)
{
    struct claim *claim = ctx;
    struct recipe *r = claim->recipe;
    (void)state;
    const char *name = path != NULL ? strrchr(path, '/') : NULL;
    bool ours =
        zh == r->zh && claim->watching && name != NULL &&
        (claim->ahead[0] == 0 ? strcmp(path, directory(claim)) == 0 : strcmp(name + 1, claim->ahead) == 0);
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
    (void)stat;
    if (!answered(claim, rc)) {
        return;
    }
    bool stands = rc == ZOK && claim->watching; /* else it has gone already */
    bool holds = rc == ZOK && size == (int)strlen(HOLDS) && memcmp(value, HOLDS, strlen(HOLDS)) == 0;
    claim->watching = stands;
    if (claim->ended) {
        go(claim, stands ? UNWATCHING : DELETING);
    } else if (rc != ZOK && rc != ZNONODE) {
        fail(claim, rc == ZNOAUTH ? LS_ENOAUTH : LS_EZK);
    } else if (stands && holds) {
        go(claim, UNWATCHING); /* it was the first that waited, and that are we now */
    } else {
        go(claim, stands ? WAITING : LISTING);
    }
}

static void ahead_path(const struct claim *claim, char path[PATH_MAX_BYTES])
{
    snprintf(path, PATH_MAX_BYTES, "%s%s%s", directory(claim), claim->ahead[0] != 0 ? "/" : "", claim->ahead);
}

static int watch(struct claim *claim)
{
    char path[PATH_MAX_BYTES];
    ahead_path(claim, path);
    claim->watching = true;
    return claim->ahead[0] == 0
               ? zoo_awget_children(claim->recipe->zh, path, on_ahead, claim, on_watched_list, claim)
               : zoo_awget(claim->recipe->zh, path, on_ahead, claim, on_watched, claim);
}

/* Where the watch was for nothing, the way goes on. */
static void on_unwatched(int rc, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    if (!answered(claim, rc)) {
        return;
    }
    claim->watching = false;
    if (claim->phase == HELD && !claim->ended) {
        tend(claim);
    } else {
        go(claim, claim->ended ? DELETING : claim->named ? LISTING : CREATING);
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
    return zoo_aremove_watches(claim->recipe->zh, path,
                               claim->ahead[0] == 0 ? ZWATCHTYPE_CHILD : ZWATCHTYPE_DATA, on_ahead, claim, 0,
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

/* What a holder owes to those behind it: to say that it holds, and to watch no more. Then it may go. */
static void tend(struct claim *claim)
{
    if (claim->busy || !claim->recipe->connected) {
        return;
    }
    claim->unmarked = claim->unmarked && !claim->freeing;
    if (!claim->unmarked && !claim->watching) {
        if (claim->freeing) {
            go(claim, DELETING);
        }
        return;
    }
    claim->busy = true;
    int rc = claim->unmarked ? mark(claim) : unwatch(claim);
    if (rc == ZNOWATCHER) {
        on_unwatched(rc, claim); /* it has fired meanwhile: nothing was sent */
    } else if (rc != ZOK) {
        claim->busy = false;
        if (rc != ZINVALIDSTATE) {
            lose_session(claim->recipe);
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
    bool both = r->config->locks[lock].kind == LS_LOCK_READ_WRITE;
    if (claim != NULL && claim->phase == HELD && both) {
        claim->depth++;
        tell(claim, LS_REPORT_GRANTED, 0);
        return 0;
    }
    if (claim != NULL) {
        return LS_EALREADY;
    }
    const struct claim asked = {.recipe = r, .lock = (uint8_t)lock, .owner = (uint8_t)owner};
    const struct claim *other = other_half(&asked);
    if (other != NULL && letter_of(spec_of(&asked)) == 'w') {
        return LS_EDEADLK; /* it would wait for itself */
    }
    if (other != NULL && other->phase != HELD) {
        return LS_EALREADY;
    }
    claim = r->claim;
    while (claim < r->claim + CLAIMS_MAX && claim->phase != FREE) {
        claim++;
    }
    if (claim == r->claim + CLAIMS_MAX) {
        return LS_ENOMEM;
    }
    *claim = asked;
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
    if (claim->depth == 1 && other_half(claim) != NULL && other_half(claim)->phase != HELD) {
        return LS_EALREADY; /* its reader is on its way */
    }
    if (--claim->depth == 0) {
        claim->freeing = true;
        tend(claim);
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

#ifndef STORY
#define STORY                                                                                                \
    .name = "line", .summary = "a semaphore and a read-write lock of one line of contenders",                \
    .kinds = LS_LOCK_BIT(LS_LOCK_SEMAPHORE) | LS_LOCK_BIT(LS_LOCK_READ_WRITE)
#endif

static const struct ls_recipe line = {
    STORY,
    .state_size = sizeof(struct recipe),
    .start = start,
    .stop = stop,
    .acquire = acquire,
    .cancel = cancel,
    .release = release,
    .query = query,
    .idle = idle,
    .classify = classify,
    .canon = canon,
    .symmetric = true,
    .reentrant = true,
};

LS_RECIPE_MODULE(line);
