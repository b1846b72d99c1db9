/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Curator's InterProcessSemaphoreV2, written a second time and by itself: to compare with the library's
 * semaphore, and to plant mistakes in it that are published or that one would make.
 *
 *   PATH/locks    _c_UUID-lock-N: the inner lock, a line of those who want leases
 *   PATH/leases   _c_UUID-lease-N: one node for each lease
 *
 * Node 0 of a claim stands in the line, all others are leases. step() looks at what a claim has, and does
 * what is next:
 *
 *   line node --> first in line? --no--> watch the nearest one before it, and wait
 *                      | yes
 *                      v
 *   lease nodes, one after the other --> room? --no--> watch the list of leases, and wait
 *                                          | yes
 *                                          v
 *                                       granted --> unwatch --> delete the line node
 *
 * There is room if fewer leases than the capacity stand before the newest one of the claim. Curator counts
 * all leases. If the operator removes the node of a taker in the line, two takers are there at once. By
 * Curator's rule they then wait for each other.
 *
 * By this rule two takers of several leases may still have a part each. So who waits with several watches its
 * own node in the line. When that is gone, it gives its leases back and queues again.
 *
 * Whoever does not know whether a node of its own exists brings the server up to date, and looks for the id
 * in the name. In another session each node has another id.
 *
 * -DMISTAKE=NAME plants a mistake. leases.sh says where each of them is caught.
 *
 * Published ones:
 *
 *   CURATOR_315   A reconnect in acquire leaves a node behind.
 *                 A lease came into the result as soon as its node existed. When the session ended, acquire
 *                 tried again, and put a second lease behind the first. The caller got the first one, whose
 *                 node was gone, and gave that back. The second one was in nobody's hand.
 *                 Mend: a lease comes into the result when it is granted.
 *                 Violates no_orphan_node.
 *   CURATOR_335   That mend forgets another node.
 *                 A network error between create and list was an exception. The lease was in no result yet,
 *                 and nobody gave it back.
 *                 Mend: this exception gives the lease back.
 *                 Violates no_orphan_node.
 *   CURATOR_462   That mend was for the list alone.
 *                 A thread that is interrupted while it waits for room leaves by another exception.
 *                 Mend: each way out that is no success gives the lease back.
 *                 Violates no_orphan_node.
 *   CURATOR_376   InterProcessSemaphoreMutex keeps its lease in one field.
 *                 release() deleted the node and then cleared the field. Between the two another thread got
 *                 the next lease, and stored it there. It held a lock that it could not release.
 *                 Mend: the field is cleared before the node is deleted.
 *                 Violates release_matches_acquire.
 *   KAZOO_429     A semaphore that does not wait tries its inner lock.
 *                 If that attempt ended in a network error, its node stayed. It blocked all others until the
 *                 session ended.
 *                 Mend: the inner lock is released after each attempt.
 *                 Violates no_orphan_node.
 *   CURATOR_LIKE  Curator 5.4, in which all of these are mended.
 *                 It takes the inner lock anew for each lease of an acquire. It counts all leases. It looks
 *                 for a lost node without a sync. When its lease is gone, it queues again. A lease that it
 *                 got in a session that is over stays in the result.
 *                 Violates no_lost_wakeup: two acquires may have a part each, and wait for each other.
 *   CURATOR_75    A shared count grows, and nobody wakes those who wait.
 *                 Who waited for room looked again when the list of leases changed, and at no other time.
 *                 Mend: a new count wakes them too.
 *                 Violates no_lost_wakeup.
 *
 * Others:
 *
 *   ONE_TOO_MANY     one lease more than the capacity
 *   LARGEST_COUNT    keeps the largest capacity that it was told
 *   FORGETS_OWN      does not count the other leases of its own acquire
 *   NEWEST_FIRST     counts the leases behind its own
 *   ALL_CHILDREN     counts all leases, as Curator does
 *   REPLACED         does not see that a lease which replaces a deleted one stands behind the others
 *   WITHOUT_OWN      does not see that its own lease is not in the list
 *   CHECKS_FIRST     looks whether there is room, then creates its leases and does not look again
 *   UNSEEN           takes its leases for granted as soon as something has changed
 *   ASLEEP           lists, then sets the watch, and does not look at what that answers
 *   GRANTS_FIRST     tells of the grant as soon as one of several leases is granted
 *   RETURNS_ONE      gives one of several leases back
 *   OTHERS_LEASE     gives back the oldest lease of the list, whosesoever it is
 *   WRONG_OWNER      gives back the lease of any owner of the process
 *   SHARES_NODE      a second owner of the process holds by the lease of the first one
 *   NO_LINE          takes no inner lock
 *   EARLY_UNLOCK     gives the inner lock back as soon as its leases are created
 *   LINE_STAYS       keeps the inner lock until the leases are given back
 *   FARTHEST         watches the first of the line in place of the nearest one
 *   WHOLE_LIST       whoever stands in the line watches all of it
 *   WATCH_STAYS      leaves its watch on the list of leases
 *   SECOND_NODE      after a lost answer creates another node
 *   UNSYNCED         looks for a node whose answer was lost at a server that may be behind
 *   SAME_ID          looks in the next session for the nodes of the former one
 *   FORGETS_CREATE   gives up while a create is under way, and does not look after its node
 *   DELETES_ONCE     tries once to delete a lease that is given back
 *   PART_EACH        does not watch its own node in the line
 *   LINE_TOKEN       tells the czxid of the node in the line as its token
 *   NEWEST_TOKEN     tells the czxid of the newest of several leases as its token
 *   TRY_WAITS        a try that is first in the line waits for room
 *   TIMELESS         has a deadline in the line, and none while it waits for room
 *   IGNORES_CANCEL   cannot be cancelled while it waits for room
 *   BELIEVES         says that it holds also when its connection is lost
 *   NEWEST_BACK      gives back the newest leases of the list, whosesoever they are
 *   FREED_HALF       says that several leases are free as soon as one of their nodes is gone
 *   TAKES_IN_LINE    creates its leases while it still stands in the line
 *   CANCEL_STANDS    leaves its node in the line when it is cancelled
 *   ONE_DIRECTORY    has the leases of all semaphores below the first one
 *   TRY_LEAVES       leaves the leases of a try that fails
 *   BY_NAME          orders the line by whole names, not by numbers
 *   TRY_BARGES       a try takes no place in the line, and passes those who wait there
 *   FREED_EARLY      says that a lease is free before its node is gone
 *   ONE_FOR_ALL      an acquire creates one lease, whatever the count says
 *
 * Nothing notices this one:
 *
 *   HELD_OVER        says that it holds again in the session behind the one that it told to be lost */
#include <lockstep/error.h>
#include <lockstep/recipe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#define CLAIMS_MAX 4
#define LOCKS_MAX 4
#define NODES_MAX 4 /* the one in the line, and three leases */
#define PATH_MAX_BYTES 320
#define NAME_MAX_BYTES 64
#define NO_NUMBER (-1)

enum mistake {
    NONE,
    CURATOR_315,
    CURATOR_335,
    CURATOR_462,
    CURATOR_376,
    KAZOO_429,
    CURATOR_LIKE,
    CURATOR_75,
    ONE_TOO_MANY,
    LARGEST_COUNT,
    FORGETS_OWN,
    NEWEST_FIRST,
    ALL_CHILDREN,
    REPLACED,
    WITHOUT_OWN,
    CHECKS_FIRST,
    UNSEEN,
    ASLEEP,
    GRANTS_FIRST,
    RETURNS_ONE,
    OTHERS_LEASE,
    WRONG_OWNER,
    SHARES_NODE,
    NO_LINE,
    EARLY_UNLOCK,
    LINE_STAYS,
    FARTHEST,
    WHOLE_LIST,
    WATCH_STAYS,
    SECOND_NODE,
    UNSYNCED,
    SAME_ID,
    FORGETS_CREATE,
    DELETES_ONCE,
    PART_EACH,
    LINE_TOKEN,
    NEWEST_TOKEN,
    TRY_WAITS,
    TIMELESS,
    IGNORES_CANCEL,
    BELIEVES,
    TRY_BARGES,
    FREED_EARLY,
    ONE_FOR_ALL,
    NEWEST_BACK,
    FREED_HALF,
    TAKES_IN_LINE,
    CANCEL_STANDS,
    HELD_OVER,
    ONE_DIRECTORY,
    TRY_LEAVES,
    BY_NAME
};

#ifndef MISTAKE
#define MISTAKE NONE
#endif

/* Says whether this mistake is planted. */
static bool has(enum mistake mistake)
{
    bool curator = mistake == ALL_CHILDREN || mistake == UNSYNCED || mistake == PART_EACH;
    const enum mistake planted = MISTAKE;
    return mistake == planted || (planted == CURATOR_LIKE && curator);
}

/* What a claim does now. A request is under way, but for FREE, HELD and the two that wait. */
enum phase {
    FREE,
    MAKING_PARENT,
    CREATING,
    SEARCHING,
    READING,
    LISTING,
    WATCHING_AHEAD,
    WAITING_AHEAD,
    COUNTING,
    WATCHING_ROOM,
    WATCHING_OWN,
    WAITING_ROOM,
    HELD,
    UNWATCHING,
    UNWATCHING_OWN,
    DELETING,
};

enum watch { NOTHING, AHEAD, ROOM };

struct node {
    int64_t czxid;  /* of a lease; 0 = not known yet */
    int32_t number; /* behind its name; NO_NUMBER = no node that we know */
    bool maybe;     /* the answer to its create was lost */
    uint8_t id[16]; /* in its name */
};

/* The way of one owner to its leases and back. */
struct claim {
    struct recipe *recipe;
    struct ls_timer deadline;
    struct ls_timer turn; /* CURATOR_376 */
    struct ls_stamp sent; /* when the last node was asked for: the session is good for half its timeout */
    struct node node[NODES_MAX]; /* the first stands in the line */
    struct node first;           /* CURATOR_315: the first lease of all */
    char ahead[NAME_MAX_BYTES];  /* the name before ours in the line; "" = none, or not known */
    uint8_t phase;               /* enum phase */
    uint8_t watching;            /* enum watch: what is watched, if its event has not come */
    uint8_t at;                  /* the node that the request is about */
    uint8_t lock, owner;
    uint8_t parent;    /* MAKING_PARENT: how many characters of the path exist */
    uint8_t granted;   /* CURATOR_LIKE: that many leases */
    bool busy;         /* a request is under way */
    bool leads;        /* first in the line, as far as we know */
    bool looked;       /* there was no room in the last list, which set no watch */
    bool watching_own; /* our node in the line is watched */
    bool back;         /* gives up what it has, and begins again */
    bool ended;        /* the caller has its answer: what is left is ours to clean up */
    bool held;         /* granted and not given back */
    bool freeing;      /* given back: FREED is owed */
    bool trying;       /* does not wait */
    bool roomy;        /* CHECKS_FIRST: there was room */
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
    bool plain;   /* the server knows no containers */
    bool stopping;
    struct claim claim[CLAIMS_MAX];
    struct claim *field;          /* CURATOR_376: where the lease is that somebody holds */
    uint16_t capacity[LOCKS_MAX]; /* 0 = the declared one */
};

static void step(struct claim *claim);

/* ---- telling ---- */

static void tell_session(struct recipe *r, enum ls_report_kind kind)
{
    ls_report(r->env, &(struct ls_report){.kind = kind, .session = r->session});
}

static int64_t token_of(const struct claim *claim)
{
    if (has(LINE_TOKEN) || has(CURATOR_315)) {
        return has(LINE_TOKEN) ? claim->node[0].czxid : claim->first.czxid;
    }
    int64_t oldest = claim->node[1].czxid;
    for (int i = 2; i < NODES_MAX; i++) {
        int64_t czxid = claim->node[i].czxid;
        oldest = czxid != 0 && (czxid < oldest || has(NEWEST_TOKEN)) ? czxid : oldest;
    }
    return oldest;
}

static void tell(struct claim *claim, enum ls_report_kind kind, int rc)
{
    ls_report(claim->recipe->env, &(struct ls_report){.kind = kind,
                                                      .lock = claim->lock,
                                                      .owner = claim->owner,
                                                      .rc = rc,
                                                      .depth = claim->held ? 1 : 0,
                                                      .token = claim->held ? token_of(claim) : 0,
                                                      .session = claim->recipe->session});
}

/* ---- the end of a claim ---- */

static void clear(struct claim *claim, struct recipe *r)
{
    memset(claim, 0, sizeof *claim);
    claim->recipe = r; /* watches of it may still fire */
}

static void forget(struct claim *claim)
{
    struct recipe *r = claim->recipe;
    bool cleaned = claim->ended;
    ls_env_timer_stop(r->env, &claim->deadline);
    ls_env_timer_stop(r->env, &claim->turn);
    if (claim->freeing) {
        tell(claim, LS_REPORT_FREED, 0);
    }
    r->field = r->field == claim ? NULL : r->field;
    clear(claim, r);
    if (cleaned) {
        ls_report(r->env, &(struct ls_report){.kind = LS_REPORT_IDLE});
    }
}

static void begin_node(struct claim *claim, int at)
{
    struct node *node = &claim->node[at];
    memset(node, 0, sizeof *node);
    node->number = NO_NUMBER;
    ls_env_unique_id(claim->recipe->env, node->id);
}

/* From the end of the line. */
static void begin(struct claim *claim)
{
    for (int i = 0; i < NODES_MAX; i++) {
        begin_node(claim, i);
    }
    memset(claim->ahead, 0, sizeof claim->ahead);
    claim->leads = claim->looked = claim->back = claim->roomy = false;
    claim->granted = 0;
}

/* CURATOR_335, CURATOR_462: the leases are in no result yet, and nobody returns them. */
static void forget_leases(struct claim *claim)
{
    for (int i = 1; i < NODES_MAX; i++) {
        begin_node(claim, i);
    }
}

/* Ends without the lock. */
static void fail(struct claim *claim, int rc)
{
    ls_env_timer_stop(claim->recipe->env, &claim->deadline);
    tell(claim, LS_REPORT_FAILED, rc);
    claim->ended = true;
    if ((has(CURATOR_462) && claim->phase == WAITING_ROOM) || (has(TRY_LEAVES) && claim->trying)) {
        forget_leases(claim);
    }
    if (!claim->busy) {
        step(claim);
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

/* SAME_ID: the nodes of the former session are looked for. */
static void search_again(struct claim *claim)
{
    claim->node[0].maybe = claim->node[1].maybe = true;
    claim->node[0].number = claim->node[1].number = NO_NUMBER;
    claim->leads = claim->looked = false;
    memset(claim->ahead, 0, sizeof claim->ahead);
}

/* Those who wait begin again. CURATOR_LIKE: what is in the result stays there, and nobody looks at it. */
static void restart(struct claim *claim)
{
    struct node kept[NODES_MAX];
    uint8_t granted = claim->granted;
    memcpy(kept, claim->node, sizeof kept);
    if (has(SAME_ID)) {
        search_again(claim);
    } else {
        begin(claim);
    }
    memcpy(claim->node + 1, kept + 1, granted * sizeof *kept);
    claim->granted = granted;
    claim->phase = CREATING;
}

/* The session is gone, and all its nodes and watches with it, now or soon. A handle is closed by a timer,
 * because this is one of its own callbacks. */
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
        claim->watching_own = false;
        if (claim->held && has(HELD_OVER)) {
            continue;
        }
        if (claim->held || claim->ended || claim->freeing) {
            forget(claim);
        } else if (claim->phase != FREE) {
            restart(claim);
        }
    }
    ls_env_timer_start(r->env, &r->reopen, "reopen-timer", 1, on_reopen, r);
}

static bool rests(const struct claim *claim)
{
    return claim->phase == FREE || claim->phase == WAITING_AHEAD || claim->phase == WAITING_ROOM;
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
        if (!claim->busy && (!rests(claim) || (claim->ended && claim->phase != FREE))) {
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
    int count = spec_of(claim)->count;
    return count > 0 && !has(ONE_FOR_ALL) ? count : 1;
}

static const char *mark_of(int at)
{
    return at == 0 ? "lock-" : "lease-";
}

static void directory(const struct claim *claim, int at, char path[PATH_MAX_BYTES])
{
    int lock = has(ONE_DIRECTORY) && at > 0 ? 0 : claim->lock;
    snprintf(path, PATH_MAX_BYTES, "%s/%s", claim->recipe->config->lock_paths[lock],
             at == 0 ? "locks" : "leases");
}

/* "_c_UUID-lock-": what a create asks for, and how the name of that node begins. */
static void name_of(const struct claim *claim, int at, char name[NAME_MAX_BYTES])
{
    const uint8_t *id = claim->node[at].id;
    int size = snprintf(name, NAME_MAX_BYTES, "_c_");
    for (int i = 0; i < 16; i++) {
        bool dash = i == 3 || i == 5 || i == 7 || i == 9 || i == 15;
        size += snprintf(name + size, (size_t)(NAME_MAX_BYTES - size), dash ? "%02x-" : "%02x", id[i]);
    }
    snprintf(name + size, (size_t)(NAME_MAX_BYTES - size), "%s", mark_of(at));
}

static void node_path(const struct claim *claim, int at, char path[PATH_MAX_BYTES])
{
    char name[NAME_MAX_BYTES];
    directory(claim, at, path);
    name_of(claim, at, name);
    size_t size = strlen(path);
    snprintf(path + size, PATH_MAX_BYTES - size, "/%s%010d", name, claim->node[at].number);
}

static void ahead_path(const struct claim *claim, char path[PATH_MAX_BYTES])
{
    directory(claim, 0, path);
    size_t size = strlen(path);
    if (!has(WHOLE_LIST)) {
        snprintf(path + size, PATH_MAX_BYTES - size, "/%s", claim->ahead);
    }
}

/* The number behind the last mark of a name; NO_NUMBER for whatever else lies there. */
static int32_t number_of(const char *name, const char *mark)
{
    const char *key = "";
    for (const char *at = strstr(name, mark); at != NULL; at = strstr(at + 1, mark)) {
        key = at + strlen(mark);
    }
    bool numbered = strlen(key) == 10 && strspn(key, "0123456789") == 10 && strtol(key, NULL, 10) < INT32_MAX;
    return numbered ? (int32_t)strtol(key, NULL, 10) : NO_NUMBER;
}

/* ---- requests and their answers ---- */

/* Whether an answer is ours to act on; after a lost one CONNECTED goes on. */
static bool answered(struct claim *claim, int rc)
{
    struct recipe *r = claim->recipe;
    claim->busy = false;
    if (r->stopping || r->session == 0) {
        return false;
    }
    return rc != ZCONNECTIONLOSS && rc != ZOPERATIONTIMEOUT && rc != ZSESSIONEXPIRED && rc != ZCLOSING;
}

/* How far the path of the next directory reaches, below those that exist. */
static uint8_t next_parent(const struct claim *claim, const char *path)
{
    const char *slash = strchr(path + claim->parent + 1, '/');
    return (uint8_t)(slash != NULL ? slash - path : (long)strlen(path));
}

static void ask(struct claim *claim, enum phase phase, int at);

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
        fail(claim, rc == ZNOAUTH ? LS_ENOAUTH : LS_EZK);
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

/* CURATOR_315: the first lease that there is, is the result, whatever becomes of it. */
static void note_first(struct claim *claim)
{
    if (has(CURATOR_315) && claim->at == 1 && claim->first.czxid == 0) {
        claim->first = claim->node[1];
    }
}

static void on_created(int rc, const char *value, const struct Stat *stat, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    struct node *node = &claim->node[claim->at];
    if (!answered(claim, rc)) {
        bool lives = claim->recipe->session != 0 && !claim->recipe->stopping;
        node->maybe = node->maybe || (lives && !has(SECOND_NODE));
        return;
    }
    bool forgets = has(FORGETS_CREATE) && claim->ended;
    if (rc == ZOK && !forgets) {
        node->number = (int32_t)strtol(strrchr(value, '-') + 1, NULL, 10);
        node->czxid = stat->czxid;
        claim->looked = false;
        note_first(claim);
        if (number_of(value, mark_of(claim->at)) == NO_NUMBER && !claim->ended) {
            fail(claim, LS_ESEQUENCE); /* numbers that nobody can order */
        } else {
            step(claim);
        }
    } else if (claim->ended || claim->back) {
        step(claim);
    } else if (rc == ZNONODE) {
        claim->parent = 0;
        ask(claim, MAKING_PARENT, claim->at);
    } else {
        fail(claim, rc == ZNOAUTH ? LS_ENOAUTH : LS_EZK);
    }
}

static int create(struct claim *claim)
{
    const struct ls_recipe_config *config = claim->recipe->config;
    char path[PATH_MAX_BYTES];
    char name[NAME_MAX_BYTES];
    directory(claim, claim->at, path);
    name_of(claim, claim->at, name);
    size_t size = strlen(path);
    snprintf(path + size, sizeof path - size, "/%s", name);
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
        claim->node[claim->at].czxid = stat->czxid;
        note_first(claim);
    } else {
        begin_node(claim, claim->at); /* somebody has removed it */
    }
    step(claim);
}

static int read_node(struct claim *claim)
{
    char path[PATH_MAX_BYTES];
    node_path(claim, claim->at, path);
    return zoo_aexists(claim->recipe->zh, path, 0, on_read, claim);
}

static void on_searched(int rc, const struct String_vector *names, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    struct node *node = &claim->node[claim->at];
    char ours[NAME_MAX_BYTES];
    if (!answered(claim, rc)) {
        return;
    }
    name_of(claim, claim->at, ours);
    for (int i = 0; rc == ZOK && i < names->count; i++) {
        if (strncmp(names->data[i], ours, strlen(ours)) == 0) {
            node->number = (int32_t)strtol(strrchr(names->data[i], '-') + 1, NULL, 10);
        }
    }
    node->maybe = false;
    claim->looked = false;
    step(claim);
}

static int find_node(struct claim *claim)
{
    char path[PATH_MAX_BYTES];
    directory(claim, claim->at, path);
    return zoo_aget_children(claim->recipe->zh, path, 0, on_searched, claim);
}

static void on_synced(int rc, const char *value, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    (void)value;
    if (answered(claim, rc)) {
        int sent = find_node(claim);
        claim->busy = sent == ZOK;
        if (sent != ZOK && sent != ZINVALIDSTATE) {
            lose_session(claim->recipe); /* the library is short of memory: no event follows */
        }
    }
}

/* The server may be behind the one that was asked for the node. */
static int search(struct claim *claim)
{
    char path[PATH_MAX_BYTES];
    directory(claim, claim->at, path);
    return has(UNSYNCED) ? find_node(claim) : zoo_async(claim->recipe->zh, path, on_synced, claim);
}

/* ---- the line ---- */

/* Keeps the name that is to be watched; says whether our node is there at all. */
static bool find_place(struct claim *claim, const struct String_vector *names)
{
    char ours[NAME_MAX_BYTES];
    name_of(claim, 0, ours);
    int32_t own = claim->node[0].number;
    int32_t chosen = NO_NUMBER;
    bool found = false;
    memset(claim->ahead, 0, sizeof claim->ahead);
    for (int i = 0; i < names->count; i++) {
        int32_t number = number_of(names->data[i], mark_of(0));
        found |= number == own;
        bool better = has(FARTHEST) ? chosen == NO_NUMBER || number < chosen : number > chosen;
        bool behind = has(BY_NAME) ? number == own || strcmp(names->data[i], ours) > 0 : number >= own;
        if (number == NO_NUMBER || behind || !better || strlen(names->data[i]) >= NAME_MAX_BYTES) {
            continue;
        }
        chosen = number;
        memset(claim->ahead, 0, sizeof claim->ahead);
        strcpy(claim->ahead, names->data[i]);
    }
    return found;
}

static void on_line(int rc, const struct String_vector *names, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    if (!answered(claim, rc)) {
        return;
    }
    if (rc != ZOK && rc != ZNONODE) {
        fail(claim, rc == ZNOAUTH ? LS_ENOAUTH : LS_EZK);
        return;
    }
    if (rc == ZNONODE || !find_place(claim, names)) {
        begin_node(claim, 0); /* somebody has removed it: to the end of the line */
        memset(claim->ahead, 0, sizeof claim->ahead);
    } else {
        claim->leads = claim->ahead[0] == 0;
        if (!claim->leads && claim->trying && !claim->ended) {
            fail(claim, LS_EBUSY);
            return;
        }
    }
    step(claim);
}

static int list_line(struct claim *claim)
{
    char path[PATH_MAX_BYTES];
    directory(claim, 0, path);
    return zoo_aget_children(claim->recipe->zh, path, 0, on_line, claim);
}

/* ---- room ---- */

static int capacity_of(const struct claim *claim)
{
    int known = claim->recipe->capacity[claim->lock];
    return (known > 0 ? known : spec_of(claim)->capacity) + has(ONE_TOO_MANY);
}

/* How many leases are asked for by now. */
static int asked(const struct claim *claim)
{
    return has(CURATOR_LIKE) ? claim->granted + 1 : has(GRANTS_FIRST) ? 1 : leases_of(claim);
}

/* The largest number of them. A lease that replaces a deleted one stands behind those that came after it. */
static int32_t newest_number(const struct claim *claim)
{
    int32_t number = claim->node[asked(claim)].number;
    for (int i = 1; i <= asked(claim) && !has(REPLACED); i++) {
        number = claim->node[i].number > number ? claim->node[i].number : number;
    }
    return number;
}

/* Which lease of the claim has this number; 0 = none. */
static int lease_at(const struct claim *claim, int32_t number)
{
    int at = leases_of(claim);
    while (at > 0 && (number == NO_NUMBER || claim->node[at].number != number)) {
        at--;
    }
    return at;
}

/* Says whether a lease of the list stands before the newest one of the claim. */
static bool is_before(const struct claim *claim, int32_t number)
{
    int32_t own = newest_number(claim);
    if (has(ALL_CHILDREN)) {
        return number != own;
    }
    if (has(NEWEST_FIRST)) {
        return number > own;
    }
    return number != NO_NUMBER && number < own && !(has(FORGETS_OWN) && lease_at(claim, number) > 0);
}

/* Says whether there is room for the leases of a claim. One that is not in the list is gone. */
static bool has_room(struct claim *claim, const struct String_vector *names)
{
    int before = 0;
    unsigned seen = 0;
    if (has(CHECKS_FIRST)) {
        claim->looked = true;
        return names->count + leases_of(claim) <= capacity_of(claim);
    }
    for (int i = 0; i < names->count; i++) {
        int32_t number = number_of(names->data[i], mark_of(1));
        seen |= 1u << lease_at(claim, number);
        before += is_before(claim, number);
    }
    claim->looked = true;
    for (int i = claim->granted + 1; i <= asked(claim) && !has(WITHOUT_OWN); i++) {
        if ((seen & 1u << i) == 0) {
            begin_node(claim, i);
            claim->looked = false;
            claim->back = claim->back || has(CURATOR_LIKE);
        }
    }
    return claim->looked && before < capacity_of(claim);
}

static void grant(struct claim *claim)
{
    ls_env_timer_stop(claim->recipe->env, &claim->deadline);
    claim->held = true;
    claim->recipe->field = has(CURATOR_376) ? claim : NULL;
    tell(claim, LS_REPORT_GRANTED, 0);
}

/* There is room. */
static void advance(struct claim *claim)
{
    if (has(CHECKS_FIRST)) {
        claim->roomy = true;
        step(claim);
        return;
    }
    if (has(CURATOR_LIKE) && ++claim->granted < leases_of(claim)) {
        claim->back = true; /* it takes the inner lock anew */
        step(claim);
        return;
    }
    grant(claim);
    step(claim);
}

/* By a list of the leases. */
static void decide(struct claim *claim, bool room)
{
    bool wanted = !claim->ended && !claim->back;
    if (wanted && room) {
        advance(claim);
    } else if (wanted && claim->looked && claim->trying && !has(TRY_WAITS)) {
        fail(claim, LS_EBUSY);
    } else {
        step(claim);
    }
}

/* A list of leases was not answered, or refused. Returns true if there is one. */
static bool listed(struct claim *claim, int rc)
{
    if (!answered(claim, rc)) {
        claim->looked = false;
        if (has(CURATOR_335) && claim->recipe->session != 0 && !claim->recipe->stopping && !claim->ended) {
            forget_leases(claim);
            fail(claim, LS_EGAVEUP);
        }
        return false;
    }
    if (rc == ZNONODE && !claim->ended) {
        for (int i = claim->granted + 1; i <= leases_of(claim); i++) {
            begin_node(claim, i); /* the directory is gone, and all leases with it */
        }
        claim->roomy = true;
        step(claim);
    } else if (rc != ZOK && !claim->ended) {
        fail(claim, rc == ZNOAUTH ? LS_ENOAUTH : LS_EZK);
    } else if (rc != ZOK) {
        step(claim);
    }
    return rc == ZOK;
}

static void on_counted(int rc, const struct String_vector *names, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    if (listed(claim, rc)) {
        decide(claim, has_room(claim, names));
    }
}

static int count(struct claim *claim)
{
    char path[PATH_MAX_BYTES];
    directory(claim, 1, path);
    return zoo_aget_children(claim->recipe->zh, path, 0, on_counted, claim);
}

static void on_room_watched(int rc, const struct String_vector *names, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    claim->watching = rc == ZOK ? claim->watching : NOTHING;
    if (listed(claim, rc)) {
        decide(claim, !has(ASLEEP) && has_room(claim, names));
    }
}

/* ---- watches ---- */

static bool is_child(const char *path, const char *parent, const char *name)
{
    size_t size = strlen(parent);
    return strncmp(path, parent, size) == 0 && path[size] == '/' && strcmp(path + size + 1, name) == 0;
}

/* What the claim waits for may have come: a reason to look again, and no more. */
static void on_watch(zhandle_t *zh, int type, int state, const char *path, void *ctx)
{
    struct claim *claim = ctx;
    char line[PATH_MAX_BYTES], leases[PATH_MAX_BYTES];
    (void)state;
    if (type == ZOO_SESSION_EVENT || path == NULL || zh != claim->recipe->zh || claim->watching == NOTHING) {
        return;
    }
    directory(claim, 0, line);
    directory(claim, 1, leases);
    bool ahead = has(WHOLE_LIST) ? strcmp(path, line) == 0 : is_child(path, line, claim->ahead);
    bool ours = claim->watching == ROOM ? strcmp(path, leases) == 0 : ahead;
    if (!ours) {
        return;
    }
    claim->watching = NOTHING;
    claim->looked = false;
    bool waits = (claim->phase == WAITING_AHEAD || claim->phase == WAITING_ROOM) && !claim->ended;
    if (!waits) {
        return;
    }
    memset(claim->ahead, 0, sizeof claim->ahead);
    if (has(UNSEEN) && claim->phase == WAITING_ROOM) {
        decide(claim, true);
    } else {
        step(claim);
    }
}

/* Our node in the line is gone: others may be here too. */
static void on_own_watch(zhandle_t *zh, int type, int state, const char *path, void *ctx)
{
    struct claim *claim = ctx;
    (void)state;
    if (type == ZOO_SESSION_EVENT || path == NULL || zh != claim->recipe->zh || !claim->watching_own) {
        return;
    }
    claim->watching_own = false;
    if (claim->held || claim->ended || claim->freeing) {
        return;
    }
    if (type != ZOO_DELETED_EVENT) {
        claim->looked = false; /* to watch it again, it looks again */
    } else {
        claim->back = true;
    }
    if (claim->phase == WAITING_ROOM) {
        step(claim);
    }
}

static void on_ahead_watched(int rc, const char *value, int size, const struct Stat *stat, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    (void)value;
    (void)size;
    (void)stat;
    claim->watching = rc == ZOK ? claim->watching : NOTHING;
    if (!answered(claim, rc)) {
        return;
    }
    if (rc != ZOK && rc != ZNONODE && !claim->ended) {
        fail(claim, rc == ZNOAUTH ? LS_ENOAUTH : LS_EZK);
        return;
    }
    if (claim->watching == NOTHING) {
        memset(claim->ahead, 0, sizeof claim->ahead); /* it has gone: look again */
    }
    step(claim);
}

static void on_own_watched(int rc, const char *value, int size, const struct Stat *stat, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    (void)value;
    (void)size;
    (void)stat;
    claim->watching_own = rc == ZOK && claim->watching_own;
    if (!answered(claim, rc)) {
        return;
    }
    claim->back = claim->back || rc == ZNONODE;
    step(claim);
}

/* WHOLE_LIST */
static void on_line_watched(int rc, const struct String_vector *names, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    if (rc == ZOK && find_place(claim, names)) {
        claim->leads = claim->ahead[0] == 0;
    }
    on_ahead_watched(rc, NULL, 0, NULL, ctx);
}

static int watch_ahead(struct claim *claim)
{
    char path[PATH_MAX_BYTES];
    ahead_path(claim, path);
    claim->watching = AHEAD;
    return has(WHOLE_LIST)
               ? zoo_awget_children(claim->recipe->zh, path, on_watch, claim, on_line_watched, claim)
               : zoo_awget(claim->recipe->zh, path, on_watch, claim, on_ahead_watched, claim);
}

static int watch_room(struct claim *claim)
{
    char path[PATH_MAX_BYTES];
    directory(claim, 1, path);
    claim->watching = ROOM;
    return zoo_awget_children(claim->recipe->zh, path, on_watch, claim, on_room_watched, claim);
}

static int watch_own(struct claim *claim)
{
    char path[PATH_MAX_BYTES];
    node_path(claim, 0, path);
    claim->watching_own = true;
    return zoo_awget(claim->recipe->zh, path, on_own_watch, claim, on_own_watched, claim);
}

static void on_unwatched(int rc, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    if (answered(claim, rc)) {
        claim->watching = claim->phase == UNWATCHING ? NOTHING : claim->watching;
        claim->watching_own = claim->phase == UNWATCHING && claim->watching_own;
        step(claim);
    }
}

static int remove_watch(struct claim *claim, const char *path, ZooWatcherType type, watcher_fn watcher)
{
    const union {
        void_completion_t function;
        void_completion_t *declared; /* zookeeper.h has one star too many */
    } completion = {.function = on_unwatched};
    return zoo_aremove_watches(claim->recipe->zh, path, type, watcher, claim, 0, completion.declared, claim);
}

static int unwatch(struct claim *claim)
{
    char path[PATH_MAX_BYTES];
    bool children = claim->watching == ROOM;
    if (children) {
        directory(claim, 1, path);
    } else {
        ahead_path(claim, path);
    }
    children = children || has(WHOLE_LIST);
    return remove_watch(claim, path, children ? ZWATCHTYPE_CHILD : ZWATCHTYPE_DATA, on_watch);
}

static int unwatch_own(struct claim *claim)
{
    char path[PATH_MAX_BYTES];
    node_path(claim, 0, path);
    return remove_watch(claim, path, ZWATCHTYPE_DATA, on_own_watch);
}

/* ---- the way back ---- */

/* CURATOR_376: the next turn of the thread that releases. Nobody looks whose lease is in the field now. */
static void on_turn(void *ctx)
{
    struct claim *claim = ctx;
    struct recipe *r = claim->recipe;
    ls_env_unlock(r->env);
    r->field = NULL;
    begin_node(claim, 1);
    step(claim);
    ls_env_lock(r->env);
}

static void on_deleted(int rc, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    struct recipe *r = claim->recipe;
    bool done = answered(claim, rc);
    bool lives = r->session != 0 && !r->stopping;
    done = done || (has(KAZOO_429) && lives && claim->at == 0 && claim->ended && claim->trying);
    done = done || (has(DELETES_ONCE) && lives && claim->at > 0 && claim->freeing);
    if (!done) {
        return;
    }
    if (has(CURATOR_376) && claim->at == 1 && claim->freeing) {
        ls_env_timer_start(r->env, &claim->turn, "turn-timer", 1, on_turn, claim);
        return;
    }
    begin_node(claim, claim->at);
    if (has(FREED_HALF) && claim->at > 0 && claim->freeing) {
        tell(claim, LS_REPORT_FREED, 0);
        claim->ended = true;
        claim->freeing = false;
    }
    step(claim);
}

/* OTHERS_LEASE, NEWEST_BACK */
static void on_oldest(int rc, const struct String_vector *names, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    char path[PATH_MAX_BYTES];
    int oldest = 0;
    if (!answered(claim, rc)) {
        return;
    }
    for (int i = 1; rc == ZOK && i < names->count; i++) {
        int32_t number = number_of(names->data[i], mark_of(1));
        int32_t best = number_of(names->data[oldest], mark_of(1));
        if (has(NEWEST_BACK) ? number > best : number < best) {
            oldest = i;
        }
    }
    if (rc != ZOK || names->count == 0) {
        on_deleted(ZNONODE, claim);
        return;
    }
    directory(claim, 1, path);
    size_t size = strlen(path);
    snprintf(path + size, sizeof path - size, "/%s", names->data[oldest]);
    claim->busy = zoo_adelete(claim->recipe->zh, path, -1, on_deleted, claim) == ZOK;
}

static int delete_node(struct claim *claim)
{
    char path[PATH_MAX_BYTES];
    if ((has(OTHERS_LEASE) || has(NEWEST_BACK)) && claim->at > 0 && claim->freeing) {
        directory(claim, 1, path);
        return zoo_aget_children(claim->recipe->zh, path, 0, on_oldest, claim);
    }
    if (has(CURATOR_315) && claim->at == 1 && claim->freeing) {
        claim->node[1] = claim->first;
    }
    node_path(claim, claim->at, path);
    return zoo_adelete(claim->recipe->zh, path, -1, on_deleted, claim);
}

/* ---- what is next ---- */

/* Asks for something, or leaves it to CONNECTED. */
static void ask(struct claim *claim, enum phase phase, int at)
{
    static int (*const send[])(struct claim *) = {[MAKING_PARENT] = make_parent,
                                                  [CREATING] = create,
                                                  [SEARCHING] = search,
                                                  [READING] = read_node,
                                                  [LISTING] = list_line,
                                                  [WATCHING_AHEAD] = watch_ahead,
                                                  [COUNTING] = count,
                                                  [WATCHING_ROOM] = watch_room,
                                                  [WATCHING_OWN] = watch_own,
                                                  [UNWATCHING] = unwatch,
                                                  [UNWATCHING_OWN] = unwatch_own,
                                                  [DELETING] = delete_node};
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
        on_unwatched(ZOK, claim); /* it has fired, and nothing was sent */
    } else if (rc != ZINVALIDSTATE) {
        lose_session(claim->recipe); /* the library is short of memory: no event follows */
    }
}

/* Removes what is no longer needed: watches, then nodes from the end on. Says whether there was something. */
static bool remove_next(struct claim *claim, int leases)
{
    if (claim->watching != NOTHING && !has(WATCH_STAYS)) {
        ask(claim, UNWATCHING, 0);
        return true;
    }
    if (claim->watching_own) {
        ask(claim, UNWATCHING_OWN, 0);
        return true;
    }
    for (int at = leases; at >= 0; at--) {
        struct node *node = &claim->node[at];
        bool kept = (has(RETURNS_ONE) && at > 1 && claim->freeing) ||
                    (has(CANCEL_STANDS) && at == 0 && claim->ended && !claim->trying);
        if (!kept && (node->maybe || node->number != NO_NUMBER)) {
            ask(claim, node->maybe ? SEARCHING : DELETING, at);
            return true;
        }
    }
    return false;
}

/* Makes sure of one node: creates it, looks for it, or reads it. Says whether there is something to do. */
static bool make_node(struct claim *claim, int at)
{
    struct node *node = &claim->node[at];
    if (node->maybe || node->number == NO_NUMBER) {
        ask(claim, node->maybe ? SEARCHING : CREATING, at);
        return true;
    }
    if (node->czxid == 0) {
        ask(claim, READING, at);
        return true;
    }
    return false;
}

/* Comes first in the line. Says whether there is something to do or to wait for. */
static bool queue_up(struct claim *claim)
{
    if (make_node(claim, 0)) {
        return true;
    }
    if (claim->leads && claim->watching != AHEAD) {
        return false;
    }
    if (claim->leads) {
        ask(claim, UNWATCHING, 0); /* WHOLE_LIST */
    } else if (claim->ahead[0] == 0) {
        ask(claim, LISTING, 0);
    } else if (claim->watching == NOTHING) {
        ask(claim, WATCHING_AHEAD, 0);
    } else {
        claim->phase = WAITING_AHEAD;
    }
    return true;
}

static bool uses_line(const struct claim *claim)
{
    if (has(EARLY_UNLOCK)) {
        return claim->node[leases_of(claim)].number == NO_NUMBER;
    }
    return !has(NO_LINE) && !(has(TRY_BARGES) && claim->trying);
}

static void wait_for_room(struct claim *claim)
{
    bool part = leases_of(claim) > 1 && uses_line(claim) && !has(PART_EACH);
    if (claim->watching == NOTHING) {
        ask(claim, claim->looked ? WATCHING_ROOM : COUNTING, 0);
    } else if (part && !claim->watching_own) {
        ask(claim, WATCHING_OWN, 0);
    } else {
        claim->phase = WAITING_ROOM;
    }
}

static void take(struct claim *claim)
{
    for (int at = 0; at <= asked(claim) && has(TAKES_IN_LINE); at++) {
        if (make_node(claim, at)) {
            return;
        }
    }
    if (uses_line(claim) && queue_up(claim)) {
        return;
    }
    if (has(CHECKS_FIRST) && !claim->roomy) {
        wait_for_room(claim);
        return;
    }
    for (int at = claim->granted + 1; at <= asked(claim); at++) {
        if (make_node(claim, at)) {
            return;
        }
    }
    if (has(EARLY_UNLOCK) && claim->node[0].number != NO_NUMBER) {
        ask(claim, DELETING, 0);
    } else if (has(CHECKS_FIRST)) {
        grant(claim);
        step(claim);
    } else {
        wait_for_room(claim);
    }
}

/* Gives up what there is, and begins again. CURATOR_LIKE: what is granted stays. */
static void take_back(struct claim *claim)
{
    if (remove_next(claim, has(CURATOR_LIKE) ? 0 : leases_of(claim))) {
        return;
    }
    if (has(CURATOR_LIKE)) {
        begin_node(claim, 0);
        memset(claim->ahead, 0, sizeof claim->ahead);
        claim->leads = claim->looked = claim->back = false;
    } else {
        begin(claim);
    }
    take(claim);
}

static void step(struct claim *claim)
{
    if (claim->turn.armed) {
        return; /* on_turn() goes on */
    }
    if (claim->ended || claim->freeing) {
        if (!remove_next(claim, leases_of(claim))) {
            forget(claim);
        }
    } else if (claim->held) {
        if (has(LINE_STAYS) || !remove_next(claim, 0)) {
            claim->phase = HELD;
        }
    } else if (claim->back) {
        take_back(claim);
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
        ls_env_timer_stop(r->env, &r->claim[i].turn);
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
    if (has(TIMELESS) && claim->leads) {
        return;
    }
    ls_env_unlock(env);
    fail(claim, LS_ETIMEDOUT);
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
    if (timeout_ms == 0 && !r->connected) {
        return LS_EBUSY; /* nobody can be asked now */
    }
    if (timeout_ms > 0 && ls_env_timer_start(r->env, &claim->deadline, "deadline-timer", (uint32_t)timeout_ms,
                                             on_deadline, claim) != 0) {
        return LS_ENOMEM;
    }
    claim->lock = (uint8_t)lock;
    claim->owner = (uint8_t)owner;
    claim->trying = timeout_ms == 0;
    claim->phase = CREATING;
    begin(claim);
    for (int i = 0; i < CLAIMS_MAX && has(SHARES_NODE); i++) {
        if (r->claim[i].held && r->claim[i].lock == lock) {
            memcpy(claim->node + 1, r->claim[i].node + 1, sizeof claim->node - sizeof *claim->node);
            claim->phase = HELD;
            grant(claim);
            return 0;
        }
    }
    step(claim);
    return 0;
}

static int cancel(void *state, int lock, int owner)
{
    struct claim *claim = find(state, lock, owner);
    if (claim == NULL || claim->held) {
        return LS_ENOENT;
    }
    if (!has(IGNORES_CANCEL) || !claim->leads) {
        fail(claim, LS_ECANCELED);
    }
    return 0;
}

static int release(void *state, int lock, int owner)
{
    struct recipe *r = state;
    struct claim *claim = find(r, lock, owner);
    if (claim == NULL || !claim->held || (has(CURATOR_376) && r->field == NULL)) {
        return LS_ENOTOWNER;
    }
    for (int i = 0; i < CLAIMS_MAX && has(WRONG_OWNER); i++) {
        claim = r->claim[i].held && r->claim[i].lock == lock ? &r->claim[i] : claim;
    }
    if (has(FREED_EARLY)) {
        tell(claim, LS_REPORT_FREED, 0);
    }
    claim->ended = has(FREED_EARLY);
    claim->freeing = !claim->ended;
    claim->held = false;
    if (!claim->busy) {
        step(claim);
    }
    return 0;
}

/* Claims that wait for room look again. */
static int set_capacity(void *state, int lock, int capacity)
{
    struct recipe *r = state;
    int declared = r->config->locks[lock].capacity;
    int before = r->capacity[lock] > 0 ? r->capacity[lock] : declared;
    if (has(LARGEST_COUNT) && capacity < before) {
        return 0;
    }
    r->capacity[lock] = (uint16_t)(capacity == declared ? 0 : capacity);
    for (int i = 0; i < CLAIMS_MAX; i++) {
        struct claim *claim = &r->claim[i];
        if (claim->lock == lock && claim->phase == WAITING_ROOM && !claim->ended && !has(CURATOR_75)) {
            ask(claim, COUNTING, 0);
        }
    }
    return 0;
}

static enum ls_belief query(const void *state, int lock, int owner)
{
    struct recipe *r = (struct recipe *)(uintptr_t)state;
    const struct claim *claim = find(r, lock, owner);
    if (claim == NULL || !claim->held) {
        return LS_NOT_HELD;
    }
    bool fresh = ls_env_elapsed_ms(r->env, &claim->sent) * 2 < r->timeout_ms;
    return (r->connected && fresh) || has(BELIEVES) ? LS_HELD : LS_UNKNOWN;
}

static bool idle(const void *state)
{
    const struct recipe *r = state;
    for (int i = 0; i < CLAIMS_MAX; i++) {
        const struct claim *claim = &r->claim[i];
        if (claim->ended || (claim->held && claim->phase != HELD)) {
            return false;
        }
    }
    return true;
}

static enum ls_node_class classify(const struct ls_recipe_config *config, const char *below, int *lock)
{
    (void)config;
    (void)lock;
    if (strncmp(below, "locks/", 6) == 0 && number_of(below, mark_of(0)) != NO_NUMBER) {
        return LS_NODE_QUEUED;
    }
    bool lease = strncmp(below, "leases/", 7) == 0 && number_of(below, mark_of(1)) != NO_NUMBER;
    return lease ? LS_NODE_CONTENDER : LS_NODE_OTHER;
}

static void show_node(const struct node *node, struct ls_rename *rename)
{
    rename->zxid(rename, &node->czxid);
    rename->sequence(rename, &node->number);
    rename->attempt(rename, node->id);
}

static void canon(const void *state, struct ls_rename *rename)
{
    const struct recipe *r = state;
    rename->session(rename, &r->session);
    for (int i = 0; i < CLAIMS_MAX; i++) {
        const struct claim *claim = &r->claim[i];
        for (int at = 0; at < NODES_MAX && claim->phase != FREE; at++) {
            show_node(&claim->node[at], rename);
        }
        if (claim->phase != FREE) {
            rename->text(rename, claim->ahead);
        }
        show_node(&claim->first, rename);
    }
}

static const char *const directories[] = {"leases", "locks", NULL};

static const struct ls_timer_row timers[] = {
    {"deadline-timer", LS_TIMER_DEADLINE}, {"turn-timer", LS_TIMER_STEP}, {NULL, LS_TIMER_WORK}};

#ifndef STORY
#define STORY                                                                                                \
    .name = "leases", .summary = "a semaphore of an inner lock and a list of leases, as Curator has it"
#endif

static const struct ls_recipe leases = {
    STORY,
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
    .symmetric = true,
    .timers = timers,
    .directories = directories,
    .contender_per_unit = true,
    .queues = true,
    .set_capacity = set_capacity,
};

LS_RECIPE_MODULE(leases);
