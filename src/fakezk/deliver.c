/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The completion thread of a handle: one queue for replies, node events and session events (F36). Messages,
 * vectors and stats that a callback is given lie in an area that is overwritten after the call (F46). */
#include "base/assert.h"
#include "base/stop_points.h"
#include "fakezk/internal.h"

#include <string.h>
#include <sys/mman.h>

#define SCRATCH_BYTES 65536
#define DEPTH_MAX 4
#define PAGE_MAX 65536 /* bytes; a multiple of the page size */

/* The arguments of callbacks, by depth of nesting. Area 1 is for steps that are done twice (sim/twice.c). */
struct lent {
    _Alignas(8) unsigned char scratch[DEPTH_MAX][SCRATCH_BYTES];
    char *names[DEPTH_MAX][FAKEZK_NAMES_MAX];
    struct {
        struct Stat stat;
        struct String_vector strings;
        struct ACL_vector acls;
        struct ACL acl;
    } values[DEPTH_MAX];
};

/* An area and its end. Behind area 0, `between` is read-only, so the kernel keeps two areas as two
 * mappings. */
struct areas {
    struct lent area;
    _Alignas(PAGE_MAX) unsigned char between[PAGE_MAX];
};

static struct areas *lent;
static int area;
static bool hidden; /* area 0 cannot be accessed */
static int depth;

/* The largest use of each depth of nesting so far: bytes of `scratch`, entries of `names`, and whether
 * `values` was used. */
static size_t scratch_used[DEPTH_MAX];
static int names_used[DEPTH_MAX];
static bool values_used[DEPTH_MAX];

void deliver_open(void)
{
    if (lent == NULL) {
        void *got = mmap(NULL, 2 * sizeof *lent + PAGE_MAX, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        LS_ASSERT(got != MAP_FAILED);
        /* mmap() aligns to the page size, which may be smaller than PAGE_MAX */
        uintptr_t beyond = (uintptr_t)got % PAGE_MAX;
        lent = (struct areas *)(void *)((char *)got + (beyond != 0 ? PAGE_MAX - beyond : 0));
        int rc = mprotect(lent[0].between, sizeof lent[0].between, PROT_READ);
        LS_ASSERT(rc == 0);
    }
}

static void overwrite(struct lent *where, int level)
{
    LS_ASSERT(level >= 0 && level < DEPTH_MAX);
    memset(where->scratch[level], FAKEZK_POISON, scratch_used[level]);
    memset(where->names[level], FAKEZK_POISON, (size_t)names_used[level] * sizeof where->names[level][0]);
    memset(&where->values[level], FAKEZK_POISON, values_used[level] ? sizeof where->values[level] : 0);
}

static void poison(void)
{
    for (int level = 0; level < DEPTH_MAX; level++) {
        overwrite(&lent[0].area, level);
    }
}

/* Makes area 0 inaccessible if `wanted`, else accessible. If nothing changes, calls no mprotect(). */
static void hide(bool wanted)
{
    if (wanted != hidden) {
        int rc = mprotect(&lent[0].area, sizeof lent[0].area, wanted ? PROT_NONE : PROT_READ | PROT_WRITE);
        LS_ASSERT(rc == 0);
        hidden = wanted;
    }
}

void fakezk_lend(int wanted)
{
    LS_ASSERT(wanted == 0 || wanted == 1);
    hide(wanted == 1 && arena_points_at(fakezk.arena, &lent[0].area, sizeof lent[0].area));
    area = wanted;
    depth = 0;
    if (area == 0) {
        poison();
    }
}

static bool all_are(const void *at, size_t size)
{
    const unsigned char *bytes = at;
    return size == 0 || (bytes[0] == FAKEZK_POISON && memcmp(bytes, bytes + 1, size - 1) == 0);
}

bool fakezk_lent_is_whole(void)
{
    const struct lent *over = &lent[0].area;
    bool whole = true;
    for (int level = 0; level < DEPTH_MAX; level++) {
        whole = whole && all_are(over->scratch[level], scratch_used[level]) &&
                all_are(over->names[level], (size_t)names_used[level] * sizeof over->names[level][0]) &&
                all_are(&over->values[level], values_used[level] ? sizeof over->values[level] : 0);
    }
    if (!whole) {
        poison();
    }
    return whole;
}

bool fakezk_same_lent(uint64_t from_0, uint64_t from_1)
{
    uint64_t begin = (uintptr_t)lent;
    return from_0 >= begin && from_0 - begin < sizeof lent[0] && from_1 - from_0 == sizeof lent[0];
}

/* Calls the hooks before the callback `fn`. This function is inlined, so that the hooks and the callback are
 * called from one frame: a hook may paint the stack that the callback will use. */
static inline __attribute__((always_inline)) void before_callback(code_fn fn)
{
    stop_points_call(fn);
    if (fakezk.options.before_callback != NULL) {
        fakezk.options.before_callback();
    }
}

void deliver_queue(int client, int slot, const struct zk_message *message)
{
    LS_ASSERT(message->rec.tag <= MESSAGE_NODE && message->rec.size % 8 == 0);
    struct pack pack = client_pack(client);
    struct zk_message *copy = (struct zk_message *)pack_append(&pack, LIST_MESSAGE + slot, message->rec.size);
    if (copy == NULL) {
        fakezk_note_trouble("limit: the messages of a client do not fit");
        return;
    }
    pack_fill(&copy->rec, &message->rec);
    copy->rec.word = 1;
    LS_ASSERT(copy->rec.size == message->rec.size);
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

/* Returns a path as callbacks see it: below the chroot (F58). */
static const char *strip(const struct _zhandle *zh, const char *path)
{
    if (zh->chroot == 0 || path[0] == 0) {
        return path;
    }
    size_t size = strlen(fakezk.chroot[zh->chroot]);
    LS_ASSERT(strncmp(path, fakezk.chroot[zh->chroot], size) == 0);
    const char *rest = path + size;
    return *rest != 0 ? rest : "/";
}

/* Zeroes the padding too: a recipe may copy a Stat into its heap, whose bytes are part of the state. */
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

/* Hides the value in the result of a create or set that failed. The caller's buffer stays as it is. */
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

/* Fills in the results of a multi. If the reply has no results, as after a loss, each result gets the reply's
 * rc (F10). */
static void fill_results(const struct _zhandle *zh, const struct zk_message *m)
{
    zoo_op_result_t *results = m->out;
    const unsigned char *at = (const unsigned char *)m + ((sizeof *m + m->path_size + 1u + 7u) & ~(size_t)7);
    for (int i = 0; results != NULL && i < m->out_size; i++) {
        LS_ASSERT(m->data_size < 0 || i < m->data_size);
        if (m->data_size < 0) {
            results[i].err = m->rc;
            continue;
        }
        const struct zk_result *result = (const struct zk_result *)at;
        fill_result(zh, result, &results[i]);
        tell_code(result->err);
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

static void call_acl(const struct zk_message *m, struct ACL_vector *vector, struct Stat *stat)
{
    acl_completion_t fn = (acl_completion_t)code_unpack_fn(m->completion);
    fn(m->rc, m->rc == ZOK ? vector : NULL, m->rc == ZOK ? stat : NULL, m->data);
}

static void call_completion(const struct _zhandle *zh, const struct zk_message *m, int level)
{
    LS_ASSERT(level >= 0 && level < DEPTH_MAX && m->rec.tag == MESSAGE_REPLY);
    if (m->completion == 0) {
        return;
    }
    code_fn fn = code_unpack_fn(m->completion);
    bool ok = tell_code(m->rc) == ZOK;
    struct lent *from = &lent[area].area;
    struct Stat *stat = &from->values[level].stat;
    struct String_vector *strings = &from->values[level].strings;
    api_stat(&m->stat, stat);
    const char *path = ok ? strip(zh, m->bytes) : NULL;
    *strings = message_names(m, from->names[level]);
    LS_ASSERT(strings->count >= 0 && strings->count <= FAKEZK_NAMES_MAX);
    size_t names = (size_t)strings->count;
    names_used[level] = strings->count > names_used[level] ? strings->count : names_used[level];
    values_used[level] = true;
    from->values[level].acls = world_acl(m->data_size, &from->values[level].acl);
    before_callback(fn);
    switch (m->op) {
    case OP_CREATE:
    case OP_SYNC:
        ((string_completion_t)fn)(m->rc, path, m->data);
        break;
    case OP_CREATE2:
        ((string_stat_completion_t)fn)(m->rc, path, ok ? stat : NULL, m->data);
        break;
    case OP_EXISTS:
    case OP_SET:
        ((stat_completion_t)fn)(m->rc, ok ? stat : NULL, m->data);
        break;
    case OP_GET:
        call_data(m, ok ? stat : NULL);
        break;
    case OP_CHILDREN:
        ((strings_completion_t)fn)(m->rc, ok ? strings : NULL, m->data);
        break;
    case OP_CHILDREN2:
        ((strings_stat_completion_t)fn)(m->rc, ok ? strings : NULL, ok ? stat : NULL, m->data);
        break;
    case OP_GET_ACL:
        call_acl(m, &from->values[level].acls, stat);
        break;
    default:
        ((void_completion_t)fn)(m->rc, m->data);
        break;
    }
    memset(from->names[level], FAKEZK_POISON, names * sizeof from->names[level][0]);
    memset(&from->values[level], FAKEZK_POISON, sizeof from->values[level]);
}

static void call_watchers(struct _zhandle *zh, int type, int state, const char *path,
                          const struct watch_target *targets, int count)
{
    LS_ASSERT(count >= 0 && count <= WATCH_TARGETS_MAX + 1);
    for (int i = 0; i < count; i++) {
        watcher_fn fn = (watcher_fn)code_unpack_fn(targets[i].watcher);
        if (fn != NULL) {
            tell_event(type);
            tell_state(state);
            before_callback((code_fn)fn);
            fn(zh, type, state, path, targets[i].context);
        }
    }
}

static void deliver_session(struct _zhandle *zh, const struct zk_message *m)
{
    LS_ASSERT(m->rec.tag == MESSAGE_SESSION);
    struct watch_target targets[WATCH_TARGETS_MAX + 1];
    struct fakezk_event event = {.kind = FAKEZK_SESSION_EVENT,
                                 .client = zh->client,
                                 .handle = zh->slot,
                                 .code = m->rc,
                                 .session = m->out_size};
    fakezk_emit(&event);
    int count = watch_collect_session(zh->client, zh->slot, targets);
    call_watchers(zh, ZOO_SESSION_EVENT, m->rc, "", targets, count);
}

static void deliver_node(struct _zhandle *zh, const struct zk_message *m)
{
    struct watch_target targets[WATCH_TARGETS_MAX + 1];
    int count = watch_collect(zh->client, zh->slot, m, targets);
    if (count == 0) {
        return; /* F68, F76: no watcher is left for the event */
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

/* Announces a delivered list, or the answer that its node is missing, unless the reply is `outdated`. With
 * several servers the reply may be older than the log, so it is not announced. */
static void announce_list(const struct _zhandle *zh, const struct zk_message *m)
{
    bool read = op_is_list(m->op) && (m->rc == ZOK || m->rc == ZNONODE);
    if (read && !m->outdated && fakezk.options.servers == 1) {
        struct fakezk_event event = {.kind = FAKEZK_LISTED, .client = zh->client, .path = m->bytes};
        fakezk_emit(&event);
    }
}

static void run_message(struct _zhandle *zh, struct zk_message *m, int level)
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
        announce_list(zh, m);
        call_completion(zh, m, level);
        break;
    }
}

void deliver_abandon(void)
{
    for (; depth > 0; depth--) {
        overwrite(&lent[area].area, depth - 1);
    }
}

void deliver_next(int client, int slot)
{
    struct pack pack = client_pack(client);
    struct zk_message *head = head_message(client, slot);
    LS_ASSERT(head != NULL && depth < DEPTH_MAX);
    struct zk_message *m = (struct zk_message *)(void *)lent[area].area.scratch[depth];
    size_t size = head->rec.size;
    scratch_used[depth] = size > scratch_used[depth] ? size : scratch_used[depth];
    memcpy(m, head, size);
    pack_remove(&pack, &head->rec);
    link_receive(client, slot, m);
    LS_ASSERT(m->rec.word == 1);
    if (message_is_list(m) && m->data_size > FAKEZK_NAMES_MAX) {
        fakezk_note_trouble("limit: a list of %d children", m->data_size);
        return;
    }
    struct _zhandle *zh = &client_mark(client)->handle[slot];
    LS_ASSERT(zh->open && !client_at(client)->paused);
    uint8_t was_busy = zh->busy;
    zh->busy = 1;
    depth++;
    run_message(zh, m, depth - 1);
    LS_ASSERT(depth > 0 && depth <= DEPTH_MAX);
    depth--;
    memset(m, FAKEZK_POISON, size);
    client_mark(client);
    zh->busy = was_busy;
    if (zh->lags && head_message(client, slot) == NULL) {
        zh->lags = 0; /* every message that the loss has queued is delivered */
    }
    if (zh->closing == 2 && !zh->busy) {
        handle_drain(client, slot);
    }
}
