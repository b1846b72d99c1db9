/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Where the ensemble and the client library keep numbers that grow. */
#include "base/canon.h"

#include "fakezk/internal.h"

#include <string.h>

static void show_stat(struct canon *canon, const struct zk_stat *stat)
{
    canon_number(canon, CANON_ZXID, &stat->czxid);
    canon_number(canon, CANON_ZXID, &stat->mzxid);
    canon_number(canon, CANON_ZXID, &stat->pzxid);
    canon_bound(canon, CANON_SEQUENCE, &stat->cversion);
    canon_number(canon, CANON_SESSION, &stat->owner);
}

/* Nothing that a multi holds is shown: its guard's path and data name numbers too. */
static void show_request(struct canon *canon, const struct zk_request *request)
{
    if (request->rec.tag == OP_MULTI) {
        canon_refuse(canon);
    }
    canon_text(canon, request->bytes);
}

static bool is_list(int op)
{
    return op == OP_CHILDREN || op == OP_CHILDREN2;
}

static void show_message(struct canon *canon, const struct zk_message *message)
{
    if (message->rec.tag == MESSAGE_SESSION) {
        canon_number(canon, CANON_SESSION, &message->out_size);
        return;
    }
    if (message->op == OP_MULTI) {
        canon_refuse(canon);
    }
    canon_number(canon, CANON_ZXID, &message->cause);
    if (message->rec.tag == MESSAGE_NODE) {
        canon_number(canon, CANON_ZXID, &message->zxid);
    }
    show_stat(canon, &message->stat);
    canon_text(canon, message->bytes);
    const char *text = message->bytes + message->path_size + 1;
    for (int i = 0; is_list(message->op) && i < message->data_size; i++) {
        canon_text(canon, text);
        text += strlen(text) + 1;
    }
}

/* ---- servers ---- */

static void show_transaction(struct canon *canon, const struct zk_txn *txn)
{
    canon_number(canon, CANON_ZXID, &txn->zxid);
    if (txn->rec.tag == TXN_REPLY) {
        const struct zk_message *reply = (const struct zk_message *)(const void *)txn->bytes;
        show_message(canon, reply);
        canon_bound(canon, CANON_ZXID, &reply->zxid);
        return;
    }
    canon_number(canon, CANON_SESSION, &txn->session);
    if (txn->rec.tag == TXN_CREATE) {
        canon_bound(canon, CANON_SEQUENCE, &txn->counter);
    } else {
        canon_number(canon, CANON_ZXID, &txn->counter); /* the node's czxid, for its watches */
    }
    canon_text(canon, txn->bytes);
}

static void show_server(struct canon *canon, int s)
{
    struct pack pack = server_pack(s);
    /* A client that looks for a server compares what it has seen with this. */
    (fakezk.options.servers > 1 ? canon_number : canon_bound)(canon, CANON_ZXID, &server_at(s)->zxid);
    for (struct rec *rec = pack_first(&pack, LIST_NODE); rec != NULL; rec = pack_next(&pack, rec)) {
        const struct zk_node *node = (const struct zk_node *)rec;
        show_stat(canon, &node->stat);
        canon_bound(canon, CANON_SEQUENCE, &node->created);
        canon_text(canon, node_path(node));
    }
    for (struct rec *rec = pack_first(&pack, LIST_SERVER_WATCH); rec != NULL; rec = pack_next(&pack, rec)) {
        canon_text(canon, ((const struct zk_server_watch *)rec)->path);
    }
    for (struct rec *rec = pack_first(&pack, LIST_BACKLOG); rec != NULL; rec = pack_next(&pack, rec)) {
        show_transaction(canon, (const struct zk_txn *)rec);
    }
}

static void show_log(struct canon *canon)
{
    struct pack pack = log_pack();
    canon_bound(canon, CANON_ZXID, &the_log()->zxid);
    canon_bound(canon, CANON_SESSION, &the_log()->next_session);
    for (struct rec *rec = pack_first(&pack, LIST_SESSION); rec != NULL; rec = pack_next(&pack, rec)) {
        canon_number(canon, CANON_SESSION, (const int32_t *)&rec->word);
    }
    for (int list = LIST_LATE; list <= LIST_LINGER; list++) {
        for (struct rec *rec = pack_first(&pack, list); rec != NULL; rec = pack_next(&pack, rec)) {
            const struct zk_request *late = (const struct zk_request *)rec;
            canon_number(canon, CANON_SESSION, &late->forwarded);
            show_request(canon, late);
        }
    }
}

/* ---- clients ---- */

/* What the client has seen last counts when it looks for a server that is not behind that, and when it asks which watches
 * have missed something. Without a second server, and before the first watch is about to be set, it is overwritten before
 * anybody asks: by the reply that sets the watch. */
static bool needs_seen(const struct pack *pack, int slot)
{
    return fakezk.options.servers > 1 || pack_first(pack, LIST_WATCH + slot) != NULL;
}

static void show_seen(struct canon *canon, const int32_t *zxid, bool matters)
{
    if (matters) {
        canon_bound(canon, CANON_ZXID, zxid);
    } else {
        canon_blank(canon, zxid, sizeof *zxid);
    }
}

static void show_handle(struct canon *canon, int client, int slot)
{
    const struct _zhandle *zh = handle_at(client, slot);
    struct pack pack = client_pack(client);
    bool seen = needs_seen(&pack, slot);
    bool seen_received = seen;
    canon_number(canon, CANON_SESSION, &zh->session);
    canon_wide(canon, CANON_SESSION, &zh->id.client_id);
    for (struct rec *rec = pack_first(&pack, LIST_REQUEST + slot); rec != NULL; rec = pack_next(&pack, rec)) {
        canon_number(canon, CANON_ZXID, &((const struct zk_request *)rec)->forwarded);
        show_request(canon, (const struct zk_request *)rec);
    }
    for (struct rec *rec = pack_first(&pack, LIST_MESSAGE + slot); rec != NULL; rec = pack_next(&pack, rec)) {
        const struct zk_message *message = (const struct zk_message *)rec;
        show_message(canon, message);
        seen = seen || message->watcher != 0;
        seen_received = seen_received || (message->watcher != 0 && rec->word == 1);
        if (rec->tag != MESSAGE_NODE) {
            show_seen(canon, &message->zxid, seen);
        }
    }
    show_seen(canon, &zh->last_zxid, seen_received);
    for (struct rec *rec = pack_first(&pack, LIST_WATCH + slot); rec != NULL; rec = pack_next(&pack, rec)) {
        canon_number(canon, CANON_ZXID, &((const struct zk_watch *)rec)->czxid);
        canon_text(canon, ((const struct zk_watch *)rec)->path);
    }
}

void fakezk_canon(int block, struct canon *canon)
{
    if (block == fakezk.log_block) {
        show_log(canon);
    }
    for (int s = 0; s < fakezk.options.servers; s++) {
        if (block == fakezk.server_block[s]) {
            show_server(canon, s);
        }
    }
    for (int client = 0; client < fakezk.options.clients; client++) {
        for (int slot = 0; block == fakezk.client_block[client] && slot < FAKEZK_HANDLES_MAX; slot++) {
            show_handle(canon, client, slot);
        }
    }
}
