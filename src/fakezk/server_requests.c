/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A server reads a client's requests in order, answers reads from its own tree (F42), and passes writes to
 * the leader. It keeps one watch for each connection, path and table (F71). */
#include "base/assert.h"
#include "fakezk/internal.h"

#include <string.h>

#define SCRATCH_BYTES 32768

static _Alignas(8) unsigned char request_space[SCRATCH_BYTES];
static _Alignas(8) unsigned char reply_space[SCRATCH_BYTES];

bool server_awaits_end(int server, int32_t session)
{
    if (server == 0) {
        return false;
    }
    struct pack pack = server_pack(server);
    for (struct rec *rec = pack_first(&pack, LIST_BACKLOG); rec != NULL; rec = pack_next(&pack, rec)) {
        if (rec->tag == TXN_CLOSE && ((struct zk_txn *)rec)->session == session) {
            return true;
        }
    }
    return false;
}

static bool closing(int32_t session)
{
    const struct zk_session *s = session_find(session);
    return s == NULL || s->rec.tag == SESSION_CLOSING;
}

static int compare_watch(const struct zk_server_watch *w, const char *path, int client, int slot, int table)
{
    int order = strcmp(w->path, path);
    if (order == 0) {
        order = w->client - client;
    }
    if (order == 0) {
        order = w->handle - slot;
    }
    return order != 0 ? order : w->rec.tag - table;
}

void server_watch_add(int server, int client, int slot, int table, const char *path)
{
    LS_ASSERT(table >= WATCH_DATA && table < WATCH_NONE);
    struct pack pack = server_pack(server);
    struct rec *rec = pack_first(&pack, LIST_SERVER_WATCH);
    for (; rec != NULL; rec = pack_next(&pack, rec)) {
        int order = compare_watch((struct zk_server_watch *)rec, path, client, slot, table);
        if (order == 0) {
            return;
        }
        if (order > 0) {
            break;
        }
    }
    size_t size = strlen(path);
    LS_ASSERT(size < FAKEZK_PATH_MAX);
    struct zk_server_watch *watch =
        (struct zk_server_watch *)pack_insert(&pack, LIST_SERVER_WATCH, rec, sizeof *watch + size + 1);
    if (watch == NULL) {
        fakezk_note_trouble("limit: s%d has too many watches", server + 1);
        return;
    }
    watch->rec.tag = (uint8_t)table;
    watch->client = (uint8_t)client;
    watch->handle = (uint8_t)slot;
    watch->path_size = (uint16_t)size;
    memcpy(watch->path, path, size);
}

bool server_watch_remove(int server, int client, int slot, int table, const char *path)
{
    LS_ASSERT(table >= WATCH_DATA && table < WATCH_NONE);
    struct pack pack = server_pack(server);
    for (struct rec *rec = pack_first(&pack, LIST_SERVER_WATCH); rec != NULL; rec = pack_next(&pack, rec)) {
        if (compare_watch((struct zk_server_watch *)rec, path, client, slot, table) == 0) {
            pack_remove(&pack, rec);
            return true;
        }
    }
    return false;
}

/* Forgets a connection at all servers: its watches (F74), and the replies to it that wait in backlogs. */
void server_watch_drop(int client, int slot)
{
    for (int s = 0; s < fakezk.options.servers; s++) {
        struct pack pack = server_pack(s);
        struct rec *rec = pack_first(&pack, LIST_SERVER_WATCH);
        while (rec != NULL) {
            struct zk_server_watch *watch = (struct zk_server_watch *)rec;
            if (watch->client == client && watch->handle == slot) {
                pack_remove(&pack, rec);
                rec = pack_first(&pack, LIST_SERVER_WATCH);
            } else {
                rec = pack_next(&pack, rec);
            }
        }
        struct zk_txn *before = NULL;
        for (rec = pack_first(&pack, LIST_BACKLOG); rec != NULL;) {
            struct zk_txn *txn = (struct zk_txn *)rec;
            if (txn->rec.tag == TXN_REPLY && txn->client == client && txn->handle == slot) {
                if (before != NULL && before->more) {
                    before->more = 0;
                }
                pack_remove(&pack, rec);
                rec = before != NULL ? pack_next(&pack, &before->rec) : pack_first(&pack, LIST_BACKLOG);
            } else {
                before = txn;
                rec = pack_next(&pack, rec);
            }
        }
    }
}

void server_end_session(int server, int32_t session)
{
    LS_ASSERT(session_find(session) == NULL);
    struct session_users users = session_users(session);
    for (int client = users.first; client < users.end; client++) {
        for (int slot = 0; slot < FAKEZK_HANDLES_MAX; slot++) {
            const struct _zhandle *zh = handle_at(client, slot);
            if (zh->open && zh->link && zh->server == server && zh->session == session) {
                server_watch_drop(client, slot);
            }
        }
    }
}

static bool concerns(int type, int table)
{
    if (type == ZOO_CHILD_EVENT) {
        return table == WATCH_CHILD;
    }
    return type == ZOO_DELETED_EVENT || table != WATCH_CHILD;
}

static void send_event(int client, int slot, int type, const char *path, int32_t czxid, int32_t cause,
                       int owner)
{
    LS_ASSERT(owner >= 0 && owner <= fakezk.options.clients);
    struct zk_message *message = (struct zk_message *)reply_space;
    size_t path_size = strlen(path);
    memset(message, 0, sizeof *message + path_size + 8);
    message->rec.tag = MESSAGE_NODE;
    message->rec.size = (uint16_t)((sizeof *message + path_size + 1 + 7) & ~(size_t)7);
    message->rc = type;
    message->zxid = czxid;
    message->cause = cause;
    message->out_size = owner;
    message->path_size = (uint16_t)path_size;
    memcpy(message->bytes, path, path_size + 1);
    server_send(client, slot, message);
}

void server_fire(int server, int type, const char *path, int32_t czxid, int32_t cause, int owner)
{
    LS_ASSERT(cause > 0);
    struct pack pack = server_pack(server);
    int sent_client = -1;
    int sent_slot = -1;
    struct rec *rec = pack_first(&pack, LIST_SERVER_WATCH);
    while (rec != NULL) {
        struct zk_server_watch *watch = (struct zk_server_watch *)rec;
        if (strcmp(watch->path, path) != 0 || !concerns(type, watch->rec.tag)) {
            rec = pack_next(&pack, rec);
            continue;
        }
        int client = watch->client;
        int slot = watch->handle;
        bool missed = type == ZOO_DELETED_EVENT && (fakezk.options.defects & FAKEZK_DEFECT_MISSED_WATCH) != 0;
        bool again = client == sent_client && slot == sent_slot;
        uint32_t at = (uint32_t)((unsigned char *)rec - (unsigned char *)arena_at(fakezk.arena, pack.block));
        pack_remove(&pack, rec);
        if (!missed && !again) {
            send_event(client, slot, type, path, czxid, cause, owner);
            sent_client = client;
            sent_slot = slot;
        }
        /* The record behind the removed one has moved to its place. */
        unsigned char *base = arena_at(fakezk.arena, pack.block);
        rec =
            at < ((struct arena_block *)base)->used && ((struct rec *)(base + at))->list == LIST_SERVER_WATCH
                ? (struct rec *)(base + at)
                : NULL;
    }
}

void server_send(int client, int slot, const struct zk_message *message)
{
    struct _zhandle *zh = handle_at(client, slot);
    if (!zh->open || !zh->link || zh->severed) {
        return;
    }
    struct pack pack = client_pack(client);
    if (message->rec.tag == MESSAGE_REPLY) {
        struct rec *head = pack_first(&pack, LIST_REQUEST + slot);
        LS_ASSERT(head != NULL);
        LS_ASSERT(head->tag == message->op);
        pack_remove(&pack, head);
    }
    int32_t lo = 0;
    int32_t hi = 0;
    link_window(&lo, &hi);
    for (struct rec *rec = pack_first(&pack, LIST_MESSAGE + slot); rec != NULL; rec = pack_next(&pack, rec)) {
        const struct zk_message *before = (struct zk_message *)rec;
        lo = before->lo_ms > lo ? before->lo_ms : lo;
        hi = before->hi_ms > hi ? before->hi_ms : hi;
    }
    LS_ASSERT(lo <= hi);
    struct zk_message *copy = (struct zk_message *)pack_append(&pack, LIST_MESSAGE + slot, message->rec.size);
    if (copy == NULL) {
        fakezk_note_trouble("limit: the messages of a client do not fit");
        return;
    }
    pack_fill(&copy->rec, &message->rec);
    if (copy->rec.tag == MESSAGE_REPLY && !fakezk_seen_matters()) {
        copy->zxid = 0;
    }
    copy->lo_ms = lo;
    copy->hi_ms = hi;
}

static struct zk_message *reply_begin(const struct zk_request *request, int32_t zxid)
{
    LS_ASSERT(request->path_size < FAKEZK_PATH_MAX);
    struct zk_message *reply = (struct zk_message *)reply_space;
    size_t path_size = request->path_size;
    memset(reply, 0, sizeof *reply + path_size + 8);
    reply->rec.tag = MESSAGE_REPLY;
    reply->op = request->rec.tag;
    reply->table = WATCH_NONE;
    reply->zxid = zxid;
    reply->completion = request->completion;
    reply->watcher = request->watcher;
    reply->watch_context = request->watch_context;
    reply->data = request->data;
    reply->data_size = -1;
    reply->path_size = request->path_size;
    memcpy(reply->bytes, request->bytes, path_size + 1);
    return reply;
}

static unsigned char *reply_tail(struct zk_message *reply)
{
    return (unsigned char *)reply->bytes + reply->path_size + 1;
}

static void reply_finish(struct zk_message *reply, const unsigned char *end)
{
    size_t size = (size_t)(end - reply_space);
    size_t padded = (size + 7) & ~(size_t)7;
    _Static_assert(sizeof reply_space <= UINT16_MAX, "the size of a reply fits into a record");
    LS_ASSERT(padded <= sizeof reply_space);
    memset(reply_space + size, 0, padded - size);
    reply->rec.size = (uint16_t)padded;
}

#define CHILDREN_MAX 256

/* The orders in which a server lists children: one in a run, because ZooKeeper specifies none (F57). From
 * LIST_FALLING on they follow the czxid; children of one multi, which have the same czxid, are taken by path.
 * Examples: the order of three children that were created as 0 1 2. */
enum list_order {
    LIST_OF_THE_TREE,
    LIST_OF_THE_TREE_REVERSED,
    LIST_FALLING,         /* 2 1 0 */
    LIST_OLDEST_LAST,     /* 1 2 0 */
    LIST_NEWEST_FIRST,    /* 2 0 1 */
    LIST_OLDEST_FIRST,    /* 0 2 1, the others falling */
    LIST_NEIGHBOURS,      /* 1 0 2, each two of them exchanged */
    LIST_EVERY_OTHER_ONE, /* 0 2 1, those between behind them */
    LIST_RISING,          /* 0 1 2; only with `fixed_orders` */
};

static enum list_order list_order(void)
{
    uint64_t seed = fakezk.options.seed;
    return fakezk.options.fixed_orders ? LIST_RISING : (enum list_order)((seed & 3) | (seed >> 5 & 1) << 2);
}

/* Returns the index of the child that stands at `place` of the list. Children have indexes by czxid, or by
 * path for the two orders of the tree. */
static int child_at(enum list_order order, int place, int count)
{
    LS_ASSERT(place >= 0 && place < count);
    int half = (count + 1) / 2;
    switch (order) {
    case LIST_OF_THE_TREE_REVERSED:
    case LIST_FALLING:
        return count - 1 - place;
    case LIST_OLDEST_LAST:
        return (place + 1) % count;
    case LIST_NEWEST_FIRST:
        return (place + count - 1) % count;
    case LIST_OLDEST_FIRST:
        return (count - place) % count;
    case LIST_NEIGHBOURS:
        return (place ^ 1) < count ? place ^ 1 : place;
    case LIST_EVERY_OTHER_ONE:
        return place < half ? 2 * place : 2 * (place - half) + 1;
    default:
        return place;
    }
}

static void sort_by_age(struct zk_node **children, int count)
{
    for (int i = 1; i < count; i++) {
        struct zk_node *child = children[i];
        int k = i;
        for (; k > 0 && children[k - 1]->stat.czxid > child->stat.czxid; k--) {
            children[k] = children[k - 1];
        }
        children[k] = child;
    }
}

static void order_children(struct zk_node **children, int count)
{
    LS_ASSERT(count >= 0 && count <= CHILDREN_MAX);
    struct zk_node *listed[CHILDREN_MAX];
    enum list_order order = list_order();
    if (order == LIST_OF_THE_TREE) {
        return; /* the children come in this order */
    }
    if (order > LIST_OF_THE_TREE_REVERSED) {
        sort_by_age(children, count);
    }
    for (int i = 0; i < count; i++) {
        listed[i] = children[child_at(order, i, count)];
    }
    memcpy(children, listed, (size_t)count * sizeof(struct zk_node *));
}

static unsigned char *list_children(int server, struct zk_message *reply, const char *path)
{
    struct zk_node *children[CHILDREN_MAX];
    int count = 0;
    for (struct zk_node *child = tree_first_child(server, path); child != NULL;
         child = tree_next_child(server, child, path)) {
        if (count == CHILDREN_MAX) {
            fakezk_note_trouble("limit: %s has more than %d children", path, CHILDREN_MAX);
            break;
        }
        children[count++] = child;
    }
    LS_ASSERT(count == CHILDREN_MAX || count == reply->stat.children);
    order_children(children, count);
    unsigned char *to = reply_tail(reply);
    for (int i = 0; i < count; i++) {
        const char *name = strrchr(node_path(children[i]), '/') + 1;
        size_t size = strlen(name) + 1;
        if (to + size > reply_space + sizeof reply_space) {
            fakezk_note_trouble("limit: the list of children of %s is too long", path);
            break;
        }
        memcpy(to, name, size);
        to += size;
    }
    reply->data_size = count;
    return to;
}

/* Adds the watch that a read asks for, if the read succeeded or is an exists of an absent node (F66). */
static void leave_watch(int server, int client, int slot, const struct zk_request *request,
                        struct zk_message *reply)
{
    int op = request->rec.tag;
    if (request->watcher == 0) {
        return;
    }
    if (reply->rc == ZOK) {
        reply->table = op_is_list(op) ? WATCH_CHILD : WATCH_DATA;
    } else if (reply->rc == ZNONODE && op == OP_EXISTS) {
        reply->table = WATCH_EXIST;
    } else {
        return;
    }
    LS_ASSERT(!op_is_write(op));
    server_watch_add(server, client, slot, reply->table, request->bytes);
}

static unsigned char *read_node(int server, const struct zk_request *request, struct zk_message *reply)
{
    int op = request->rec.tag;
    struct zk_node *node = tree_find(server, request->bytes);
    unsigned char *tail = reply_tail(reply);
    if (node == NULL) {
        reply->rc = ZNONODE;
        return tail;
    }
    if (op != OP_EXISTS && !auth_allows(node, request, ZOO_PERM_READ)) {
        reply->rc = ZNOAUTH;
        return tail;
    }
    reply->stat = tree_stat(node);
    if (op == OP_GET) {
        reply->data_size = node->stat.data_size;
        size_t size = node->stat.data_size > 0 ? (size_t)node->stat.data_size : 0;
        memcpy(tail, node_data(node), size);
        tail += size;
    } else if (op_is_list(op)) {
        tail = list_children(server, reply, request->bytes);
    } else if (op == OP_GET_ACL) {
        reply->data_size = node->perms;
        if (node->rec.word != 0) {
            fakezk_note_trouble(
                "unsupported: zoo_aget_acl of a node that has more than the world in its ACL");
        }
    }
    return tail;
}

static int check_watch(int server, int client, int slot, const struct zk_request *request)
{
    LS_ASSERT(request->rec.tag == OP_UNWATCH);
    bool found = false;
    for (int table = WATCH_DATA; table <= WATCH_CHILD; table++) {
        bool child = table == WATCH_CHILD;
        bool asked = request->version == ZWATCHTYPE_ANY || (request->version == ZWATCHTYPE_CHILD) == child;
        if (!asked) {
            continue;
        }
        struct pack pack = server_pack(server);
        for (struct rec *rec = pack_first(&pack, LIST_SERVER_WATCH); rec != NULL;
             rec = pack_next(&pack, rec)) {
            if (compare_watch((struct zk_server_watch *)rec, request->bytes, client, slot, table) == 0) {
                found = true;
            }
        }
        if (request->watcher == 0) {
            server_watch_remove(server, client, slot, table, request->bytes);
        }
    }
    return found ? ZOK : ZNOWATCHER;
}

static void answer_read(int client, int slot, int server, const struct zk_request *request)
{
    LS_ASSERT(!op_needs_leader(request->rec.tag));
    struct zk_message *reply = reply_begin(request, server_at(server)->zxid);
    unsigned char *tail = reply_tail(reply);
    if (request->rec.tag == OP_UNWATCH) {
        reply->rc = check_watch(server, client, slot, request);
        reply->out_size = request->version;
    } else {
        tail = read_node(server, request, reply);
        leave_watch(server, client, slot, request, reply);
        if (reply->op == OP_CHILDREN && reply->table == WATCH_NONE) {
            memset(&reply->stat, 0, sizeof reply->stat); /* this call does not deliver a stat */
        }
    }
    reply_finish(reply, tail);
    server_send(client, slot, reply);
}

enum { THROTTLED_EACH = 3 };

#define THROTTLED (-127) /* ZTHROTTLEDOP, which older headers lack */

static void refuse(int client, int slot, const struct zk_request *request, int rc)
{
    struct zk_message *reply = reply_begin(request, server_at(handle_at(client, slot)->server)->zxid);
    reply->rc = rc;
    reply->out = request->out;
    reply->out_size = request->out_size;
    reply_finish(reply, reply_tail(reply));
    server_send(client, slot, reply);
}

static bool creates_ephemeral(const struct zk_request *request)
{
    bool creates = request->rec.tag == OP_CREATE || request->rec.tag == OP_CREATE2;
    return creates && request->mode != (uint8_t)ZOO_CONTAINER && (request->mode & ZOO_EPHEMERAL) != 0;
}

/* Returns the code by which a setting of the servers or a read-only server refuses the request (F102 to
 * F105), or ZOK. With FAKEZK_SETTING_THROTTLED counts the requests that come so far. */
static int refusal(const struct _zhandle *zh, const struct zk_request *request)
{
    LS_ASSERT(zh->link && server_at(zh->server)->throttle < THROTTLED_EACH);
    if (zh->state == ZOO_READONLY_STATE && op_needs_leader(request->rec.tag)) {
        return ZNOTREADONLY;
    }
    if (is_set(FAKEZK_SETTING_REQUIRES_SASL)) {
        return ZSESSIONCLOSEDREQUIRESASLAUTH;
    }
    if (is_set(FAKEZK_SETTING_THROTTLED) && ++server_mark(zh->server)->throttle == THROTTLED_EACH) {
        server_at(zh->server)->throttle = 0;
        return THROTTLED;
    }
    return is_set(FAKEZK_SETTING_LOCAL_SESSIONS) && creates_ephemeral(request) ? ZEPHEMERALONLOCALSESSION
                                                                               : ZOK;
}

void server_apply(int client, int slot, bool refused)
{
    struct zk_request *head = head_request(client, slot);
    LS_ASSERT(head != NULL && head->rec.size <= sizeof request_space);
    LS_ASSERT(head->rec.word != 0 && head->forwarded == 0);
    memcpy(request_space, head, head->rec.size);
    const struct zk_request *request = (struct zk_request *)request_space;
    struct _zhandle *zh = &client_mark(client)->handle[slot];
    LS_ASSERT(zh->open && zh->link);
    if (!server_at(zh->server)->frozen) {
        /* a server that is cut off cannot pass the packet on to the leader (F35) */
        session_touch(zh->session, clock_ms());
    }
    if (refused || (op_needs_leader(request->rec.tag) && closing(zh->session))) {
        refuse(client, slot, request, ZSESSIONEXPIRED);
        return;
    }
    int rc = refusal(zh, request);
    if (rc != ZOK) {
        refuse(client, slot, request, rc);
        if (rc == ZSESSIONCLOSEDREQUIRESASLAUTH) {
            link_sever(client, slot);
        }
        return;
    }
    int32_t zxid = 0;
    if (request->rec.tag == OP_SYNC) {
        zxid = commit_sync(client, slot, zh->server, request);
    } else if (op_is_write(request->rec.tag)) {
        aside_late_all();
        zxid = commit_request(client, slot, zh->session, zh->server, request);
    } else {
        answer_read(client, slot, zh->server, request);
        return;
    }
    if (zh->server != 0) {
        LS_ASSERT(head_request(client, slot) != NULL);
        head = head_request(client, slot);
        head->forwarded = zxid == 0 ? -1 : zxid;
    }
}
