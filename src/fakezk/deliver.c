/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The completion thread of a handle: one queue for replies, node events and session events (F36). What a
 * callback is given lives in scratch for the call and is poisoned afterwards (F46). */
#include "base/assert.h"
#include "fakezk/internal.h"

#include <string.h>

#define SCRATCH_BYTES 65536
#define DEPTH_MAX 4
#define POISON 0xa5

static _Alignas(8) unsigned char scratch[DEPTH_MAX][SCRATCH_BYTES];
static char *names[DEPTH_MAX][FAKEZK_NAMES_MAX];
static int depth;

void deliver_queue(int client, int slot, const struct zk_message *message)
{
    struct pack pack = client_pack(client);
    struct zk_message *copy = (struct zk_message *)pack_append(&pack, LIST_MESSAGE + slot, message->rec.size);
    if (copy == NULL) {
        fakezk_note_trouble("limit: the messages of a client do not fit");
        return;
    }
    pack_fill(&copy->rec, &message->rec);
    copy->rec.word = 1;
}

void deliver_session_event(int client, int slot, int state)
{
    _Alignas(8) unsigned char space[sizeof(struct zk_message) + 8] = {0};
    struct zk_message *message = (struct zk_message *)space;
    message->rec.tag = MESSAGE_SESSION;
    message->rec.size = sizeof space;
    message->rc = state;
    message->out_size = handle_at(client, slot)->session;
    deliver_queue(client, slot, message);
}

/* ---- what callbacks see ---- */

/* F58: paths are shown below the chroot. */
static const char *strip(const struct _zhandle *zh, const char *path)
{
    if (zh->chroot == 0 || path[0] == 0) {
        return path;
    }
    size_t size = strlen(fakezk.chroot[zh->chroot]);
    const char *rest = path + size;
    return *rest != 0 ? rest : "/";
}

/* Padding is zeroed too: a recipe may copy a Stat into its heap, and equal worlds have equal bytes. */
static void api_stat(const struct zk_stat *s, struct Stat *stat)
{
    memset(stat, 0, sizeof *stat);
    stat->czxid = api_zxid(s->czxid);
    stat->mzxid = api_zxid(s->mzxid);
    stat->ctime = s->czxid;
    stat->mtime = s->mzxid;
    stat->version = s->version;
    stat->cversion = s->cversion;
    stat->aversion = s->aversion;
    stat->ephemeralOwner = fakezk_session_id(s->owner);
    stat->dataLength = s->data_size > 0 ? s->data_size : 0;
    stat->numChildren = s->children;
    stat->pzxid = api_zxid(s->pzxid);
}

/* ---- replies, one kind of completion each ---- */

/* What there is no value for shows none; the caller's buffer stays as it is. */
static void hide_result(zoo_op_result_t *to, int op)
{
    if (op == OP_CREATE) {
        to->value = NULL;
    } else if (op == OP_SET) {
        to->stat = NULL;
    }
}

static void fill_result(const struct _zhandle *zh, const struct zk_result *from, zoo_op_result_t *to)
{
    to->err = from->err;
    if (from->err != ZOK) {
        hide_result(to, from->op);
        return;
    }
    if (from->op == OP_CREATE && from->out != NULL && from->path_size > 0) {
        const char *path = strip(zh, from->path);
        size_t room = (size_t)from->out_size;
        size_t size = strlen(path) + 1;
        if (room > 0) {
            size = size < room ? size : room;
            memcpy(from->out, path, size);
            ((char *)from->out)[size - 1] = 0;
        }
    }
    if (from->op == OP_SET && from->out != NULL && from->has_stat) {
        api_stat(&from->stat, from->out);
    }
}

/* F63: a multi whose reply was lost shows the same rc in every result. */
static void fill_results(const struct _zhandle *zh, const struct zk_message *m)
{
    zoo_op_result_t *results = m->out;
    const unsigned char *at = (const unsigned char *)m + ((sizeof *m + m->path_size + 1u + 7u) & ~(size_t)7);
    for (int i = 0; results != NULL && i < m->out_size; i++) {
        if (m->data_size < 0) {
            results[i].err = m->rc;
            continue;
        }
        const struct zk_result *result = (const struct zk_result *)at;
        fill_result(zh, result, &results[i]);
        at += (sizeof *result + result->path_size + 1u + 7u) & ~(size_t)7;
    }
}

static struct ACL_vector world_acl(int perms, struct ACL *acl)
{
    static char scheme[] = "world";
    static char id[] = "anyone";
    acl->perms = perms;
    acl->id.scheme = scheme;
    acl->id.id = id;
    return (struct ACL_vector){.count = 1, .data = acl};
}

static void call_data(const struct zk_message *m, const struct Stat *stat)
{
    data_completion_t fn = (data_completion_t)code_unpack_fn(m->completion);
    const char *value = m->data_size >= 0 ? m->bytes + m->path_size + 1 : NULL;
    fn(m->rc, m->rc == ZOK ? value : NULL, m->rc == ZOK ? m->data_size : 0, stat, m->data);
}

static void call_acl(const struct zk_message *m, struct Stat *stat)
{
    struct ACL acl;
    struct ACL_vector vector = world_acl(m->data_size, &acl);
    acl_completion_t fn = (acl_completion_t)code_unpack_fn(m->completion);
    fn(m->rc, m->rc == ZOK ? &vector : NULL, m->rc == ZOK ? stat : NULL, m->data);
}

static void call_completion(const struct _zhandle *zh, const struct zk_message *m, char **strings_data)
{
    if (m->completion == 0) {
        return;
    }
    code_fn fn = code_unpack_fn(m->completion);
    bool ok = m->rc == ZOK;
    struct Stat stat;
    api_stat(&m->stat, &stat);
    const char *path = ok ? strip(zh, m->bytes) : NULL;
    struct String_vector strings = message_names(m, strings_data);
    switch (m->op) {
    case OP_CREATE:
    case OP_SYNC:
        ((string_completion_t)fn)(m->rc, path, m->data);
        break;
    case OP_CREATE2:
        ((string_stat_completion_t)fn)(m->rc, path, ok ? &stat : NULL, m->data);
        break;
    case OP_EXISTS:
    case OP_SET:
        ((stat_completion_t)fn)(m->rc, ok ? &stat : NULL, m->data);
        break;
    case OP_GET:
        call_data(m, ok ? &stat : NULL);
        break;
    case OP_CHILDREN:
        ((strings_completion_t)fn)(m->rc, ok ? &strings : NULL, m->data);
        break;
    case OP_CHILDREN2:
        ((strings_stat_completion_t)fn)(m->rc, ok ? &strings : NULL, ok ? &stat : NULL, m->data);
        break;
    case OP_GET_ACL:
        call_acl(m, &stat);
        break;
    default:
        ((void_completion_t)fn)(m->rc, m->data);
        break;
    }
    memset(&stat, POISON, sizeof stat);
}

/* ---- events ---- */

static void call_watchers(struct _zhandle *zh, int type, int state, const char *path,
                          const struct watch_target *targets, int count)
{
    for (int i = 0; i < count; i++) {
        watcher_fn fn = (watcher_fn)code_unpack_fn(targets[i].watcher);
        if (fn != NULL) {
            fn(zh, type, state, path, targets[i].context);
        }
    }
}

static void deliver_session(struct _zhandle *zh, const struct zk_message *m)
{
    struct watch_target targets[WATCH_TARGETS_MAX + 1];
    struct fakezk_event event = {
        .kind = FAKEZK_SESSION_EVENT, .client = zh->client, .code = m->rc, .session = m->out_size};
    fakezk_emit(&event);
    int count = watch_collect_session(zh->client, zh->slot, targets);
    call_watchers(zh, ZOO_SESSION_EVENT, m->rc, "", targets, count);
}

static void deliver_node(struct _zhandle *zh, const struct zk_message *m)
{
    struct watch_target targets[WATCH_TARGETS_MAX + 1];
    int count = watch_collect(zh->client, zh->slot, m, targets);
    if (count == 0) {
        return; /* F68, F76: the event finds nobody any more */
    }
    struct fakezk_event event = {.kind = FAKEZK_WOKEN,
                                 .client = zh->client,
                                 .own = targets[0].own,
                                 .code = m->rc,
                                 .zxid = m->zxid,
                                 .cause = m->cause,
                                 .path = m->bytes};
    fakezk_emit(&event);
    call_watchers(zh, m->rc, ZOO_CONNECTED_STATE, strip(zh, m->bytes), targets, count);
}

static void run_message(struct _zhandle *zh, struct zk_message *m, char **strings_data)
{
    switch (m->rec.tag) {
    case MESSAGE_SESSION:
        deliver_session(zh, m);
        break;
    case MESSAGE_NODE:
        deliver_node(zh, m);
        break;
    default:
        if (m->op == OP_MULTI) {
            fill_results(zh, m);
        }
        call_completion(zh, m, strings_data);
        break;
    }
}

void deliver_abandon(void)
{
    depth = 0;
}

void deliver_next(int client, int slot)
{
    struct pack pack = client_pack(client);
    struct zk_message *head = head_message(client, slot);
    LS_ASSERT(head != NULL && depth < DEPTH_MAX);
    struct zk_message *m = (struct zk_message *)scratch[depth];
    size_t size = head->rec.size;
    memcpy(m, head, size);
    pack_remove(&pack, &head->rec);
    link_receive(client, slot, m);
    if (message_is_list(m) && m->data_size > FAKEZK_NAMES_MAX) {
        fakezk_note_trouble("limit: a list of %d children", m->data_size);
        return;
    }
    struct _zhandle *zh = &client_mark(client)->handle[slot];
    uint8_t was_busy = zh->busy;
    zh->busy = 1;
    depth++;
    run_message(zh, m, names[depth - 1]);
    depth--;
    memset(scratch[depth], POISON, size);
    client_mark(client);
    zh->busy = was_busy;
    if (zh->closing == 2 && !zh->busy) {
        handle_drain(client, slot);
    }
}
