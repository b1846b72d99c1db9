/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Any calls of zookeeper.h on the fake, in any order, among steps and faults of the ensemble. What must hold whatever happens
 * (F-rules of docs/fidelity.md):
 *
 *   F36  callbacks of one handle never run inside each other
 *   F39  the event of a change comes before an answer that shows it
 *   F40  the answers of one handle come in the order of its requests; each request that was taken has one answer, at the
 *        latest when its handle is closed
 *   F42  what one session reads of a node never goes back
 *   F43  what a session is told about its link alternates
 *   F84  a closed session has no ephemeral node, and F86: none comes after it
 *
 * and the ensemble comes to rest. Three bytes are one operation: what, and two that say with which arguments; four bytes before
 * them say which ensemble it is. */
#include "target.h"

#include "base/arena.h"

#include <lockstep/fakezk.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#define ARENA_BYTES (4u << 20)
#define HEADER 4
#define OPERATION 3
#define OPERATIONS_MAX 600
#define CLIENTS 3
#define REQUESTS_MAX (OPERATIONS_MAX * 2)
#define SESSIONS_MAX 256
#define STEPS_MAX 512
#define REST_MAX 100000 /* steps until the ensemble is at rest */
#define UNWATCHED (-1)

static const char *const PATHS[] = {"/a",    "/b", "/a/x", "/a/y", "/a/x/z", "/c-",
                                    "/a/n-", "",   "/",    "bad",  "/a/",    "/a//x"};
#define PATHS_GOOD 7 /* of them, in front */
#define PATH_COUNT (sizeof PATHS / sizeof PATHS[0])

enum call {
    CALL_CREATE,
    CALL_CREATE2,
    CALL_DELETE,
    CALL_SET,
    CALL_EXISTS,
    CALL_GET,
    CALL_CHILDREN,
    CALL_CHILDREN2,
    CALL_SYNC,
    CALL_GET_ACL,
    CALL_SET_ACL,
    CALL_MULTI,
    CALL_UNWATCH,
    CALL_UNWATCH_ALL,
    CALL_AUTH,
    CALLS
};

static const char *const CALL_NAMES[CALLS] = {"create",  "create2",  "delete",    "set",         "exists",
                                              "get",     "children", "children2", "sync",        "get_acl",
                                              "set_acl", "multi",    "unwatch",   "unwatch_all", "add_auth"};

struct handle {
    zhandle_t *zh;
    int client;
    int inside;               /* callbacks that run */
    unsigned asked;           /* requests taken so far */
    unsigned answered;        /* number of the last one that was answered */
    int link;                 /* state argument of the last session event */
    int64_t seen[PATH_COUNT]; /* mzxid of the newest read */
    /* mzxid when a watch was set on this connection, 0 = there was no node; or UNWATCHED */
    int64_t watched[PATH_COUNT];
};

struct request {
    struct handle *handle;
    zoo_op_result_t results[3];
    unsigned number; /* among those of its handle, from 1 */
    uint8_t call, path;
    bool local;   /* may be answered out of turn */
    bool watches; /* sets a watch on the node */
};

static struct arena arena;
static struct handle handle[CLIENTS * FAKEZK_HANDLES_MAX];
static struct request request[REQUESTS_MAX];
static unsigned requests, missing;   /* missing: answers that are still to come */
static int ephemerals[SESSIONS_MAX]; /* of each session; -1 = it is closed */
static bool dropping;                /* the defect: answers may stay out at close */
static bool forgetting;              /* the defect: events of deletions may stay out */

static bool told_table[CALLS][256];
static unsigned long taken[CALLS], inputs;

static void wrong(const char *what)
{
    if (target_verbose) {
        static char dump[1 << 16];
        fakezk_dump(dump, sizeof dump);
        fprintf(stderr, "%s\n%s", what, dump);
    }
    abort();
}

static void expect(bool holds, const char *what)
{
    if (!holds) {
        wrong(what);
    }
}

/* A call and what came of it; in which order things come is what a fuzzer is to vary. */
static void tell_call(uint8_t call, int rc)
{
    static unsigned last;
    unsigned now = (unsigned)call << 8 | (uint8_t)-rc;
    told_table[call][(uint8_t)-rc] = true;
    if (target_counters != NULL) {
        target_counters[(last * 31 + now) & (TARGET_COUNTERS - 1)] |= 1;
    }
    last = now;
}

/* ---- watches ---- */

static void forget_watches(struct handle *h)
{
    for (size_t place = 0; place < PATH_COUNT; place++) {
        h->watched[place] = UNWATCHED;
    }
}

/* Below a chroot no path at all is the chroot itself, as "/" is. */
static bool name_one_node(const char *a, const char *b)
{
    return strcmp(*a ? a : "/", *b ? b : "/") == 0;
}

static void forget_watch(struct handle *h, const char *path)
{
    for (size_t place = 0; place < PATH_COUNT; place++) {
        if (name_one_node(PATHS[place], path)) {
            h->watched[place] = UNWATCHED;
        }
    }
}

/* A node was shown as it is since this zxid, or not to be there (0). */
static void shown(const struct request *r, int64_t mzxid)
{
    int64_t *watched = &r->handle->watched[r->path];
    expect(*watched == UNWATCHED || *watched == mzxid || forgetting,
           "F39: an answer shows a change before its event comes");
    bool set = r->watches && (mzxid != 0 || r->call == CALL_EXISTS); /* F66 */
    *watched = set ? mzxid : *watched;
}

/* ---- what is called back ---- */

static void enter(struct handle *h)
{
    expect(h->inside++ == 0, "F36: a callback runs inside another of its handle");
}

static void leave(struct handle *h)
{
    h->inside--;
}

static void answered(const void *data, int rc)
{
    struct request *r = (struct request *)(uintptr_t)data;
    struct handle *h = r->handle;
    enter(h);
    expect(r->number != 0, "F40: a request is answered twice");
    expect(r->local || r->number > h->answered, "F40: answers come in another order than requests");
    if (!r->local) {
        h->answered = r->number;
    }
    r->number = 0;
    missing--;
    if (r->call == CALL_UNWATCH || r->call == CALL_UNWATCH_ALL) {
        forget_watch(h, PATHS[r->path]);
    }
    tell_call(r->call, rc);
    leave(h);
}

static void on_void(int rc, const void *data)
{
    answered(data, rc);
}

static void on_string(int rc, const char *value, const void *data)
{
    expect((rc == ZOK) == (value != NULL), "a string comes with ZOK alone");
    answered(data, rc);
}

static void on_string_stat(int rc, const char *value, const struct Stat *stat, const void *data)
{
    expect((rc == ZOK) == (stat != NULL), "a stat comes with ZOK alone");
    on_string(rc, value, data);
}

static void saw(const void *data, const struct Stat *stat)
{
    const struct request *r = data;
    if (stat != NULL) {
        int64_t *seen = &r->handle->seen[r->path];
        expect(stat->mzxid >= *seen, "F42: a session reads an older state than before");
        *seen = stat->mzxid;
        expect(stat->czxid <= stat->mzxid, "a node is changed before it is created");
        shown(r, stat->mzxid);
    }
}

static void on_stat(int rc, const struct Stat *stat, const void *data)
{
    const struct request *r = data;
    expect((rc == ZOK) == (stat != NULL), "a stat comes with ZOK alone");
    saw(data, stat);
    if (rc == ZNONODE && (r->call == CALL_EXISTS || r->call == CALL_GET)) {
        shown(r, 0);
    }
    answered(data, rc);
}

static void on_data(int rc, const char *value, int size, const struct Stat *stat, const void *data)
{
    expect(size <= 0 || value != NULL, "a size without bytes");
    on_stat(rc, stat, data);
}

static void on_strings(int rc, const struct String_vector *strings, const void *data)
{
    expect((rc == ZOK) == (strings != NULL), "a list comes with ZOK alone");
    for (int i = 0; strings != NULL && i < strings->count; i++) {
        expect(strings->data[i] != NULL && strings->data[i][0] != 0, "a child without a name");
    }
    answered(data, rc);
}

static void on_strings_stat(int rc, const struct String_vector *strings, const struct Stat *stat,
                            const void *data)
{
    expect(rc != ZOK || (stat != NULL && stat->numChildren == strings->count),
           "a list is as long as its stat says");
    on_strings(rc, strings, data);
}

static void on_acl(int rc, struct ACL_vector *acl, struct Stat *stat, const void *data)
{
    (void)acl;
    (void)stat;
    answered(data, rc);
}

static void on_watch(zhandle_t *zh, int type, int state, const char *path, void *ctx)
{
    struct handle *h = ctx;
    (void)zh;
    enter(h);
    if (type != ZOO_SESSION_EVENT) {
        expect(path != NULL && path[0] != 0, "a node event without a path"); /* "bad" below a chroot is one */
        expect(state == ZOO_CONNECTED_STATE, "F77: a node event of a broken link");
        if (type != ZOO_CHILD_EVENT) {
            forget_watch(h, path);
        }
    }
    leave(h);
}

static void on_session(zhandle_t *zh, int type, int state, const char *path, void *ctx)
{
    struct handle *h = ctx;
    if (type != ZOO_SESSION_EVENT) {
        on_watch(zh, type, state, path, ctx);
        return;
    }
    enter(h);
    expect(state != h->link || state == ZOO_AUTH_FAILED_STATE, "F43: a session is told the same twice");
    expect(h->link != ZOO_EXPIRED_SESSION_STATE, "F43: a session is told something after its end");
    h->link = state;
    forget_watches(h);
    leave(h);
}

static void observe(void *ctx, const struct fakezk_event *event)
{
    (void)ctx;
    bool mine = event->ephemeral && event->session > 0 && event->session < SESSIONS_MAX;
    if (event->kind == FAKEZK_NODE_CREATED && mine) {
        expect(ephemerals[event->session] >= 0, "F86: a closed session creates a node");
        ephemerals[event->session]++;
    } else if (event->kind == FAKEZK_NODE_DELETED && mine) {
        ephemerals[event->session]--;
    } else if (event->kind == FAKEZK_SESSION_CLOSED && event->session < SESSIONS_MAX) {
        expect(ephemerals[event->session] <= 0, "F84: a closed session has nodes");
        ephemerals[event->session] = -1;
    }
}

/* ---- calls ---- */

static struct request *new_request(struct handle *h, enum call call, uint8_t path)
{
    struct request *r = &request[requests++];
    memset(r, 0, sizeof *r);
    r->handle = h;
    r->call = (uint8_t)call;
    r->path = path;
    r->number = ++h->asked;
    missing++;
    return r;
}

static void multi(struct request *r, const char *path, uint8_t how, int *rc)
{
    static char created[64];
    zoo_op_t ops[3];
    int count = 1 + how % 3;
    for (int i = 0; i < count; i++) {
        switch (how >> (2 + i * 2) & 3) {
        case 0:
            zoo_create_op_init(&ops[i], path, "m", 1, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL, created,
                               sizeof created);
            break;
        case 1:
            zoo_delete_op_init(&ops[i], path, -1);
            break;
        case 2:
            zoo_set_op_init(&ops[i], path, "s", 1, -1, NULL);
            break;
        default:
            zoo_check_op_init(&ops[i], path, (int)(how & 1));
            break;
        }
    }
    *rc = zoo_amulti(r->handle->zh, count, ops, r->results, on_void, r);
}

static int create_flags(uint8_t how)
{
    const int flags[] = {ZOO_PERSISTENT, ZOO_EPHEMERAL, ZOO_PERSISTENT_SEQUENTIAL, ZOO_EPHEMERAL_SEQUENTIAL,
                         ZOO_CONTAINER,  ZOO_EPHEMERAL, ZOO_EPHEMERAL_SEQUENTIAL,  77};
    return flags[how & 7];
}

static void call(struct handle *h, enum call which, uint8_t path_index, uint8_t how)
{
    const union {
        void_completion_t function;
        void_completion_t *declared; /* zookeeper.h has one star too many */
    } unwatched = {.function = on_void};
    zhandle_t *zh = h->zh;
    uint8_t place = (uint8_t)(path_index % PATH_COUNT);
    const char *path = PATHS[place];
    watcher_fn watcher = how & 1 ? on_watch : NULL;
    struct request *r = new_request(h, which, place);
    r->watches = watcher != NULL && (which == CALL_EXISTS || which == CALL_GET);
    int version = how & 2 ? -1 : how >> 5, rc = ZBADARGUMENTS;
    switch (which) {
    case CALL_CREATE:
        rc = zoo_acreate(zh, path, "v", 1, &ZOO_OPEN_ACL_UNSAFE, create_flags(how), on_string, r);
        break;
    case CALL_CREATE2:
        rc = zoo_acreate2(zh, path, NULL, -1, how & 8 ? &ZOO_CREATOR_ALL_ACL : &ZOO_OPEN_ACL_UNSAFE,
                          create_flags(how), on_string_stat, r);
        break;
    case CALL_DELETE:
        rc = zoo_adelete(zh, path, version, on_void, r);
        break;
    case CALL_SET:
        rc = zoo_aset(zh, path, "new", how & 4 ? 3 : 0, version, on_stat, r);
        break;
    case CALL_EXISTS:
        rc = zoo_awexists(zh, path, watcher, h, on_stat, r);
        break;
    case CALL_GET:
        rc = zoo_awget(zh, path, watcher, h, on_data, r);
        break;
    case CALL_CHILDREN:
        rc = zoo_awget_children(zh, path, watcher, h, on_strings, r);
        break;
    case CALL_CHILDREN2:
        rc = zoo_awget_children2(zh, path, watcher, h, on_strings_stat, r);
        break;
    case CALL_SYNC:
        rc = zoo_async(zh, path, on_string, r);
        break;
    case CALL_GET_ACL:
        rc = zoo_aget_acl(zh, path, on_acl, r);
        break;
    case CALL_SET_ACL:
        rc = zoo_aset_acl(zh, path, version, how & 8 ? &ZOO_READ_ACL_UNSAFE : &ZOO_OPEN_ACL_UNSAFE, on_void,
                          r);
        break;
    case CALL_MULTI:
        multi(r, path, how, &rc);
        break;
    case CALL_UNWATCH:
        r->local = true;
        forget_watch(h, path);
        rc = zoo_aremove_watches(zh, path, how & 2 ? ZWATCHTYPE_ANY : ZWATCHTYPE_DATA, on_watch, h, how & 1,
                                 unwatched.declared, r);
        break;
    case CALL_UNWATCH_ALL:
        r->local = true;
        forget_watch(h, path);
        rc = zoo_aremove_all_watches(zh, path, ZWATCHTYPE_ANY, how & 1, unwatched.declared, r);
        break;
    default:
        r->local = true;
        rc = zoo_add_auth(zh, how & 1 ? "digest" : "other", "u:p", 3, on_void, r);
        break;
    }
    if (rc == ZOK) {
        taken[which]++;
    } else {
        expect(r->number != 0, "a refused request is answered");
        r->number = 0; /* nothing was sent, and nothing comes */
        missing--;
        tell_call((uint8_t)which, rc);
    }
}

/* ---- handles ---- */

static void open_handle(int client, uint8_t how)
{
    for (int slot = 0; slot < FAKEZK_HANDLES_MAX; slot++) {
        struct handle *h = &handle[client * FAKEZK_HANDLES_MAX + slot];
        if (h->zh == NULL) {
            memset(h, 0, sizeof *h);
            forget_watches(h);
            h->client = client;
            h->zh =
                zookeeper_init(how & 1 ? "s1:1,s2:1,s3:1" : "s1:1,s2:1,s3:1/a", on_session, 4000, NULL, h, 0);
            return;
        }
    }
}

static void close_handle(struct handle *h)
{
    zookeeper_close(h->zh);
    for (unsigned i = 0; i < requests; i++) {
        if (request[i].handle == h && request[i].number != 0) {
            expect(dropping || request[i].number == 0,
                   "F21: a request has no answer when its handle is closed");
            request[i].number = 0;
            missing--;
        }
    }
    h->zh = NULL;
}

/* Its process is gone: nobody is told anything. */
static void crash(int client)
{
    fakezk_crash(client);
    for (unsigned i = 0; i < requests; i++) {
        if (request[i].handle->client == client && request[i].number != 0) {
            request[i].number = 0;
            missing--;
        }
    }
    for (int slot = 0; slot < FAKEZK_HANDLES_MAX; slot++) {
        handle[client * FAKEZK_HANDLES_MAX + slot].zh = NULL;
    }
}

/* ---- operations ---- */

static bool step(uint8_t which)
{
    struct fakezk_step steps[STEPS_MAX];
    int count = fakezk_steps(steps, STEPS_MAX);
    if (count > 0) {
        fakezk_step(&steps[which % count]);
    }
    return count > 0;
}

static void fault(int client, uint8_t which, uint8_t how, int servers)
{
    int slot = how & 1, server = how % servers;
    switch (which % 12) {
    case 0:
    case 1:
        fakezk_cut(client, slot, how >> 2 & 3, how >> 4 & 3, how & 2 ? ZOPERATIONTIMEOUT : ZCONNECTIONLOSS,
                   which % 12 == 1);
        break;
    case 2:
        fakezk_refuse(client, slot);
        break;
    case 3:
        fakezk_partition(client, how & 2);
        break;
    case 4:
        fakezk_pause(client, how & 2);
        break;
    case 5:
        crash(client);
        break;
    case 6:
        fakezk_expire(fakezk_session(client, slot));
        break;
    case 7:
        if (server > 0) {
            fakezk_freeze(server, how & 8);
        }
        break;
    case 8:
        if (server > 0) {
            fakezk_lag(server, how & 8);
        }
        break;
    case 9:
        fakezk_restart_server(server);
        break;
    case 10:
        fakezk_sweep(PATHS[how % PATHS_GOOD]);
        break;
    default:
        if (how & 1) {
            fakezk_operator_create(PATHS[how / 2 % PATHS_GOOD], 0, how & 128);
        } else {
            fakezk_operator_remove(PATHS[how / 2 % PATHS_GOOD]);
        }
        break;
    }
}

/* What: the high bit is a step of the ensemble, or else the low bits choose. */
static void operate(const uint8_t *bytes, int servers)
{
    int client = bytes[0] % CLIENTS;
    unsigned what = bytes[0] / CLIENTS % 28;
    struct handle *h = &handle[client * FAKEZK_HANDLES_MAX + (bytes[2] >> 7)];
    if (bytes[0] >= 168) {
        for (int i = bytes[1] & 3; i >= 0 && step(bytes[2]); i--) {
        }
        return;
    }
    if (what >= 20 && what < 24) {
        fault(client, bytes[1], bytes[2], servers);
        return;
    }
    if (fakezk_is_paused(client)) {
        return; /* it does nothing */
    }
    fakezk_enter(client);
    if (what >= 26 || h->zh == NULL) {
        open_handle(client, bytes[1]);
    } else if (what >= 24) {
        close_handle(h);
    } else if (requests < REQUESTS_MAX) {
        call(h, (enum call)(what % CALLS), bytes[1], bytes[2]);
    }
    fakezk_leave();
}

/* ---- an input ---- */

static void open_ensemble(const uint8_t *header, int servers)
{
    struct fakezk_options options = {.clients = CLIENTS, .servers = servers, .tick_ms = 2000};
    options.seed = header[1];
    options.defects = header[2] & (FAKEZK_DEFECT_WRAP | FAKEZK_DEFECT_DROP_AT_CLOSE |
                                   FAKEZK_DEFECT_MISSED_WATCH | FAKEZK_DEFECT_CURSOR);
    options.no_containers = header[3] & 1;
    options.callbacks_in_init = header[3] & 2;
    options.fixed_orders = header[3] & 4;
    dropping = (options.defects & FAKEZK_DEFECT_DROP_AT_CLOSE) != 0;
    forgetting = (options.defects & FAKEZK_DEFECT_MISSED_WATCH) != 0;
    if (arena.base == NULL && arena_open(&arena, ARENA_BYTES) != 0) {
        abort();
    }
    arena_clear(&arena);
    memset(handle, 0, sizeof handle);
    memset(ephemerals, 0, sizeof ephemerals);
    requests = missing = 0;
    fakezk_open(&arena, &options, observe, NULL);
}

/* Faults end, and everything that can happen does. */
static void come_to_rest(int servers)
{
    for (int client = 0; client < CLIENTS; client++) {
        fakezk_partition(client, false);
        fakezk_pause(client, false);
    }
    for (int server = 1; server < servers; server++) {
        fakezk_freeze(server, false);
        fakezk_lag(server, false);
    }
    int left = REST_MAX;
    while (fakezk_trouble() == NULL && fakezk_busy() && step(0)) {
        expect(--left > 0, "the ensemble does not come to rest");
    }
    for (size_t i = 0; i < sizeof handle / sizeof handle[0] && fakezk_trouble() == NULL; i++) {
        if (handle[i].zh != NULL) {
            fakezk_enter(handle[i].client);
            close_handle(&handle[i]);
            fakezk_leave();
        }
    }
    expect(fakezk_trouble() != NULL || missing == 0, "F40: a request has no answer at the end");
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t header[HEADER] = {0};
    memcpy(header, data, size < HEADER ? size : HEADER);
    int servers = 1 + header[0] % 3;
    open_ensemble(header, servers);
    size_t count = size < HEADER ? 0 : (size - HEADER) / OPERATION;
    for (size_t i = 0; i < count && i < OPERATIONS_MAX && fakezk_trouble() == NULL; i++) {
        operate(data + HEADER + i * OPERATION, servers);
    }
    come_to_rest(servers);
    inputs++;
    return 0;
}

void target_tell(void)
{
    unsigned long all = 0;
    for (int c = 0; c < CALLS; c++) {
        fprintf(stderr, "%-12s %9lu  ", CALL_NAMES[c], taken[c]);
        all += taken[c];
        for (int rc = 0; rc < 256; rc++) {
            if (told_table[c][rc]) {
                fprintf(stderr, " %d", -rc);
            }
        }
        fprintf(stderr, "\n");
    }
    fprintf(stderr, "%lu inputs, %.1f accepted calls each\n", inputs,
            inputs > 0 ? (double)all / (double)inputs : 0);
}
