/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The asynchronous calls: checked as the client library checks them (F16, F55), then queued in the handle. */
#include "base/assert.h"
#include "fakezk/internal.h"

#include <string.h>
#include <zookeeper/proto.h>

/* The arguments of a call before they are packed into a request. */
struct ask {
    int op;
    const char *path;
    const void *value;
    int value_size;
    int mode;
    int perms;
    int own_perms;
    int version;
    code_fn completion;
    const void *data;
    watcher_fn watcher;
    void *watch_context;
    void *out;
    int out_size;
};

static void ask_acl(struct ask *ask, const struct ACL_vector *acl)
{
    for (int i = 0; acl != NULL && i < acl->count; i++) {
        if (strcmp(acl->data[i].id.scheme, "world") == 0) {
            ask->perms |= acl->data[i].perms;
        } else if (strcmp(acl->data[i].id.scheme, "auth") == 0) {
            ask->own_perms |= acl->data[i].perms;
        } else {
            fakezk_note_trouble("unsupported: ACL scheme %s", acl->data[i].id.scheme);
        }
    }
}

static void pack_request(struct zk_request *request, const struct ask *ask, const struct whole_path *path)
{
    request->version = ask->version;
    request->data_size = ask->value_size;
    request->path_size = (uint16_t)path->size;
    request->mode = (uint8_t)ask->mode;
    request->perms = (uint8_t)ask->perms;
    request->own_perms = (uint8_t)ask->own_perms;
    request->completion = code_pack_fn(ask->completion);
    request->watcher = code_pack_fn((code_fn)ask->watcher);
    request->watch_context = ask->watch_context;
    request->data = ask->data;
    request->out = ask->out;
    request->out_size = ask->out_size;
    memcpy(request->bytes, path->text, path->size);
    request->odd_path = path->odd;
    if (ask->value_size > 0) {
        memcpy(request->bytes + request->path_size + 1, ask->value, (size_t)ask->value_size);
    }
}

static void set_window(const struct pack *pack, int slot, struct zk_request *request)
{
    link_window(&request->lo_ms, &request->hi_ms);
    for (struct rec *rec = pack_first(pack, LIST_REQUEST + slot); rec != NULL && rec != &request->rec;
         rec = pack_next(pack, rec)) {
        const struct zk_request *before = (struct zk_request *)rec;
        request->lo_ms = before->lo_ms > request->lo_ms ? before->lo_ms : request->lo_ms;
        request->hi_ms = before->hi_ms > request->hi_ms ? before->hi_ms : request->hi_ms;
    }
}

static int queue(struct _zhandle *zh, const struct ask *ask, const struct whole_path *path)
{
    if (handle_lacks_memory(zh->client)) {
        return ZMARSHALLINGERROR;
    }
    struct pack pack = client_pack(zh->client);
    size_t value = ask->value_size > 0 ? (size_t)ask->value_size : 0;
    struct zk_request *request = NULL;
    size_t size = sizeof *request + path->size + 1 + value;
    if (size <= REQUEST_BYTES_MAX) {
        request = (struct zk_request *)pack_append(&pack, LIST_REQUEST + zh->slot, size);
    }
    if (request == NULL) {
        fakezk_note_trouble("limit: the requests of a client do not fit");
        return ZSYSTEMERROR;
    }
    request->rec.tag = (uint8_t)ask->op;
    pack_request(request, ask, path);
    int32_t soonest = clock_ms() + 4 * fakezk.options.latency_min_ms;
    if (zh->link && zh->half <= HALF_REARM) {
        request->rec.word = 1;
        auth_sign(request, zh->who);
        set_window(&pack, zh->slot, request);
        zh->sent_ms = clock_ms();
    } else if (fakezk.options.timed && zh->connect_ms > soonest) {
        zh->connect_ms = soonest; /* a request ends the pause (F12) */
    }
    struct fakezk_event event = {.kind = FAKEZK_REQUESTED,
                                 .client = zh->client,
                                 .code = ask->op,
                                 .session = zh->session,
                                 .path = path->text};
    fakezk_emit(&event);
    return ZOK;
}

/* Returns whether a call breaks `ignores_children` or `sets_no_data` of the options, which is a trouble. A
 * multi is not looked at. */
static bool belies(const char *call, const struct ask *ask)
{
    if (ask->watcher != NULL && fakezk.options.ignores_children &&
        (ask->op == OP_CHILDREN || ask->op == OP_CHILDREN2)) {
        fakezk_note_trouble("%s: a watch on children, of a recipe that says that it ignores them", call);
        return true;
    }
    if (ask->op == OP_SET && fakezk.options.sets_no_data) {
        fakezk_note_trouble("%s: data is set, by a recipe that says that it never does that", call);
        return true;
    }
    return false;
}

static int check_and_queue(zhandle_t *handle, const char *call, const struct ask *ask)
{
    struct _zhandle *zh = handle_check(handle, call);
    struct whole_path path;
    bool sequence = (ask->op == OP_CREATE || ask->op == OP_CREATE2) && (ask->mode & ZOO_SEQUENCE) != 0;
    if (zh == NULL || belies(call, ask)) {
        return ZBADARGUMENTS;
    }
    path_make_whole(zh, ask->path, sequence, &path);
    if (!path.valid) {
        return ZBADARGUMENTS;
    }
    if (zh->state < 0) {
        return ZINVALIDSTATE;
    }
    if (zh->closing) {
        return ZMARSHALLINGERROR;
    }
    return queue(zh, ask, &path);
}

static int issue(zhandle_t *handle, const char *call, const struct ask *ask)
{
    return tell_code(check_and_queue(handle, call, ask));
}

/* Returns the mode as a byte. A mode that does not fit becomes 255, which servers do not know either. */
static int mode_byte(int mode)
{
    return mode < 0 || mode > 255 ? 255 : mode;
}

static int create(zhandle_t *zh, const char *call, int op, const char *path, const char *value, int valuelen,
                  const struct ACL_vector *acl, int mode, code_fn completion, const void *data)
{
    if (mode == ZOO_PERSISTENT_WITH_TTL || mode == ZOO_PERSISTENT_SEQUENTIAL_WITH_TTL) {
        return tell_code(ZBADARGUMENTS); /* these modes need a ttl of 1 or more (F54) */
    }
    struct ask ask = {.op = op,
                      .path = path,
                      .value = value,
                      .value_size = value != NULL ? valuelen : -1,
                      .mode = mode_byte(mode),
                      .completion = completion,
                      .data = data};
    ask_acl(&ask, acl);
    return issue(zh, call, &ask);
}

int zoo_acreate(zhandle_t *zh, const char *path, const char *value, int valuelen,
                const struct ACL_vector *acl, int mode, string_completion_t completion, const void *data)
{
    return create(zh, "zoo_acreate", OP_CREATE, path, value, valuelen, acl, mode, (code_fn)completion, data);
}

int zoo_acreate2(zhandle_t *zh, const char *path, const char *value, int valuelen,
                 const struct ACL_vector *acl, int mode, string_stat_completion_t completion,
                 const void *data)
{
    return create(zh, "zoo_acreate2", OP_CREATE2, path, value, valuelen, acl, mode, (code_fn)completion,
                  data);
}

int zoo_adelete(zhandle_t *zh, const char *path, int version, void_completion_t completion, const void *data)
{
    struct ask ask = {.op = OP_DELETE,
                      .path = path,
                      .value_size = -1,
                      .version = version,
                      .completion = (code_fn)completion,
                      .data = data};
    return issue(zh, "zoo_adelete", &ask);
}

int zoo_aset(zhandle_t *zh, const char *path, const char *buffer, int buflen, int version,
             stat_completion_t completion, const void *data)
{
    struct ask ask = {.op = OP_SET,
                      .path = path,
                      .value = buffer,
                      .value_size = buffer != NULL ? buflen : -1,
                      .version = version,
                      .completion = (code_fn)completion,
                      .data = data};
    return issue(zh, "zoo_aset", &ask);
}

int zoo_aset_acl(zhandle_t *zh, const char *path, int version, struct ACL_vector *acl,
                 void_completion_t completion, const void *data)
{
    struct ask ask = {.op = OP_SET_ACL,
                      .path = path,
                      .value_size = -1,
                      .version = version,
                      .completion = (code_fn)completion,
                      .data = data};
    ask_acl(&ask, acl);
    return issue(zh, "zoo_aset_acl", &ask);
}

int zoo_async(zhandle_t *zh, const char *path, string_completion_t completion, const void *data)
{
    struct ask ask = {
        .op = OP_SYNC, .path = path, .value_size = -1, .completion = (code_fn)completion, .data = data};
    return issue(zh, "zoo_async", &ask);
}

/* ---- reads: `watch` stands for the default watcher with the handle's context (F5) ---- */

static int read_call(zhandle_t *zh, const char *call, int op, const char *path, watcher_fn watcher,
                     void *context, code_fn completion, const void *data)
{
    struct ask ask = {.op = op,
                      .path = path,
                      .value_size = -1,
                      .completion = completion,
                      .data = data,
                      .watcher = watcher,
                      .watch_context = watcher != NULL ? context : NULL};
    return issue(zh, call, &ask);
}

static int default_read(zhandle_t *handle, const char *call, int op, const char *path, int watch,
                        code_fn completion, const void *data)
{
    struct _zhandle *zh = handle_check(handle, call);
    if (zh == NULL) {
        return ZBADARGUMENTS;
    }
    watcher_fn watcher = watch ? (watcher_fn)code_unpack_fn(zh->watcher) : NULL;
    return read_call(handle, call, op, path, watcher, (void *)(uintptr_t)zh->context, completion, data);
}

int zoo_aexists(zhandle_t *zh, const char *path, int watch, stat_completion_t completion, const void *data)
{
    return default_read(zh, "zoo_aexists", OP_EXISTS, path, watch, (code_fn)completion, data);
}

int zoo_awexists(zhandle_t *zh, const char *path, watcher_fn watcher, void *watcherCtx,
                 stat_completion_t completion, const void *data)
{
    return read_call(zh, "zoo_awexists", OP_EXISTS, path, watcher, watcherCtx, (code_fn)completion, data);
}

int zoo_aget(zhandle_t *zh, const char *path, int watch, data_completion_t completion, const void *data)
{
    return default_read(zh, "zoo_aget", OP_GET, path, watch, (code_fn)completion, data);
}

int zoo_awget(zhandle_t *zh, const char *path, watcher_fn watcher, void *watcherCtx,
              data_completion_t completion, const void *data)
{
    return read_call(zh, "zoo_awget", OP_GET, path, watcher, watcherCtx, (code_fn)completion, data);
}

int zoo_aget_children(zhandle_t *zh, const char *path, int watch, strings_completion_t completion,
                      const void *data)
{
    return default_read(zh, "zoo_aget_children", OP_CHILDREN, path, watch, (code_fn)completion, data);
}

int zoo_awget_children(zhandle_t *zh, const char *path, watcher_fn watcher, void *watcherCtx,
                       strings_completion_t completion, const void *data)
{
    return read_call(zh, "zoo_awget_children", OP_CHILDREN, path, watcher, watcherCtx, (code_fn)completion,
                     data);
}

int zoo_aget_children2(zhandle_t *zh, const char *path, int watch, strings_stat_completion_t completion,
                       const void *data)
{
    return default_read(zh, "zoo_aget_children2", OP_CHILDREN2, path, watch, (code_fn)completion, data);
}

int zoo_awget_children2(zhandle_t *zh, const char *path, watcher_fn watcher, void *watcherCtx,
                        strings_stat_completion_t completion, const void *data)
{
    return read_call(zh, "zoo_awget_children2", OP_CHILDREN2, path, watcher, watcherCtx, (code_fn)completion,
                     data);
}

int zoo_aget_acl(zhandle_t *zh, const char *path, acl_completion_t completion, const void *data)
{
    return read_call(zh, "zoo_aget_acl", OP_GET_ACL, path, NULL, NULL, (code_fn)completion, data);
}

/* ---- removing watches (F76) ---- */

/* Returns whether `watcher` is NULL, or the client's tables of this type have it with this context for the
 * path. Otherwise the client library does not send the removal. */
static bool has_watch(const struct _zhandle *zh, const char *path, int type, watcher_fn watcher,
                      const void *context)
{
    struct pack pack = client_pack(zh->client);
    if (watcher == NULL) {
        return true;
    }
    code_ref ref = code_pack_fn((code_fn)watcher);
    for (struct rec *rec = pack_first(&pack, LIST_WATCH + zh->slot); rec != NULL;
         rec = pack_next(&pack, rec)) {
        const struct zk_watch *watch = (struct zk_watch *)rec;
        bool asked = type == ZWATCHTYPE_ANY || (type == ZWATCHTYPE_CHILD) == (watch->rec.tag == WATCH_CHILD);
        bool mine = watch->watcher == ref && watch->context == context;
        if (watch->fired == 0 && asked && mine && strcmp(watch->path, path) == 0) {
            return true;
        }
    }
    return false;
}

static int unwatch(zhandle_t *handle, const char *call, const char *path, int type, watcher_fn watcher,
                   void *context, int local, void_completion_t *completion, const void *data)
{
    struct _zhandle *zh = handle_check(handle, call);
    struct whole_path whole;
    if (zh == NULL) {
        return tell_code(ZBADARGUMENTS);
    }
    path_make_whole(zh, path, false, &whole);
    if (!whole.valid) {
        return tell_code(ZBADARGUMENTS);
    }
    if (!local && zh->state < 0) {
        return tell_code(ZINVALIDSTATE);
    }
    if (!has_watch(zh, whole.text, type, watcher, context)) {
        return tell_code(ZNOWATCHER);
    }
    if (local) {
        fakezk_note_trouble("%s: local removal crashes the real client (F76)", call);
        return ZUNIMPLEMENTED;
    }
    code_fn fn;
    memcpy(&fn, &completion, sizeof fn);
    struct ask ask = {.op = OP_UNWATCH,
                      .path = path,
                      .value_size = -1,
                      .version = type,
                      .completion = fn,
                      .data = data,
                      .watcher = watcher,
                      .watch_context = context};
    return issue(handle, call, &ask);
}

int zoo_aremove_watches(zhandle_t *zh, const char *path, ZooWatcherType wtype, watcher_fn watcher,
                        void *watcherCtx, int local, void_completion_t *completion, const void *data)
{
    return unwatch(zh, "zoo_aremove_watches", path, (int)wtype, watcher, watcherCtx, local, completion, data);
}

int zoo_aremove_all_watches(zhandle_t *zh, const char *path, ZooWatcherType wtype, int local,
                            void_completion_t *completion, const void *data)
{
    return unwatch(zh, "zoo_aremove_all_watches", path, (int)wtype, NULL, NULL, local, completion, data);
}

#define MULTI_BYTES (REQUEST_BYTES_MAX - 256)

static bool sub_ask(const zoo_op_t *op, struct ask *ask)
{
    memset(ask, 0, sizeof *ask);
    ask->value_size = -1;
    switch (op->type) {
    case ZOO_CREATE_OP:
        ask->op = OP_CREATE;
        ask->path = op->create_op.path;
        ask->value = op->create_op.data;
        ask->value_size = op->create_op.data != NULL ? op->create_op.datalen : -1;
        ask->mode = mode_byte(op->create_op.flags);
        ask_acl(ask, op->create_op.acl);
        ask->out = op->create_op.buf;
        ask->out_size = op->create_op.buflen;
        return true;
    case ZOO_DELETE_OP:
        ask->op = OP_DELETE;
        ask->path = op->delete_op.path;
        ask->version = op->delete_op.version;
        return true;
    case ZOO_SETDATA_OP:
        ask->op = OP_SET;
        ask->path = op->set_op.path;
        ask->value = op->set_op.data;
        ask->value_size = op->set_op.data != NULL ? op->set_op.datalen : -1;
        ask->version = op->set_op.version;
        ask->out = op->set_op.stat;
        return true;
    case ZOO_CHECK_OP:
        ask->op = OP_CHECK;
        ask->path = op->check_op.path;
        ask->version = op->check_op.version;
        return true;
    default:
        return false;
    }
}

/* Packs an operation as a whole request record. Returns its size in bytes; 0 = refused, with the code *rc. */
static size_t pack_sub(const struct _zhandle *zh, const struct ask *ask, unsigned char *to, size_t room,
                       int *rc)
{
    struct whole_path path;
    bool sequence = ask->op == OP_CREATE && (ask->mode & ZOO_SEQUENCE) != 0;
    path_make_whole(zh, ask->path, sequence, &path);
    if (!path.valid) {
        *rc = ZMARSHALLINGERROR; /* any error inside becomes -5 (F16) */
        return 0;
    }
    size_t value = ask->value_size > 0 ? (size_t)ask->value_size : 0;
    size_t size = (sizeof(struct zk_request) + path.size + 1 + value + 7) & ~(size_t)7;
    if (size > room) {
        fakezk_note_trouble("limit: a multi is too large");
        *rc = ZSYSTEMERROR;
        return 0;
    }
    memset(to, 0, size);
    struct zk_request *sub = (struct zk_request *)to;
    sub->rec.size = (uint16_t)size;
    sub->rec.tag = (uint8_t)ask->op;
    pack_request(sub, ask, &path);
    return size;
}

/* Points the results to the caller's buffers, as the client library does during the call. */
static void point_results(const zoo_op_t *ops, zoo_op_result_t *results, int count)
{
    for (int i = 0; results != NULL && i < count; i++) {
        if (ops[i].type == ZOO_CREATE_OP) {
            results[i].value = ops[i].create_op.buf;
            results[i].valuelen = ops[i].create_op.buflen;
        } else if (ops[i].type == ZOO_SETDATA_OP) {
            results[i].stat = ops[i].set_op.stat;
        }
    }
}

/* Reports that the process ends: the real zoo_amulti() frees a path that it has not set, or has freed already
 * (F16). */
static int abort_process(const struct _zhandle *zh)
{
    struct fakezk_event event = {.kind = FAKEZK_ABORTED, .client = zh->client, .path = "zoo_amulti"};
    fakezk_emit(&event);
    return ZMARSHALLINGERROR;
}

static int multi(zhandle_t *handle, int count, const zoo_op_t *ops, zoo_op_result_t *results,
                 void_completion_t completion, const void *data)
{
    static _Alignas(8) unsigned char space[MULTI_BYTES];
    struct _zhandle *zh = handle_check(handle, "zoo_amulti");
    if (zh == NULL) {
        return ZBADARGUMENTS;
    }
    if (count > MULTI_MAX && zh->state >= 0) {
        fakezk_note_trouble("limit: a multi of more than %d operations", MULTI_MAX);
        return ZSYSTEMERROR;
    }
    size_t size = 0;
    bool failed = false;
    for (int i = 0; i < count; i++) {
        struct ask sub;
        int rc = ZMARSHALLINGERROR;
        if (!sub_ask(&ops[i], &sub)) {
            return ZUNIMPLEMENTED;
        }
        if (failed) {
            return abort_process(zh);
        }
        size_t used = zh->state < 0 ? 0 : pack_sub(zh, &sub, space + size, sizeof space - size, &rc);
        if (used == 0 && rc != ZMARSHALLINGERROR) {
            return rc;
        }
        if (used == 0 && zh->chroot != 0) {
            return abort_process(zh);
        }
        failed = used == 0;
        size += used;
    }
    if (failed || zh->state < 0) {
        return ZMARSHALLINGERROR;
    }
    point_results(ops, results, count);
    /* "/multi-" has 8 bytes with its zero, so the records behind it are aligned to 8. */
    struct ask ask = {.op = OP_MULTI,
                      .path = "/multi-",
                      .value = space,
                      .value_size = (int)size,
                      .completion = (code_fn)completion,
                      .data = data,
                      .out = results,
                      .out_size = count};
    if (zh->closing) {
        return ZMARSHALLINGERROR;
    }
    struct whole_path path = {.size = sizeof "/multi-" - 1, .valid = true, .text = "/multi-"};
    return queue(zh, &ask, &path);
}

int zoo_amulti(zhandle_t *zh, int count, const zoo_op_t *ops, zoo_op_result_t *results,
               void_completion_t completion, const void *data)
{
    return tell_code(multi(zh, count, ops, results, completion, data));
}

void zoo_create_op_init(zoo_op_t *op, const char *path, const char *value, int valuelen,
                        const struct ACL_vector *acl, int mode, char *path_buffer, int path_buffer_len)
{
    memset(op, 0, sizeof *op);
    op->type = ZOO_CREATE_OP;
    op->create_op.path = path;
    op->create_op.data = value;
    op->create_op.datalen = valuelen;
    op->create_op.acl = acl;
    op->create_op.flags = mode;
    op->create_op.ttl = 0;
    op->create_op.buf = path_buffer;
    op->create_op.buflen = path_buffer_len;
}

void zoo_delete_op_init(zoo_op_t *op, const char *path, int version)
{
    memset(op, 0, sizeof *op);
    op->type = ZOO_DELETE_OP;
    op->delete_op.path = path;
    op->delete_op.version = version;
}

void zoo_set_op_init(zoo_op_t *op, const char *path, const char *buffer, int buflen, int version,
                     struct Stat *stat)
{
    memset(op, 0, sizeof *op);
    op->type = ZOO_SETDATA_OP;
    op->set_op.path = path;
    op->set_op.data = buffer;
    op->set_op.datalen = buflen;
    op->set_op.version = version;
    op->set_op.stat = stat;
}

void zoo_check_op_init(zoo_op_t *op, const char *path, int version)
{
    memset(op, 0, sizeof *op);
    op->type = ZOO_CHECK_OP;
    op->check_op.path = path;
    op->check_op.version = version;
}
