/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The symbols of zookeeper.h that other files of the fake do not define. Each call that the fake lacks is a
 * trouble, whose text has the name of the call. */
#define THREADED 1 /* declares the synchronous calls */
#include "fakezk/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const int ZOO_PERM_READ = 1 << 0;
const int ZOO_PERM_WRITE = 1 << 1;
const int ZOO_PERM_CREATE = 1 << 2;
const int ZOO_PERM_DELETE = 1 << 3;
const int ZOO_PERM_ADMIN = 1 << 4;
const int ZOO_PERM_ALL = 0x1f;

static char scheme_world[] = "world";
static char id_anyone[] = "anyone";
static char scheme_auth[] = "auth";
static char id_empty[] = "";

struct Id ZOO_ANYONE_ID_UNSAFE = {scheme_world, id_anyone};
struct Id ZOO_AUTH_IDS = {scheme_auth, id_empty};

static struct ACL open_acl[] = {{0x1f, {scheme_world, id_anyone}}};
static struct ACL read_acl[] = {{0x01, {scheme_world, id_anyone}}};
static struct ACL creator_acl[] = {{0x1f, {scheme_auth, id_empty}}};

struct ACL_vector ZOO_OPEN_ACL_UNSAFE = {1, open_acl};
struct ACL_vector ZOO_READ_ACL_UNSAFE = {1, read_acl};
struct ACL_vector ZOO_CREATOR_ALL_ACL = {1, creator_acl};

const int ZOOKEEPER_WRITE = 1;
const int ZOOKEEPER_READ = 2;

const int ZOO_PERSISTENT = 0;
const int ZOO_EPHEMERAL = 1;
const int ZOO_PERSISTENT_SEQUENTIAL = 2;
const int ZOO_EPHEMERAL_SEQUENTIAL = 3;
const int ZOO_CONTAINER = 4;
const int ZOO_PERSISTENT_WITH_TTL = 5;
const int ZOO_PERSISTENT_SEQUENTIAL_WITH_TTL = 6;
const int ZOO_SEQUENCE = 2;

const int ZOO_EXPIRED_SESSION_STATE = -112;
const int ZOO_AUTH_FAILED_STATE = -113;
const int ZOO_CONNECTING_STATE = 1;
const int ZOO_ASSOCIATING_STATE = 2;
const int ZOO_CONNECTED_STATE = 3;
const int ZOO_READONLY_STATE = 5;
const int ZOO_SSL_CONNECTING_STATE = 7;
const int ZOO_NOTCONNECTED_STATE = 999;

const int ZOO_CREATED_EVENT = 1;
const int ZOO_DELETED_EVENT = 2;
const int ZOO_CHANGED_EVENT = 3;
const int ZOO_CHILD_EVENT = 4;
const int ZOO_SESSION_EVENT = -1;
const int ZOO_NOTWATCHING_EVENT = -2;

const char *zerror(int c)
{
    static const struct {
        int code;
        const char *text;
    } texts[] = {{ZOK, "ok"},
                 {ZSYSTEMERROR, "system error"},
                 {ZRUNTIMEINCONSISTENCY, "run time inconsistency"},
                 {ZDATAINCONSISTENCY, "data inconsistency"},
                 {ZCONNECTIONLOSS, "connection loss"},
                 {ZMARSHALLINGERROR, "marshalling error"},
                 {ZUNIMPLEMENTED, "unimplemented"},
                 {ZOPERATIONTIMEOUT, "operation timeout"},
                 {ZBADARGUMENTS, "bad arguments"},
                 {ZINVALIDSTATE, "invalid zhandle state"},
                 {ZAPIERROR, "api error"},
                 {ZNONODE, "no node"},
                 {ZNOAUTH, "not authenticated"},
                 {ZBADVERSION, "bad version"},
                 {ZNOCHILDRENFOREPHEMERALS, "no children for ephemerals"},
                 {ZNODEEXISTS, "node exists"},
                 {ZNOTEMPTY, "not empty"},
                 {ZSESSIONEXPIRED, "session expired"},
                 {ZINVALIDCALLBACK, "invalid callback"},
                 {ZINVALIDACL, "invalid acl"},
                 {ZAUTHFAILED, "authentication failed"},
                 {ZCLOSING, "zookeeper is closing"},
                 {ZNOTHING, "(not error) no server responses to process"},
                 {ZSESSIONMOVED, "session moved to another server, so operation is ignored"},
                 {ZNOWATCHER, "no watcher found"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (texts[i].code == c) {
            return texts[i].text;
        }
    }
    return "unknown error";
}

int allocate_String_vector(struct String_vector *v, int32_t len)
{
    v->count = len;
    v->data = len > 0 ? calloc((size_t)len, sizeof *v->data) : NULL;
    return 0;
}

int deallocate_String_vector(struct String_vector *v)
{
    for (int i = 0; v->data != NULL && i < v->count; i++) {
        free(v->data[i]);
    }
    free(v->data);
    v->data = NULL;
    return 0;
}

int allocate_ACL_vector(struct ACL_vector *v, int32_t len)
{
    v->count = len;
    v->data = len > 0 ? calloc((size_t)len, sizeof *v->data) : NULL;
    return 0;
}

int deallocate_ACL_vector(struct ACL_vector *v)
{
    for (int i = 0; v->data != NULL && i < v->count; i++) {
        free(v->data[i].id.scheme);
        free(v->data[i].id.id);
    }
    free(v->data);
    v->data = NULL;
    return 0;
}

void zoo_set_debug_level(ZooLogLevel logLevel)
{
    (void)logLevel;
}

void zoo_set_log_stream(FILE *logStream)
{
    (void)logStream;
}

log_callback_fn zoo_get_log_callback(const zhandle_t *zh)
{
    (void)zh;
    return NULL;
}

void zoo_set_log_callback(zhandle_t *zh, log_callback_fn callback)
{
    (void)zh;
    (void)callback;
}

void zoo_deterministic_conn_order(int yesOrNo)
{
    (void)yesOrNo;
}

/* Ignores the certificate: a world has no network. zookeeper.h declares this function if HAVE_OPENSSL_H is
 * defined. */
zhandle_t *zookeeper_init_ssl(const char *host, const char *cert, watcher_fn fn, int recv_timeout,
                              const clientid_t *clientid, void *context, int flags);

zhandle_t *zookeeper_init_ssl(const char *host, const char *cert, watcher_fn fn, int recv_timeout,
                              const clientid_t *clientid, void *context, int flags)
{
    (void)cert;
    return zookeeper_init(host, fn, recv_timeout, clientid, context, flags);
}

/* A world has no names to look up. */
int zoo_set_servers_resolution_delay(zhandle_t *zh, int delay_ms)
{
    return zh == NULL || delay_ms < -1 ? ZBADARGUMENTS : ZOK;
}

/* ---- what a world does not have ---- */

static int unsupported(const char *call)
{
    fakezk_note_trouble("unsupported call: %s", call);
    return ZUNIMPLEMENTED;
}

int zoo_set_servers(zhandle_t *zh, const char *hosts)
{
    (void)zh;
    (void)hosts;
    return unsupported("zoo_set_servers");
}

int zoo_add_auth(zhandle_t *zh, const char *scheme, const char *cert, int certLen,
                 void_completion_t completion, const void *data)
{
    return tell_code(auth_add(zh, scheme, cert, certLen, completion, data));
}

int zoo_acreate_ttl(zhandle_t *zh, const char *path, const char *value, int valuelen,
                    const struct ACL_vector *acl, int mode, int64_t ttl, string_completion_t completion,
                    const void *data)
{
    (void)zh, (void)path, (void)value, (void)valuelen, (void)acl, (void)mode, (void)ttl, (void)completion,
        (void)data;
    return unsupported("zoo_acreate_ttl");
}

int zoo_acreate2_ttl(zhandle_t *zh, const char *path, const char *value, int valuelen,
                     const struct ACL_vector *acl, int mode, int64_t ttl, string_stat_completion_t completion,
                     const void *data)
{
    (void)zh, (void)path, (void)value, (void)valuelen, (void)acl, (void)mode, (void)ttl, (void)completion,
        (void)data;
    return unsupported("zoo_acreate2_ttl");
}

/* The synchronous calls would block the one thread of a world. */

int zoo_create(zhandle_t *zh, const char *path, const char *value, int valuelen, const struct ACL_vector *acl,
               int mode, char *path_buffer, int path_buffer_len)
{
    (void)zh, (void)path, (void)value, (void)valuelen, (void)acl, (void)mode, (void)path_buffer,
        (void)path_buffer_len;
    return unsupported("zoo_create");
}

int zoo_create2(zhandle_t *zh, const char *path, const char *value, int valuelen,
                const struct ACL_vector *acl, int mode, char *path_buffer, int path_buffer_len,
                struct Stat *stat)
{
    (void)zh, (void)path, (void)value, (void)valuelen, (void)acl, (void)mode, (void)path_buffer,
        (void)path_buffer_len;
    (void)stat;
    return unsupported("zoo_create2");
}

int zoo_delete(zhandle_t *zh, const char *path, int version)
{
    (void)zh, (void)path, (void)version;
    return unsupported("zoo_delete");
}

int zoo_exists(zhandle_t *zh, const char *path, int watch, struct Stat *stat)
{
    (void)zh, (void)path, (void)watch, (void)stat;
    return unsupported("zoo_exists");
}

int zoo_wexists(zhandle_t *zh, const char *path, watcher_fn watcher, void *watcherCtx, struct Stat *stat)
{
    (void)zh, (void)path, (void)watcher, (void)watcherCtx, (void)stat;
    return unsupported("zoo_wexists");
}

int zoo_get(zhandle_t *zh, const char *path, int watch, char *buffer, int *buffer_len, struct Stat *stat)
{
    (void)zh, (void)path, (void)watch, (void)buffer, (void)buffer_len, (void)stat;
    return unsupported("zoo_get");
}

int zoo_wget(zhandle_t *zh, const char *path, watcher_fn watcher, void *watcherCtx, char *buffer,
             int *buffer_len, struct Stat *stat)
{
    (void)zh, (void)path, (void)watcher, (void)watcherCtx, (void)buffer, (void)buffer_len, (void)stat;
    return unsupported("zoo_wget");
}

int zoo_set(zhandle_t *zh, const char *path, const char *buffer, int buflen, int version)
{
    (void)zh, (void)path, (void)buffer, (void)buflen, (void)version;
    return unsupported("zoo_set");
}

int zoo_set2(zhandle_t *zh, const char *path, const char *buffer, int buflen, int version, struct Stat *stat)
{
    (void)zh, (void)path, (void)buffer, (void)buflen, (void)version, (void)stat;
    return unsupported("zoo_set2");
}

int zoo_get_children(zhandle_t *zh, const char *path, int watch, struct String_vector *strings)
{
    (void)zh, (void)path, (void)watch, (void)strings;
    return unsupported("zoo_get_children");
}

int zoo_wget_children(zhandle_t *zh, const char *path, watcher_fn watcher, void *watcherCtx,
                      struct String_vector *strings)
{
    (void)zh, (void)path, (void)watcher, (void)watcherCtx, (void)strings;
    return unsupported("zoo_wget_children");
}

int zoo_get_children2(zhandle_t *zh, const char *path, int watch, struct String_vector *strings,
                      struct Stat *stat)
{
    (void)zh, (void)path, (void)watch, (void)strings, (void)stat;
    return unsupported("zoo_get_children2");
}

int zoo_wget_children2(zhandle_t *zh, const char *path, watcher_fn watcher, void *watcherCtx,
                       struct String_vector *strings, struct Stat *stat)
{
    (void)zh, (void)path, (void)watcher, (void)watcherCtx, (void)strings, (void)stat;
    return unsupported("zoo_wget_children2");
}

int zoo_multi(zhandle_t *zh, int count, const zoo_op_t *ops, zoo_op_result_t *results)
{
    (void)zh, (void)count, (void)ops, (void)results;
    return unsupported("zoo_multi");
}

int zoo_remove_watches(zhandle_t *zh, const char *path, ZooWatcherType wtype, watcher_fn watcher,
                       void *watcherCtx, int local)
{
    (void)zh, (void)path, (void)wtype, (void)watcher, (void)watcherCtx, (void)local;
    return unsupported("zoo_remove_watches");
}
