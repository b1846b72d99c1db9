/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The watcher tables of the client library, and the watchers that each event calls (F4, F66 to F71). */
#include "base/assert.h"
#include "fakezk/internal.h"

#include <string.h>

/* Announces a watch that was set or is gone. `cause`: zxid of the change that fired it; 0 = no change has, or
 * the event was found at a reconnect. */
static void announce(int client, int slot, const struct zk_watch *watch, int kind, int cause)
{
    int32_t session = handle_at(client, slot)->session;
    struct fakezk_event event = {.kind = (uint8_t)kind,
                                 .client = (uint8_t)client,
                                 .code = watch->rec.tag,
                                 .zxid = watch->czxid,
                                 .cause = cause,
                                 .session = session_find(session) != NULL ? session : 0,
                                 .own = (uint8_t)watch->own,
                                 .path = watch->path};
    fakezk_emit(&event);
}

static struct rec *behind(const struct pack *pack, int list, const char *path)
{
    for (struct rec *rec = pack_first(pack, list); rec != NULL; rec = pack_next(pack, rec)) {
        if (strcmp(((struct zk_watch *)rec)->path, path) > 0) {
            return rec;
        }
    }
    return NULL;
}

static struct zk_watch *find(int client, int slot, int table, const char *path, code_ref watcher,
                             const void *context, bool any)
{
    LS_ASSERT(table >= WATCH_DATA && table < WATCH_NONE);
    struct pack pack = client_pack(client);
    for (struct rec *rec = pack_first(&pack, LIST_WATCH + slot); rec != NULL; rec = pack_next(&pack, rec)) {
        struct zk_watch *watch = (struct zk_watch *)rec;
        if (watch->fired == 0 && watch->rec.tag == table && strcmp(watch->path, path) == 0 &&
            (any || (watch->watcher == watcher && watch->context == context))) {
            return watch;
        }
    }
    return NULL;
}

/* Returns whether a node of this session is the client's own: the handle has this session, or the log says
 * that it is the client's. The handle may have a session that the log does not have. */
static bool is_own(int client, int slot, int32_t session)
{
    return session != 0 &&
           (session == handle_at(client, slot)->session || owner_client(session) == client + 1);
}

void watch_add(int client, int slot, int table, const char *path, code_ref watcher, void *context,
               const struct zk_stat *stat)
{
    LS_ASSERT(table >= WATCH_DATA && table < WATCH_NONE);
    if (find(client, slot, table, path, watcher, context, false) != NULL) {
        return;
    }
    struct pack pack = client_pack(client);
    size_t size = strlen(path);
    LS_ASSERT(size < FAKEZK_PATH_MAX);
    struct zk_watch *watch = (struct zk_watch *)pack_insert(
        &pack, LIST_WATCH + slot, behind(&pack, LIST_WATCH + slot, path), sizeof *watch + size + 1);
    if (watch == NULL) {
        fakezk_note_trouble("limit: the watches of a client do not fit");
        return;
    }
    watch->rec.tag = (uint8_t)table;
    watch->watcher = watcher;
    watch->context = context;
    watch->czxid = stat->czxid;
    watch->own = is_own(client, slot, stat->owner);
    watch->path_size = (uint16_t)size;
    memcpy(watch->path, path, size);
    announce(client, slot, watch, FAKEZK_WATCH_SET, 0);
}

static void take_out(int client, int slot, struct zk_watch *watch, int cause)
{
    LS_ASSERT(watch->rec.list == LIST_WATCH + slot);
    struct pack pack = client_pack(client);
    announce(client, slot, watch, FAKEZK_WATCH_GONE, cause);
    pack_remove(&pack, &watch->rec);
}

bool watch_remove(int client, int slot, int table, const char *path, code_ref watcher, const void *context,
                  bool all)
{
    bool found = false;
    struct zk_watch *watch;
    while ((watch = find(client, slot, table, path, watcher, context, all)) != NULL) {
        take_out(client, slot, watch, 0);
        found = true;
    }
    return found;
}

void watch_close(int client, int slot)
{
    struct pack pack = client_pack(client);
    struct rec *rec;
    while ((rec = pack_first(&pack, LIST_WATCH + slot)) != NULL) {
        take_out(client, slot, (struct zk_watch *)rec, 0);
    }
}

static int add_target(struct watch_target *out, int count, code_ref watcher, void *context, bool own)
{
    LS_ASSERT(count >= 0 && count <= WATCH_TARGETS_MAX);
    for (int i = 0; i < count; i++) {
        if (out[i].watcher == watcher && out[i].context == context) {
            return count;
        }
    }
    if (count == WATCH_TARGETS_MAX) {
        fakezk_note_trouble("limit: more than %d watchers for one event", WATCH_TARGETS_MAX);
        return count;
    }
    out[count] = (struct watch_target){.context = context, .watcher = watcher, .own = own};
    return count + 1;
}

static void fire(int client, int slot, int table, const char *path, uint32_t number)
{
    LS_ASSERT(number > 0);
    struct zk_watch *watch;
    while ((watch = find(client, slot, table, path, 0, NULL, true)) != NULL) {
        client_mark(client);
        watch->fired = number;
    }
}

void watch_fire(int client, int slot, const struct zk_message *event, uint32_t number)
{
    LS_ASSERT(event->rec.tag == MESSAGE_NODE && event->rec.word == 1);
    int type = event->rc;
    if (type == ZOO_DELETED_EVENT || type == ZOO_CHILD_EVENT) {
        fire(client, slot, WATCH_CHILD, event->bytes, number);
    }
    if (type != ZOO_CHILD_EVENT) {
        fire(client, slot, WATCH_EXIST, event->bytes, number);
        fire(client, slot, WATCH_DATA, event->bytes, number);
    }
}

/* Returns the oldest watch of a table that event number 1 has taken, or NULL. */
static struct zk_watch *find_fired(int client, int slot, int table)
{
    struct pack pack = client_pack(client);
    for (struct rec *rec = pack_first(&pack, LIST_WATCH + slot); rec != NULL; rec = pack_next(&pack, rec)) {
        struct zk_watch *watch = (struct zk_watch *)rec;
        if (watch->fired == 1 && watch->rec.tag == table) {
            return watch;
        }
    }
    return NULL;
}

static void move_up(int client, int slot)
{
    struct pack pack = client_pack(client);
    for (struct rec *rec = pack_first(&pack, LIST_WATCH + slot); rec != NULL; rec = pack_next(&pack, rec)) {
        struct zk_watch *watch = (struct zk_watch *)rec;
        if (watch->fired != 0) {
            LS_ASSERT(watch->fired > 1); /* watch_collect() has taken out those of 1 */
            client_mark(client);
            watch->fired--;
        }
    }
}

int watch_collect(int client, int slot, const struct zk_message *event, struct watch_target *out)
{
    LS_ASSERT(event->rec.tag == MESSAGE_NODE);
    static const int tables[] = {WATCH_CHILD, WATCH_EXIST, WATCH_DATA};
    int count = 0;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        struct zk_watch *watch;
        while ((watch = find_fired(client, slot, tables[i])) != NULL) {
            LS_ASSERT(strcmp(watch->path, event->bytes) == 0);
            count = add_target(out, count, watch->watcher, watch->context, watch->own != 0);
            take_out(client, slot, watch, event->cause);
        }
    }
    move_up(client, slot);
    return count;
}

/* In the real library a hash table orders the watchers before the default one. Here they come by path, or in
 * the reverse of that order: a constant of the run (F4). */
int watch_collect_session(int client, int slot, struct watch_target *out)
{
    const struct _zhandle *zh = handle_at(client, slot);
    int count = 0;
    struct pack pack = client_pack(client);
    for (struct rec *rec = pack_first(&pack, LIST_WATCH + slot); rec != NULL; rec = pack_next(&pack, rec)) {
        const struct zk_watch *watch = (struct zk_watch *)rec;
        if (watch->watcher != zh->watcher || watch->context != zh->context) {
            count = add_target(out, count, watch->watcher, watch->context, watch->own != 0);
        }
    }
    if ((fakezk.options.seed & 8) != 0 && !fakezk.options.fixed_orders) {
        for (int i = 0; i < count / 2; i++) {
            struct watch_target other = out[i];
            out[i] = out[count - 1 - i];
            out[count - 1 - i] = other;
        }
    }
    return add_target(out, count, zh->watcher, (void *)(uintptr_t)zh->context, false);
}
