/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Questions about the ensemble. */
#include "base/hash.h"
#include "fakezk/enabled.h"

int fakezk_handles(int client)
{
    int mask = 0;
    for (int slot = 0; slot < FAKEZK_HANDLES_MAX; slot++) {
        mask |= handle_at(client, slot)->open ? 1 << slot : 0;
    }
    return mask;
}

bool fakezk_connected(int client, int handle)
{
    return handle_at(client, handle)->link != 0;
}

int fakezk_linked(int client, int nth)
{
    const struct zk_client *c = client_at(client);
    for (int slot = 0; slot < FAKEZK_HANDLES_MAX; slot++) {
        if (c->handle[slot].open && c->handle[slot].link && nth-- == 0) {
            return slot;
        }
    }
    return -1;
}

int fakezk_refusable(int client, int nth)
{
    for (int slot = 0; slot < FAKEZK_HANDLES_MAX; slot++) {
        if (fakezk_can_refuse(client, slot) && nth-- == 0) {
            return slot;
        }
    }
    return -1;
}

bool fakezk_terminal(int client, int handle)
{
    return handle_at(client, handle)->state < 0;
}

bool fakezk_stands(int client)
{
    int slot = fakezk_linked(client, 0);
    if (slot < 0 || fakezk_handles(client) != 1 << slot) {
        return false;
    }
    struct zk_seen seen = see(client, slot);
    const struct _zhandle *zh = seen.zh;
    bool linked = !zh->severed && zh->half == HALF_NOT && !zh->closing && zh->state > 0;
    bool reached = !seen.client->paused && !seen.client->partitioned && !server_at(zh->server)->frozen;
    return linked && reached && seen.session != NULL && seen.session->rec.tag == SESSION_LIVE;
}

/* Returns whether a reply is not received yet, or a request is unanswered. Such a reply may set or remove a
 * watch. */
static bool expects_replies(int client, int handle)
{
    struct pack pack = client_pack(client);
    struct rec *rec = pack_first(&pack, LIST_MESSAGE + handle);
    while (rec != NULL && (rec->word != 0 || rec->tag != MESSAGE_REPLY)) {
        rec = pack_next(&pack, rec);
    }
    return rec != NULL || pack_first(&pack, LIST_REQUEST + handle) != NULL;
}

bool fakezk_is_sure(int client, int handle)
{
    const struct zk_message *message = head_message(client, handle);
    /* another handle's message may be delivered before this one */
    bool alone = fakezk_handles(client) == 1 << handle;
    if (message == NULL || message->rec.word == 0 || !alone || handle_at(client, handle)->closing) {
        return false;
    }
    return message->rec.tag == MESSAGE_REPLY ||
           (message->rec.tag == MESSAGE_SESSION && !expects_replies(client, handle));
}

static uint64_t hash_list(const struct pack *pack, int list)
{
    uint64_t hash = (uint64_t)list;
    for (struct rec *rec = pack_first(pack, list); rec != NULL; rec = pack_next(pack, rec)) {
        hash = hash_bytes(rec, rec->size, hash);
    }
    return hash;
}

uint64_t fakezk_uses(int client)
{
    const struct zk_client *c = client_at(client);
    struct pack pack = client_pack(client);
    uint64_t hash = hash_bytes(c->handle, sizeof c->handle, fakezk.calls);
    for (int slot = 0; slot < FAKEZK_HANDLES_MAX; slot++) {
        hash += hash_list(&pack, LIST_REQUEST + slot) + hash_list(&pack, LIST_WATCH + slot);
    }
    return hash;
}

int fakezk_outstanding(int client, int handle)
{
    struct pack pack = client_pack(client);
    return pack_count(&pack, LIST_REQUEST + handle);
}

int fakezk_queued(int client, int handle)
{
    struct pack pack = client_pack(client);
    return pack_count(&pack, LIST_MESSAGE + handle);
}

int fakezk_notices(int client)
{
    int count = 0;
    struct pack pack = client_pack(client);
    for (int slot = 0; slot < FAKEZK_HANDLES_MAX; slot++) {
        for (struct rec *rec = pack_first(&pack, LIST_MESSAGE + slot); rec != NULL;
             rec = pack_next(&pack, rec)) {
            count += rec->tag == MESSAGE_NODE;
        }
    }
    return count;
}

bool fakezk_awaits(int client)
{
    struct pack pack = client_pack(client);
    for (int slot = 0; slot < FAKEZK_HANDLES_MAX; slot++) {
        if (pack_first(&pack, LIST_REQUEST + slot) != NULL) {
            return true;
        }
        for (struct rec *rec = pack_first(&pack, LIST_MESSAGE + slot); rec != NULL;
             rec = pack_next(&pack, rec)) {
            if (rec->tag == MESSAGE_REPLY) {
                return true;
            }
        }
    }
    return false;
}

bool fakezk_creates(int client)
{
    struct pack pack = client_pack(client);
    for (int slot = 0; slot < FAKEZK_HANDLES_MAX; slot++) {
        for (struct rec *rec = pack_first(&pack, LIST_REQUEST + slot); rec != NULL;
             rec = pack_next(&pack, rec)) {
            if (rec->tag == OP_CREATE || rec->tag == OP_CREATE2 || rec->tag == OP_MULTI) {
                return true;
            }
        }
    }
    return false;
}

int fakezk_watches(int client)
{
    struct pack pack = client_pack(client);
    int count = 0;
    for (int slot = 0; slot < FAKEZK_HANDLES_MAX; slot++) {
        for (struct rec *rec = pack_first(&pack, LIST_WATCH + slot); rec != NULL;
             rec = pack_next(&pack, rec)) {
            count += ((struct zk_watch *)rec)->fired == 0;
        }
    }
    return count;
}

uint32_t fakezk_next_kind(int client, int handle)
{
    const struct zk_message *message = head_message(client, handle);
    return message == NULL
               ? 0
               : message->rec.tag * 64u + (message->rec.tag == MESSAGE_REPLY ? message->op : 0u) + 1;
}

bool fakezk_brings_news(int client, int handle)
{
    const struct zk_message *message = head_message(client, handle);
    return message != NULL && (message->rec.tag != MESSAGE_REPLY || message->rc == ZOK);
}

bool fakezk_quiet(void)
{
    for (int client = 0; client < fakezk.options.clients; client++) {
        for (int slot = 0; slot < FAKEZK_HANDLES_MAX; slot++) {
            struct zk_seen seen = see(client, slot);
            bool under_way = seen.request != NULL || seen.message != NULL || seen.zh->half != HALF_NOT;
            if (seen.zh->open && (under_way || is_hung_up(&seen))) {
                return false;
            }
        }
    }
    for (int s = 1; s < fakezk.options.servers; s++) {
        struct pack pack = server_pack(s);
        if (pack_first(&pack, LIST_BACKLOG) != NULL) {
            return false;
        }
    }
    struct pack pack = log_pack();
    for (struct rec *rec = pack_first(&pack, LIST_SESSION); rec != NULL; rec = pack_next(&pack, rec)) {
        if (rec->tag == SESSION_CLOSING) {
            return false;
        }
    }
    return pack_first(&pack, LIST_LATE) == NULL;
}

int32_t fakezk_czxid(const char *path)
{
    const struct zk_node *node = tree_find(0, path);
    return node != NULL ? node->stat.czxid : 0;
}

int32_t fakezk_last_zxid(void)
{
    return the_log()->zxid;
}

int fakezk_sessions(int client, bool closing, int32_t *out, int capacity)
{
    int count = 0;
    struct pack pack = log_pack();
    for (struct rec *rec = pack_first(&pack, LIST_SESSION); rec != NULL; rec = pack_next(&pack, rec)) {
        bool wanted = (rec->tag == SESSION_CLOSING) == closing;
        if (wanted && ((struct zk_session *)rec)->client == client && count < capacity) {
            out[count++] = (int32_t)rec->word;
        }
    }
    return count;
}

bool fakezk_orphans(void)
{
    struct pack pack = log_pack();
    for (struct rec *rec = pack_first(&pack, LIST_SESSION); rec != NULL; rec = pack_next(&pack, rec)) {
        if (((struct zk_session *)rec)->gone) {
            return true;
        }
    }
    return false;
}

/* Returns whether a step of this handle will happen, now or later, without a timeout, an expiry or the end
 * of a fault. Asks for deliveries, reads of requests, connects and hang-ups, but not for the steps of
 * `fine`. */
static bool handle_busy(int client, int slot)
{
    struct zk_seen seen = see(client, slot);
    const struct zk_client *c = seen.client;
    const struct _zhandle *zh = seen.zh;
    if (seen.message != NULL && !c->paused && (seen.message->rec.word != 0 || !c->partitioned)) {
        return true;
    }
    if (c->partitioned) {
        return false;
    }
    if (seen.request != NULL && zh->link && !zh->severed &&
        (!server_at(zh->server)->frozen || is_read_only(zh)) && is_known(&seen)) {
        return seen.session == NULL || seen.session->rec.tag == SESSION_LIVE;
    }
    if (is_hung_up(&seen)) {
        return true;
    }
    if (zh->link || zh->state < 0 || c->paused) {
        return false;
    }
    for (int s = 0; s < fakezk.options.servers; s++) {
        if ((!server_at(s)->frozen || takes_read_only(zh)) && server_at(s)->zxid >= zh->last_zxid) {
            return true;
        }
    }
    return false;
}

bool fakezk_busy(void)
{
    for (int client = 0; client < fakezk.options.clients; client++) {
        for (int slot = 0; slot < FAKEZK_HANDLES_MAX; slot++) {
            if (handle_at(client, slot)->open && handle_busy(client, slot)) {
                return true;
            }
        }
    }
    for (int s = 1; s < fakezk.options.servers; s++) {
        struct pack pack = server_pack(s);
        if (!server_at(s)->frozen && !server_at(s)->lagging && pack_first(&pack, LIST_BACKLOG) != NULL) {
            return true;
        }
    }
    struct pack pack = log_pack();
    for (struct rec *rec = pack_first(&pack, LIST_SESSION); rec != NULL; rec = pack_next(&pack, rec)) {
        if (rec->tag == SESSION_CLOSING) {
            return true;
        }
    }
    return false; /* a late write commits when nothing else is under way */
}
