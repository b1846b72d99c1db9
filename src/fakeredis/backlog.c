/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "fakeredis/backlog.h"

#include "base/assert.h"

#include <string.h>

/* State of the key before the write: it did not exist, or the image has its value. IMAGE_OVER = it had a
 * lease then, and has expired, or was lost, after the write. */
enum image { IMAGE_NONE, IMAGE_KEY, IMAGE_OVER };

/* The name stands behind the record, then the value, each with zeros up to a multiple of 8. */
struct kept_key {
    struct rec rec; /* rec.tag = enum image, rec.word = bytes of the name */
    int64_t ends_ms;
    uint32_t value_size;
    uint8_t client, connection; /* of the write */
    uint8_t begins;             /* 1 = first image of its write */
    uint8_t database, type, writer, life, shortened;
    uint8_t confirmed; /* 1 = the replicas have the write, and the log may lack it */
    uint8_t unheard;   /* 1 = the replicas were detached at the write */
    uint16_t reserved; /* 0 */
};

static bool is_new_write;

static size_t padded(size_t size)
{
    return (size + 7) / 8 * 8;
}

static struct kept_key *kept(struct rec *rec)
{
    return (struct kept_key *)(void *)rec;
}

static struct kept_key *first(struct server *server)
{
    return kept(pack_first(&server->pack, SERVER_BACKLOG));
}

static struct kept_key *next(struct server *server, struct kept_key *key)
{
    return kept(pack_next(&server->pack, &key->rec));
}

static struct bytes name_of(struct kept_key *key)
{
    LS_ASSERT(key->rec.list == SERVER_BACKLOG);
    return (struct bytes){(const char *)(key + 1), key->rec.word};
}

static struct bytes value_of(struct kept_key *key)
{
    return (struct bytes){(const char *)(key + 1) + padded(key->rec.word), key->value_size};
}

static int writes(struct server *server)
{
    int count = 0;
    LS_ASSERT(first(server) == NULL || first(server)->begins);
    for (struct kept_key *key = first(server); key != NULL; key = next(server, key)) {
        count += key->begins;
    }
    return count;
}

static void drop_oldest(struct server *server)
{
    struct kept_key *key = first(server);
    LS_ASSERT(key != NULL && key->begins);
    do {
        pack_remove(&server->pack, &key->rec);
        key = first(server);
    } while (key != NULL && !key->begins);
}

static void keep_the_last(struct server *server, int count)
{
    for (int more = writes(server) - count; more > 0; more--) {
        drop_oldest(server);
    }
}

void backlog_begin(void)
{
    is_new_write = true;
}

static bool is_detached(const struct server *server)
{
    return server_facts(&server->pack)->detached;
}

/* Returns whether no further image of this key is needed: the current write has kept one, or a write since
 * the detach. All writes since the detach are lost together, but by a log that lags. */
static bool is_kept(struct server *server, int database, struct bytes name)
{
    bool found = false, unheard = false;
    for (struct kept_key *key = first(server); key != NULL; key = next(server, key)) {
        bool same = key->database == database && bytes_equal(name_of(key), name);
        found = (found && !key->begins) || same;
        unheard = unheard || (same && key->unheard);
    }
    return (found && !is_new_write) || (unheard && !server->log_lags);
}

static void fill(struct kept_key *kept, const struct key *key)
{
    unsigned char *at = (unsigned char *)(kept + 1);
    struct bytes value = key_bytes(key);
    LS_ASSERT(kept->rec.tag == IMAGE_NONE && kept->rec.word == key->rec.word);
    kept->rec.tag = IMAGE_KEY;
    kept->ends_ms = key->ends_ms;
    kept->type = key->rec.tag;
    kept->writer = key->writer;
    kept->life = key->life;
    kept->shortened = key->shortened;
    kept->value_size = (uint32_t)value.size;
    memcpy(at + padded(kept->rec.word), value.at, value.size);
}

void backlog_note(struct call *call, int database, struct bytes name)
{
    struct server *server = call->server;
    if (server->lag == 0 || is_kept(server, database, name)) {
        return;
    }
    if (name.size > KEY_NAME_MAX) { /* no key has this name, nor will the write make one */
        call->no_room = true;
        return;
    }
    bool unheard = is_detached(server);
    if (is_new_write && !unheard) {
        keep_the_last(server, server->lag - 1);
    }
    const struct key *key = keys_find(&server->pack, database, name);
    size_t value = key != NULL ? key_bytes(key).size : 0;
    size_t size = sizeof(struct kept_key) + padded(name.size) + padded(value);
    struct kept_key *record = kept(pack_append(&server->pack, SERVER_BACKLOG, size));
    if (record == NULL) {
        call->no_room = true;
        return;
    }
    record->rec.tag = IMAGE_NONE;
    record->rec.word = (uint32_t)name.size;
    record->client = call->client;
    record->connection = call->connection;
    record->database = (uint8_t)database;
    record->begins = is_new_write;
    record->unheard = unheard;
    is_new_write = false;
    memcpy(record + 1, name.at, name.size);
    if (key != NULL) {
        fill(record, key); /* the keys' list is before the backlog, so the new record has not moved `key` */
    }
}

void backlog_forget(struct server *server, const struct key *key)
{
    LS_ASSERT(key->rec.list == SERVER_KEYS);
    for (struct kept_key *old = first(server); old != NULL; old = next(server, old)) {
        if (old->rec.tag == IMAGE_KEY && old->ends_ms != KEY_NEVER && old->database == key->database &&
            bytes_equal(name_of(old), key_name(key))) {
            arena_mark(server->pack.arena, server->pack.block);
            old->rec.tag = IMAGE_OVER;
        }
    }
}

/* The replicas have the first `count` writes. If the log lags, it may lack them all the same. */
static void make_safe(struct server *server, int count)
{
    int all = writes(server), written = 0;
    LS_ASSERT(count >= 0 && count <= all);
    if (!server->log_lags) {
        keep_the_last(server, all - count);
        return;
    }
    arena_mark(server->pack.arena, server->pack.block);
    for (struct kept_key *key = first(server); key != NULL; key = next(server, key)) {
        written += key->begins;
        key->confirmed = key->confirmed || written <= count;
    }
    keep_the_last(server, server->lag);
}

void backlog_confirm(struct server *server, int client, int connection)
{
    int written = 0, confirmed = 0;
    for (struct kept_key *key = first(server); key != NULL; key = next(server, key)) {
        written += key->begins;
        confirmed = key->client == client && key->connection == connection ? written : confirmed;
    }
    LS_ASSERT(written <= server->lag);
    make_safe(server, confirmed);
}

void backlog_attach(struct server *server)
{
    int written = 0, unheard = 0;
    for (struct kept_key *key = first(server); key != NULL; key = next(server, key)) {
        written += key->begins;
        unheard = key->unheard ? written : unheard;
    }
    make_safe(server, unheard);
}

void backlog_clear(struct server *server)
{
    pack_clear(&server->pack, SERVER_BACKLOG);
}

static char name_room[KEY_NAME_MAX], value_room[KEY_VALUE_MAX];

static void put_back(struct server *server, const struct kept_key *image, struct bytes name,
                     struct bytes value)
{
    struct key *key = keys_set(&server->pack, image->database, name, image->type, value);
    LS_ASSERT(image->rec.tag == IMAGE_KEY);
    LS_ALWAYS(key != NULL); /* the key takes less room than its image, which was just removed */
    key->ends_ms = image->ends_ms;
    key->writer = image->writer;
    key->life = image->life;
    key->shortened = image->shortened;
}

/* Undoes the newest change of a key. The caller has removed the image: the parameters are copies. */
static void undo(struct server *server, const struct kept_key *image, struct bytes name, struct bytes value)
{
    struct key *now = keys_find(&server->pack, image->database, name);
    struct lost_write lost = {.database = image->database, .name = name};
    lost.created = image->rec.tag == IMAGE_NONE;
    lost.over = image->rec.tag == IMAGE_OVER && now == NULL;
    if (image->rec.tag == IMAGE_KEY) {
        put_back(server, image, name, value);
    } else if (now != NULL) {
        keys_remove(&server->pack, now);
    }
    lost.key = keys_find(&server->pack, image->database, name);
    LS_ASSERT((lost.key != NULL) == (image->rec.tag == IMAGE_KEY));
    if (server->lost != NULL) {
        server->lost(server, &lost);
    }
}

void backlog_lose(struct server *server, bool confirmed)
{
    struct kept_key *last;
    if (confirmed) {
        keep_the_last(server, server->lag); /* the log has the others */
    }
    while ((last = first(server)) != NULL) {
        for (struct kept_key *key = last; key != NULL; key = next(server, key)) {
            last = key;
        }
        if (last->confirmed && !confirmed) {
            return; /* the writes before it are confirmed, too */
        }
        const struct kept_key image = *last;
        struct bytes name = name_of(last), value = value_of(last);
        LS_ASSERT(name.size <= sizeof name_room && value.size <= sizeof value_room);
        memcpy(name_room, name.at, name.size);
        memcpy(value_room, value.at, value.size);
        pack_remove(&server->pack, &last->rec);
        undo(server, &image, (struct bytes){name_room, name.size}, (struct bytes){value_room, value.size});
    }
}
