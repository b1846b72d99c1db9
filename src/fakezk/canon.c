/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Shows the growing numbers that the ensemble and the client library keep (state/canon.h). */
#include "state/canon.h"

#include "fakezk/internal.h"

#include <string.h>

#define NUMBERS_AHEAD 8 /* of a directory's counter, whose distances count */

static void show_stat(struct canon *canon, const struct zk_stat *stat)
{
    canon_number(canon, CANON_ZXID, &stat->czxid);
    canon_number(canon, CANON_ZXID, &stat->mzxid);
    (fakezk.options.ignores_children ? canon_bound : canon_number)(canon, CANON_ZXID, &stat->pzxid);
    canon_bound(canon, CANON_SEQUENCE, &stat->cversion);
    canon_number(canon, CANON_SESSION, &stat->owner);
}

/* Shows a request. A multi is refused: the sub-requests in its data may contain numbers, which are not
 * shown. */
static void show_request(struct canon *canon, const struct zk_request *request)
{
    if (request->rec.tag == OP_MULTI) {
        canon_refuse(canon);
    }
    canon_text(canon, request->bytes);
}

/* Shows a name of a list as a record, so that the order of names does not count: it is unspecified (F57).
 * `place` is the salt: equal names in two messages of a client are different records. */
static void show_name(struct canon *canon, const char *name, uint32_t place)
{
    canon_record(canon, name, strlen(name) + 1, place);
    canon_text(canon, name);
    canon_record_end(canon);
}

static void show_names(struct canon *canon, const struct zk_message *message, uint32_t place)
{
    char *name[FAKEZK_NAMES_MAX];
    struct String_vector names = message_names(message, name);
    for (int i = 0; i < names.count; i++) {
        show_name(canon, name[i], place);
    }
}

/* Shows the names that the client will look at, of a list on its way there. Cuts out the other names, and the
 * padding. */
static void show_read(struct canon *canon, int client, const struct zk_message *message, uint32_t place)
{
    char *name[FAKEZK_NAMES_MAX];
    bool unread[FAKEZK_NAMES_MAX];
    struct String_vector names = message_names(message, name);
    const char *end = (const char *)message + message->rec.size;
    const char *behind =
        message->bytes + message->path_size + 1; /* in the end: behind all names, where the padding begins */
    uint16_t left = message->rec.size;
    message_unread(client, message, &names, unread);
    for (int i = 0; i < names.count; i++) {
        size_t size = strlen(name[i]) + 1;
        behind = name[i] + size;
        if (unread[i]) {
            canon_cut(canon, name[i], size);
            left = (uint16_t)(left - size);
        } else {
            show_name(canon, name[i], place);
        }
    }
    canon_cut(canon, behind, (size_t)(end - behind));
    canon_size(canon, &message->rec.size, (uint16_t)(left - (end - behind)));
    canon_blank(canon, &message->data_size, sizeof message->data_size); /* follows from the size */
}

static bool sets_watch(const struct zk_message *message)
{
    return message->rec.tag == MESSAGE_REPLY && message->op != OP_UNWATCH && message->table != WATCH_NONE;
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
        canon_role(canon, &message->out_size, sizeof message->out_size, message->out_size - 1);
    }
    show_stat(canon, &message->stat);
    canon_text(canon, message->bytes);
}

static void show_transaction(struct canon *canon, const struct zk_txn *txn)
{
    canon_number(canon, CANON_ZXID, &txn->zxid);
    if (txn->rec.tag == TXN_REPLY) {
        const struct zk_message *reply = (const struct zk_message *)(const void *)txn->bytes;
        show_message(canon, reply);
        show_names(canon, reply, 0);
        canon_bound(canon, CANON_ZXID, &reply->zxid);
        return;
    }
    canon_number(canon, CANON_SESSION, &txn->session);
    if (txn->rec.tag == TXN_CREATE) {
        canon_bound(canon, CANON_SEQUENCE, &txn->counter);
    } else {
        canon_number(canon, CANON_ZXID, &txn->counter); /* czxid of the node */
    }
    canon_text(canon, txn->bytes);
}

/* A new directory counts from 0 on again, and may give numbers that processes remember from the old one. */
static void show_counter(struct canon *canon, const struct zk_node *node)
{
    bool restarts = fakezk.options.directories_go && node->stat.owner == 0;
    canon_counter(canon, CANON_SEQUENCE, &node->created, restarts ? NUMBERS_AHEAD : 0);
}

static void show_server(struct canon *canon, int s)
{
    struct pack pack = server_pack(s);
    /* A client that connects compares this number with its `last_zxid`. */
    (fakezk.options.servers > 1 ? canon_number : canon_bound)(canon, CANON_ZXID, &server_at(s)->zxid);
    for (struct rec *rec = pack_first(&pack, LIST_NODE); rec != NULL; rec = pack_next(&pack, rec)) {
        const struct zk_node *node = (const struct zk_node *)rec;
        canon_record(canon, rec, rec->size, 0);
        show_stat(canon, &node->stat);
        show_counter(canon, node);
        canon_text(canon, node_path(node));
        canon_record_end(canon);
    }
    for (struct rec *rec = pack_first(&pack, LIST_SERVER_WATCH); rec != NULL; rec = pack_next(&pack, rec)) {
        const struct zk_server_watch *watch = (const struct zk_server_watch *)rec;
        canon_record(canon, rec, rec->size, 0);
        canon_role(canon, &watch->client, sizeof watch->client, watch->client);
        canon_text(canon, watch->path);
        canon_record_end(canon);
    }
    for (struct rec *rec = pack_first(&pack, LIST_BACKLOG); rec != NULL; rec = pack_next(&pack, rec)) {
        show_transaction(canon, (const struct zk_txn *)rec);
    }
}

static void show_log(struct canon *canon)
{
    struct pack pack = log_pack();
    uint32_t place = 0;
    canon_bound(canon, CANON_ZXID, &the_log()->zxid);
    canon_blank(canon, &the_log()->epochs,
                sizeof the_log()->epochs); /* later zxids are larger in any epoch */
    canon_blank(canon, the_log()->begin, sizeof the_log()->begin);
    canon_blank(canon, the_log()->sessions,
                sizeof the_log()->sessions); /* a client's next session number is above its others */
    for (struct rec *rec = pack_first(&pack, LIST_SESSION); rec != NULL; rec = pack_next(&pack, rec)) {
        const struct zk_session *session = (const struct zk_session *)rec;
        canon_record(canon, rec, rec->size, 0);
        canon_number(canon, CANON_SESSION, (const int32_t *)&rec->word);
        canon_role(canon, &session->client, sizeof session->client, session->client);
        canon_record_end(canon);
    }
    for (int list = LIST_LATE; list <= LIST_LINGER; list++) {
        for (struct rec *rec = pack_first(&pack, list); rec != NULL; rec = pack_next(&pack, rec)) {
            const struct zk_request *late = (const struct zk_request *)rec;
            canon_record(canon, rec, rec->size, ++place);
            canon_role(canon, &late->lo_ms, sizeof late->lo_ms, late->lo_ms);
            canon_owned(canon, rec, rec->size, late->lo_ms);
            canon_number(canon, CANON_SESSION, &late->forwarded);
            show_request(canon, late);
            canon_record_end(canon);
        }
    }
}

/* Returns whether a future depends on a handle's `last_zxid`, or on a message's `zxid`. With one server, only
 * SetWatches depends on it, and the reply that sets the first watch brings one that is at least as large. */
static bool needs_seen(bool watches)
{
    return fakezk.options.servers > 1 || watches;
}

static void show_seen(struct canon *canon, const int32_t *zxid, bool matters)
{
    if (matters) {
        canon_bound(canon, CANON_ZXID, zxid);
    } else {
        canon_blank(canon, zxid, sizeof *zxid);
    }
}

/* Returns the number of the handle's watches on the same path that were set before this one. */
static uint32_t watches_before(const struct pack *pack, const struct rec *rec)
{
    const char *path = ((const struct zk_watch *)rec)->path;
    uint32_t count = 0;
    for (const struct rec *other = pack_first(pack, rec->list); other != NULL && other != rec;
         other = pack_next(pack, other)) {
        count += strcmp(((const struct zk_watch *)other)->path, path) == 0;
    }
    return count;
}

static void show_watch(struct canon *canon, const struct zk_watch *watch, uint32_t place)
{
    canon_record(canon, watch, watch->rec.size, place);
    canon_number(canon, CANON_ZXID, &watch->czxid);
    canon_text(canon, watch->path);
    canon_record_end(canon);
}

static void show_handle(struct canon *canon, int client, int slot)
{
    const struct _zhandle *zh = handle_at(client, slot);
    struct pack pack = client_pack(client);
    bool watches = pack_first(&pack, LIST_WATCH + slot) != NULL;
    bool watches_received = watches;
    uint32_t place = (uint32_t)slot << 16; /* so that salts of two handles differ */
    canon_role(canon, &zh->client, sizeof zh->client, client);
    canon_blank(canon, pack_table(&pack), sizeof(struct pack_table)); /* follows from the records */
    canon_number(canon, CANON_SESSION, &zh->session);
    canon_wide(canon, CANON_SESSION, &zh->id.client_id, (int32_t)zh->id.client_id);
    for (struct rec *rec = pack_first(&pack, LIST_REQUEST + slot); rec != NULL; rec = pack_next(&pack, rec)) {
        canon_number(canon, CANON_ZXID, &((const struct zk_request *)rec)->forwarded);
        show_request(canon, (const struct zk_request *)rec);
    }
    for (struct rec *rec = pack_first(&pack, LIST_MESSAGE + slot); rec != NULL; rec = pack_next(&pack, rec)) {
        const struct zk_message *message = (const struct zk_message *)rec;
        show_message(canon, message);
        place++;
        if (message_is_list(message)) {
            show_read(canon, client, message, place);
        }
        watches = watches || sets_watch(message);
        watches_received = watches_received || (sets_watch(message) && rec->word == 1);
        if (rec->tag != MESSAGE_NODE) {
            show_seen(canon, &message->zxid, needs_seen(watches));
        }
    }
    show_seen(canon, &zh->last_zxid, needs_seen(watches_received));
    for (struct rec *rec = pack_first(&pack, LIST_WATCH + slot); rec != NULL; rec = pack_next(&pack, rec)) {
        show_watch(canon, (const struct zk_watch *)rec, watches_before(&pack, rec));
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
