/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Writes at the leader: the log, the reply, and the transactions that the followers will apply.
 *
 * A write is first carried out on the leader's tree, and its transactions are collected in a batch. Each
 * operation of a multi sees those before it (F62). If one of them fails, the leader's block is restored. The
 * batch of a write that failed becomes one TXN_NOTHING, which still uses up a zxid (F41). Then the batch is
 * announced, fires the watches at the leader, and is queued for the followers. */
#include "base/assert.h"
#include "fakezk/internal.h"

#include <string.h>

static _Alignas(8) unsigned char undo[UINT16_MAX + 1 + sizeof(struct zk_server)];
static _Alignas(8) unsigned char reply_space[1 << 15];

static struct zk_message *reply_begin(const struct zk_request *request, int32_t zxid)
{
    struct zk_message *reply = (struct zk_message *)reply_space;
    memset(reply, 0, sizeof *reply + FAKEZK_PATH_MAX);
    reply->rec.tag = MESSAGE_REPLY;
    reply->rec.size = (uint16_t)sizeof *reply;
    reply->op = request->rec.tag;
    reply->table = WATCH_NONE;
    reply->zxid = zxid;
    reply->completion = request->completion;
    reply->data = request->data;
    reply->out = request->out;
    reply->out_size = request->out_size;
    reply->data_size = -1;
    return reply;
}

static void reply_path(struct zk_message *reply, const char *path)
{
    LS_ASSERT(strlen(path) < FAKEZK_PATH_MAX);
    reply->path_size = (uint16_t)strlen(path);
    memcpy(reply->bytes, path, reply->path_size + 1u);
}

static size_t reply_end(const struct zk_message *reply)
{
    LS_ASSERT(reply->path_size < FAKEZK_PATH_MAX);
    return (sizeof *reply + reply->path_size + 1u + 7u) & ~(size_t)7;
}

static void reply_result(struct zk_message *reply, size_t *size, const struct zk_request *sub, int err,
                         const struct operation_result *result)
{
    size_t path_size = result != NULL ? strlen(result->path) : 0;
    size_t bytes = (sizeof(struct zk_result) + path_size + 1 + 7) & ~(size_t)7;
    LS_ASSERT(*size + bytes <= sizeof reply_space);
    struct zk_result *out = (struct zk_result *)(reply_space + *size);
    memset(out, 0, bytes);
    out->err = err;
    out->out = sub->out;
    out->out_size = sub->out_size;
    out->op = sub->rec.tag;
    out->path_size = (uint16_t)path_size;
    if (result != NULL) {
        out->has_stat = result->has_stat;
        out->stat = result->stat;
        memcpy(out->path, result->path, path_size);
    }
    *size += bytes;
    reply->data_size++;
}

/* Returns the sub-request at *at in the data of a multi, and moves *at behind it; NULL behind the last. */
static const struct zk_request *sub_at(const struct zk_request *multi, size_t *at)
{
    if (*at >= (size_t)multi->data_size) {
        return NULL;
    }
    const struct zk_request *sub = (const struct zk_request *)(multi->bytes + multi->path_size + 1 + *at);
    LS_ASSERT(sub->rec.size >= sizeof *sub && *at + sub->rec.size <= (size_t)multi->data_size);
    *at += sub->rec.size;
    return sub;
}

static const struct zk_request *first_set(const struct zk_request *multi)
{
    size_t at = 0;
    const struct zk_request *sub = sub_at(multi, &at);
    while (sub != NULL && sub->rec.tag != OP_SET) {
        sub = sub_at(multi, &at);
    }
    return sub;
}

/* Points an event to the data that stand behind a path and its zero. If the data are null or empty, does
 * nothing. */
static void show_data(struct fakezk_event *event, const char *bytes, size_t path_size, int32_t data_size)
{
    if (data_size > 0) {
        event->data = bytes + path_size + 1;
        event->data_size = data_size;
    }
}

/* Announces each check of a multi as FAKEZK_EFFECT. `failed` is the index of the operation that failed with
 * `rc`; negative = the multi committed. */
static void announce_effects(int client, const struct zk_request *multi, int failed, int rc)
{
    const struct zk_request *set = first_set(multi);
    size_t at = 0;
    int i = 0;
    for (const struct zk_request *sub = sub_at(multi, &at); sub != NULL; sub = sub_at(multi, &at), i++) {
        if (sub->rec.tag != OP_CHECK) {
            continue;
        }
        const struct zk_node *node = tree_find(0, sub->bytes);
        struct fakezk_event event = {.kind = FAKEZK_EFFECT,
                                     .client = (uint8_t)client,
                                     .code = failed < 0,
                                     .zxid = node != NULL ? node->stat.czxid : 0,
                                     .cause = failed == i && rc != ZNOAUTH,
                                     .path = sub->bytes};
        if (set != NULL) {
            show_data(&event, set->bytes, set->path_size, set->data_size);
        }
        fakezk_emit(&event);
    }
}

/* Writes the results of a multi, and returns `rc`. Each result is 0 if the multi committed. Otherwise it is 0
 * before the failing operation, rc at that one, and -2 behind it (F63). */
static int multi_results(struct zk_message *reply, const struct zk_request *multi, int failed, int rc,
                         struct operation_result *results)
{
    size_t size = reply_end(reply);
    size_t at = 0;
    int i = 0;
    reply->data_size = 0;
    for (const struct zk_request *sub = sub_at(multi, &at); sub != NULL; sub = sub_at(multi, &at), i++) {
        int err = failed < 0 || i < failed ? ZOK : (i == failed ? rc : ZRUNTIMEINCONSISTENCY);
        reply_result(reply, &size, sub, err, failed < 0 ? &results[i] : NULL);
    }
    LS_ASSERT(reply->data_size == i && size <= UINT16_MAX);
    reply->rec.size = (uint16_t)size;
    return rc;
}

static int op_multi(int client, const struct zk_request *multi, int32_t session, int32_t zxid,
                    struct zk_message *reply)
{
    static struct operation_result results[MULTI_MAX];
    struct arena_block *leader = arena_at(fakezk.arena, fakezk.server_block[0]);
    uint32_t used = leader->used;
    LS_ASSERT(used <= sizeof undo);
    memcpy(undo, leader, used);
    size_t at = 0;
    int rc = ZOK;
    int failed = -1;
    int i = 0;
    for (const struct zk_request *sub = sub_at(multi, &at); sub != NULL; sub = sub_at(multi, &at), i++) {
        LS_ASSERT(i < MULTI_MAX);
        rc = operation_do(sub, session, zxid, &results[i]);
        if (rc != ZOK) {
            failed = i;
            break;
        }
    }
    if (failed >= 0) {
        server_mark(0);
        arena_resize(fakezk.arena, fakezk.server_block[0], used);
        memcpy(leader, undo, used);
    }
    LS_ASSERT((failed < 0) == (rc == ZOK));
    announce_effects(client, multi, failed, rc);
    return multi_results(reply, multi, failed, rc, results);
}

/* Returns the field `actor` for the event of a deletion:
 * - 1 + client, if a client's request deleted a node without a session, or an ephemeral of a live session
 * - FAKEZK_BY_OPERATOR, if the operator deleted an ephemeral of a live session
 * - 0 otherwise: commit_close_session() takes the session out of the log before it announces deletions. */
static uint8_t actor_of(int client, const struct zk_txn *txn)
{
    LS_ASSERT(txn->rec.tag == TXN_DELETE);
    bool lives = txn->session != 0 && fakezk_session_live(txn->session);
    if (client == (int)FAKEZK_NONE) {
        return lives ? FAKEZK_BY_OPERATOR : 0;
    }
    return txn->session == 0 || lives ? (uint8_t)(client + 1) : 0;
}

static void announce_set(int client, const struct zk_txn *txn)
{
    LS_ASSERT(txn->rec.tag == TXN_SET);
    const struct zk_node *node = tree_find(0, txn->bytes);
    if (node == NULL) {
        return; /* the same multi has deleted the node */
    }
    struct fakezk_event event = {.kind = FAKEZK_NODE_SET, .client = (uint8_t)client, .path = txn->bytes};
    event.ephemeral = node->stat.owner != 0;
    if (event.ephemeral) {
        event.client = (uint8_t)(owner_client(node->stat.owner) - 1);
    }
    event.actor = client == (int)FAKEZK_NONE ? FAKEZK_BY_OPERATOR : 0;
    event.zxid = node->stat.czxid;
    event.cause = txn->zxid;
    event.session = node->stat.owner;
    show_data(&event, txn->bytes, txn->path_size, txn->data_size);
    fakezk_emit(&event);
}

static void announce(int client, const struct zk_txn *txn)
{
    LS_ASSERT(txn->zxid == the_log()->zxid);
    struct fakezk_event event = {.client = (uint8_t)client, .path = txn->bytes};
    if (txn->rec.tag == TXN_CREATE) {
        event.kind = FAKEZK_NODE_CREATED;
        event.zxid = txn->zxid;
        event.ephemeral = txn->node_kind == NODE_EPHEMERAL;
        event.session = event.ephemeral ? txn->session : 0;
        show_data(&event, txn->bytes, txn->path_size, txn->data_size);
        fakezk_emit(&event);
    } else if (txn->rec.tag == TXN_DELETE) {
        event.kind = FAKEZK_NODE_DELETED;
        event.client = txn->client > 0 ? (uint8_t)(txn->client - 1) : event.client;
        event.actor = actor_of(client, txn);
        event.zxid = txn->counter;
        event.cause = txn->zxid;
        event.ephemeral = txn->session != 0;
        event.session = txn->session;
        fakezk_emit(&event);
    } else if (txn->rec.tag == TXN_SET) {
        announce_set(client, txn);
    }
}

/* Fires a server's watches of a transaction. Both events of a deletion, DELETED and the parent's CHILD, carry
 * the czxid of the deleted node. */
static void fire(int server, const struct zk_txn *txn)
{
    char parent[FAKEZK_PATH_MAX];
    int32_t deleted = txn->rec.tag == TXN_DELETE ? txn->counter : 0;
    switch (txn->rec.tag) {
    case TXN_CREATE:
        server_fire(server, ZOO_CREATED_EVENT, txn->bytes, txn->zxid, txn->zxid, txn->client);
        break;
    case TXN_DELETE:
        server_fire(server, ZOO_DELETED_EVENT, txn->bytes, deleted, txn->zxid, txn->client);
        break;
    case TXN_SET:
        server_fire(server, ZOO_CHANGED_EVENT, txn->bytes, 0, txn->zxid, 0);
        return;
    default:
        return;
    }
    if (tree_parent(txn->bytes, parent)) {
        server_fire(server, ZOO_CHILD_EVENT, parent, deleted, txn->zxid, 0);
    }
}

/* Queues the batch for one follower, and behind it `reply`; NULL = no reply goes by way of this follower. */
static void forward(int server, int client, int slot, const struct zk_message *reply)
{
    LS_ASSERT(server > 0 && server < fakezk.options.servers);
    struct pack pack = server_pack(server);
    size_t at = 0;
    for (struct zk_txn *txn = batch_at(&at); txn != NULL; txn = batch_at(&at)) {
        struct zk_txn *copy = (struct zk_txn *)pack_append(&pack, LIST_BACKLOG, txn->rec.size);
        if (copy == NULL) {
            fakezk_note_trouble("limit: the backlog of s%d is full", server + 1);
            return;
        }
        memcpy((char *)copy + sizeof copy->rec, (char *)txn + sizeof txn->rec,
               txn->rec.size - sizeof txn->rec);
        copy->rec.tag = txn->rec.tag;
        copy->more = !batch_ends(at) || reply != NULL;
    }
    if (reply == NULL) {
        return;
    }
    struct zk_txn *carrier =
        (struct zk_txn *)pack_append(&pack, LIST_BACKLOG, sizeof *carrier + reply->rec.size);
    if (carrier == NULL) {
        fakezk_note_trouble("limit: the backlog of s%d is full", server + 1);
        return;
    }
    carrier->rec.tag = TXN_REPLY;
    carrier->zxid = reply->zxid;
    carrier->client = (uint8_t)client;
    carrier->handle = (uint8_t)slot;
    memcpy(carrier->bytes, reply, reply->rec.size);
}

static void publish(int client)
{
    size_t at = 0;
    for (struct zk_txn *txn = batch_at(&at); txn != NULL; txn = batch_at(&at)) {
        announce(client, txn);
    }
    at = 0;
    for (struct zk_txn *txn = batch_at(&at); txn != NULL; txn = batch_at(&at)) {
        fire(0, txn);
    }
    LS_ASSERT(the_log()->zxid > server_at(0)->zxid);
    server_mark(0)->zxid = the_log()->zxid;
}

static void forward_all(int client, int slot, int server, const struct zk_message *reply)
{
    for (int s = 1; s < fakezk.options.servers; s++) {
        forward(s, client, slot, s == server ? reply : NULL);
    }
}

/* ---- epochs ---- */

/* Epoch 1 + n begins behind the number n * EPOCH_STEP; some epochs are left out. So the result of
 * fakezk_number() depends on its argument alone, and not on the log. The step is small because numbers from
 * QUICK_NUMBERS (state/canon_internal.h) on are ranked slowly. */
#define EPOCH_STEP 32

/* Returns the number below that of the first transaction of the present epoch. */
static int32_t present_epoch(void)
{
    const struct zk_log *log = the_log();
    LS_ASSERT(log->epochs < FAKEZK_EPOCHS_MAX);
    return log->epochs > 0 ? log->begin[log->epochs - 1] : 0;
}

void commit_begin_epoch(void)
{
    const struct zk_log *log = the_log();
    if (log->zxid > present_epoch() && log->epochs < FAKEZK_EPOCHS_MAX - 1) {
        struct zk_log *marked = log_mark();
        LS_ASSERT(marked->zxid >= 0);
        marked->begin[marked->epochs++] = (marked->zxid / EPOCH_STEP + 1) * EPOCH_STEP;
    }
}

static void take_number(void)
{
    struct zk_log *log = log_mark();
    int32_t begin = present_epoch();
    log->zxid = (log->zxid > begin ? log->zxid : begin) + 1;
    LS_ASSERT(log->zxid > begin);
}

int64_t fakezk_zxid(int32_t number)
{
    if (!fakezk.options.epochs) {
        return number; /* without reading the log: a step depends on each block that it reads */
    }
    const struct zk_log *log = the_log();
    uint32_t epoch = log->epochs;
    while (epoch > 0 && number <= log->begin[epoch - 1]) {
        epoch--;
    }
    int32_t begin = epoch > 0 ? log->begin[epoch - 1] : 0;
    return (int64_t)(begin / EPOCH_STEP) << 32 | (number - begin);
}

int32_t fakezk_number(int64_t zxid)
{
    return zxid > 0 ? (int32_t)(zxid >> 32) * EPOCH_STEP + (int32_t)zxid : 0;
}

static void begin_batch(void)
{
    batch_clear();
    take_number();
    server_mark(0);
    LS_ASSERT(batch_ends(0));
}

int32_t commit_request(int client, int slot, int32_t session, int server, const struct zk_request *request)
{
    LS_ASSERT(op_is_write(request->rec.tag) && session > 0);
    begin_batch();
    int32_t zxid = the_log()->zxid;
    struct zk_message *reply = reply_begin(request, zxid);
    struct operation_result result;
    if (request->rec.tag == OP_MULTI) {
        reply->rc = op_multi(client, request, session, zxid, reply);
    } else {
        reply->rc = operation_do(request, session, zxid, &result);
        if (reply->rc == ZOK) {
            reply_path(reply, result.path);
            reply->stat = result.stat;
        }
        reply->rec.size = (uint16_t)reply_end(reply);
    }
    if (reply->rc != ZOK) {
        batch_clear();
    }
    if (batch_ends(0)) {
        batch_add(TXN_NOTHING, zxid, "", NULL, -1);
    }
    LS_ASSERT(!batch_ends(0));
    publish(client);
    bool answered = slot != (int)FAKEZK_NONE;
    forward_all(client, slot, server, answered ? reply : NULL);
    if (answered && server == 0) {
        server_send(client, slot, reply);
    }
    return zxid;
}

int32_t commit_sync(int client, int slot, int server, const struct zk_request *request)
{
    LS_ASSERT(request->rec.tag == OP_SYNC);
    aside_late_all();
    int32_t zxid = the_log()->zxid;
    struct zk_message *reply = reply_begin(request, zxid);
    reply_path(reply, request->bytes);
    reply->rec.size = (uint16_t)reply_end(reply);
    if (server == 0) {
        server_send(client, slot, reply);
        return zxid;
    }
    batch_clear();
    forward(server, client, slot, reply);
    return zxid;
}

/* Returns a client's next session number; 0 = too many. The number does not depend on the sessions of other
 * clients. */
static int32_t next_session_number(int client)
{
    struct zk_log *log = log_mark();
    if (log->sessions[client] == UINT16_MAX) {
        return 0;
    }
    return 1 + client + fakezk.options.clients * log->sessions[client]++;
}

static struct zk_session *add_session(int client, int32_t number)
{
    LS_ASSERT(number == 0 || (session_find(number) == NULL && session_client(number) == client));
    struct pack pack = log_pack();
    struct rec *before = pack_first(&pack, LIST_SESSION);
    while (before != NULL && ((struct zk_session *)before)->client <= client) {
        before = pack_next(&pack, before);
    }
    LS_ASSERT(before == NULL || ((struct zk_session *)before)->client > client);
    return number == 0
               ? NULL
               : (struct zk_session *)pack_insert(&pack, LIST_SESSION, before, sizeof(struct zk_session));
}

int32_t commit_open_session(int client, int32_t timeout_ms)
{
    aside_late_all();
    begin_batch();
    int32_t number = next_session_number(client);
    struct zk_session *session = add_session(client, number);
    if (session == NULL) {
        fakezk_note_trouble("limit: too many sessions");
        return 0;
    }
    session->rec.word = (uint32_t)number;
    session->timeout_ms = timeout_ms;
    session->touched_ms = clock_ms();
    session->client = (uint8_t)client;
    batch_add(TXN_NOTHING, the_log()->zxid, "", NULL, -1);
    publish(client);
    forward_all(client, 0, 0, NULL);
    struct fakezk_event event = {.kind = FAKEZK_SESSION_OPENED, .client = (uint8_t)client, .session = number};
    fakezk_emit(&event);
    LS_ASSERT(session_find(number) == session);
    return number;
}

/* Returns the next node of a closing session to remove, NULL = none is left. The order is by path, up or, in
 * half of the seeds without `fixed_orders`, down (F85). */
static struct zk_node *next_ephemeral(int32_t session)
{
    struct pack pack = server_pack(0);
    struct zk_node *found = NULL;
    for (struct rec *rec = pack_first(&pack, LIST_NODE); rec != NULL; rec = pack_next(&pack, rec)) {
        struct zk_node *node = (struct zk_node *)rec;
        if (node->stat.owner == session) {
            found = node;
            LS_ASSERT(node->rec.tag == NODE_EPHEMERAL);
            if ((fakezk.options.seed & 4) == 0 || fakezk.options.fixed_orders) {
                return found;
            }
        }
    }
    return found;
}

void commit_close_session(int32_t number)
{
    aside_late_all();
    struct zk_session *session = session_find(number);
    LS_ASSERT(session != NULL);
    LS_ASSERT(session->rec.tag == SESSION_CLOSING);
    int client = session->client;
    begin_batch();
    int32_t zxid = the_log()->zxid;
    struct zk_node *node = NULL;
    while ((fakezk.options.defects & FAKEZK_DEFECT_IMMORTAL) == 0 &&
           (node = next_ephemeral(number)) != NULL) {
        struct zk_txn *txn = batch_add(TXN_DELETE, zxid, node_path(node), NULL, -1);
        if (txn == NULL) {
            break;
        }
        txn->session = number;
        txn->client = (uint8_t)(client + 1);
        txn->counter = node->stat.czxid;
        tree_delete(0, txn->bytes, zxid);
    }
    struct zk_txn *close = batch_add(TXN_CLOSE, zxid, "", NULL, -1);
    if (close != NULL) {
        close->session = number;
    }
    struct pack pack = log_pack();
    pack_remove(&pack, &session_find(number)->rec);
    aside_forget(number);
    LS_ASSERT(session_find(number) == NULL);
    publish(client);
    forward_all(client, 0, 0, NULL);
    server_end_session(0, number);
    struct fakezk_event event = {.kind = FAKEZK_SESSION_CLOSED, .client = (uint8_t)client, .session = number};
    fakezk_emit(&event);
}

static void apply_txn(int server, const struct zk_txn *txn)
{
    LS_ASSERT(server > 0);
    switch (txn->rec.tag) {
    case TXN_CREATE:
        tree_create(server, txn);
        break;
    case TXN_DELETE:
        tree_delete(server, txn->bytes, txn->zxid);
        break;
    case TXN_SET:
        tree_set(server, txn);
        break;
    case TXN_SET_ACL:
        tree_set_acl(server, txn);
        break;
    case TXN_REPLY:
        server_send(txn->client, txn->handle, (const struct zk_message *)txn->bytes);
        return;
    default:
        break;
    }
    LS_ASSERT(txn->zxid >= server_at(server)->zxid);
    server_mark(server)->zxid = txn->zxid;
}

void commit_catch_up(int server)
{
    static _Alignas(8) unsigned char step[BATCH_BYTES * 2];
    size_t size = 0;
    bool more = true;
    struct pack pack = server_pack(server);
    while (more) {
        struct zk_txn *txn = (struct zk_txn *)pack_first(&pack, LIST_BACKLOG);
        LS_ASSERT(txn != NULL && size + txn->rec.size <= sizeof step);
        more = txn->more != 0;
        memcpy(step + size, txn, txn->rec.size);
        size += txn->rec.size;
        pack_remove(&pack, &txn->rec);
    }
    for (size_t at = 0; at < size; at += ((struct zk_txn *)(step + at))->rec.size) {
        apply_txn(server, (struct zk_txn *)(step + at));
        fire(server, (struct zk_txn *)(step + at));
        if (((struct zk_txn *)(step + at))->rec.tag == TXN_CLOSE) {
            server_end_session(server, ((struct zk_txn *)(step + at))->session);
        }
    }
}

/* ---- the operator ---- */

static void end_operator_batch(void)
{
    publish((int)FAKEZK_NONE);
    forward_all(0, 0, 0, NULL);
}

/* Creates a node for the operator. The parent exists. The caller commits the late writes before. */
void commit_operator_create(const char *path, int perms, int node_kind)
{
    LS_ASSERT(tree_find(0, path) == NULL);
    begin_batch();
    char parent_path[FAKEZK_PATH_MAX];
    tree_parent(path, parent_path);
    struct zk_txn *txn = batch_add(TXN_CREATE, the_log()->zxid, path, NULL, -1);
    if (txn == NULL) {
        return;
    }
    txn->node_kind = (uint8_t)node_kind;
    txn->perms = (uint8_t)perms;
    txn->counter = operation_count_up(tree_find(0, parent_path)->created);
    tree_create(0, txn);
    end_operator_batch();
}

/* Marks the list replies on their way to a client as made before a deletion by the operator; see
 * FAKEZK_LISTED. */
static void outdate_lists(int client)
{
    LS_ASSERT(client >= 0 && client < fakezk.options.clients);
    struct pack pack = client_pack(client);
    for (int slot = 0; slot < FAKEZK_HANDLES_MAX; slot++) {
        struct rec *rec = pack_first(&pack, LIST_MESSAGE + slot);
        for (; rec != NULL; rec = pack_next(&pack, rec)) {
            struct zk_message *message = (struct zk_message *)rec;
            if (message->rec.tag == MESSAGE_REPLY && op_is_list(message->op)) {
                client_mark(client);
                message->outdated = 1;
            }
        }
    }
}

void commit_operator_delete(const char *path)
{
    const struct zk_node *node = tree_find(0, path);
    LS_ASSERT(node != NULL && node->stat.children == 0);
    if (node->stat.owner != 0 && owner_client(node->stat.owner) != 0) {
        outdate_lists(owner_client(node->stat.owner) - 1);
    }
    begin_batch();
    struct zk_txn *txn = batch_add(TXN_DELETE, the_log()->zxid, path, NULL, -1);
    if (txn == NULL) {
        return;
    }
    txn->session = node->stat.owner;
    txn->client = owner_client(node->stat.owner);
    txn->counter = node->stat.czxid;
    tree_delete(0, path, txn->zxid);
    end_operator_batch();
}

bool commit_operator_set_perms(const char *path, int perms)
{
    LS_ASSERT(tree_find(0, path) != NULL);
    begin_batch();
    if (!operation_set_acl(tree_find(0, path), the_log()->zxid, path, perms, 0)) {
        return false;
    }
    end_operator_batch();
    return true;
}

bool commit_operator_set(const char *path, const char *text)
{
    LS_ASSERT(tree_find(0, path) != NULL);
    begin_batch();
    if (!operation_set_data(tree_find(0, path), the_log()->zxid, path, text, (int32_t)strlen(text))) {
        return false;
    }
    end_operator_batch();
    return true;
}
