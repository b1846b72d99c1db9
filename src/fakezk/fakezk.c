/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "base/assert.h"
#include "fakezk/internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define CLIENT_BYTES_DEFAULT 24576
#define SERVER_BYTES_DEFAULT 32768
#define LOG_BYTES 8192
#define PERMS_ALL 0x1f

struct fakezk fakezk;

void fakezk_note_trouble(const char *format, ...)
{
    if (fakezk.trouble[0] != 0) {
        return;
    }
    va_list args;
    va_start(args, format);
    vsnprintf(fakezk.trouble, sizeof fakezk.trouble, format, args);
    va_end(args);
}

const char *fakezk_trouble(void)
{
    return fakezk.trouble[0] != 0 ? fakezk.trouble : NULL;
}

void fakezk_emit(const struct fakezk_event *event)
{
    if (fakezk.observer != NULL) {
        fakezk.observer(fakezk.observer_ctx, event);
    }
}

static void make_root(int server, const char *path)
{
    _Alignas(8) unsigned char space[sizeof(struct zk_txn) + 16] = {0};
    struct zk_txn *txn = (struct zk_txn *)space;
    txn->node_kind = NODE_PERSISTENT;
    txn->perms = PERMS_ALL;
    txn->data_size = -1;
    txn->path_size = (uint16_t)strlen(path);
    memcpy(txn->bytes, path, txn->path_size);
    tree_create(server, txn);
}

void fakezk_open(struct arena *arena, const struct fakezk_options *options, fakezk_observer observer,
                 void *ctx)
{
    LS_ASSERT(options->clients >= 1 && options->clients <= FAKEZK_CLIENTS_MAX);
    LS_ASSERT(options->servers >= 1 && options->servers <= FAKEZK_SERVERS_MAX);
    LS_ASSERT(!options->timed || options->tick_ms > 0);
    memset(&fakezk, 0, sizeof fakezk);
    fakezk.arena = arena;
    fakezk.options = *options;
    fakezk.observer = observer;
    fakezk.observer_ctx = ctx;
    fakezk.entered = -1;
    fakezk.chroots = 1;
    deliver_open();
    size_t client_bytes = options->client_bytes_max != 0 ? options->client_bytes_max : CLIENT_BYTES_DEFAULT;
    size_t server_bytes = options->server_bytes_max != 0 ? options->server_bytes_max : SERVER_BYTES_DEFAULT;
    fakezk.log_block = arena_add(arena, LOG_BYTES, sizeof(struct zk_log));
    fakezk.log = arena_at(arena, fakezk.log_block);
    for (int s = 0; s < options->servers; s++) {
        fakezk.server_block[s] = arena_add(arena, server_bytes, sizeof(struct zk_server));
        fakezk.server[s] = arena_at(arena, fakezk.server_block[s]);
    }
    for (int c = 0; c < options->clients; c++) {
        fakezk.client_block[c] = arena_add(arena, client_bytes, sizeof(struct zk_client));
        fakezk.client[c] = arena_at(arena, fakezk.client_block[c]);
    }
    for (int s = 0; s < options->servers; s++) {
        make_root(s, "/");
    }
}

static struct fakezk kept[2];

void fakezk_keep(int place)
{
    LS_ASSERT(place == 0 || place == 1);
    kept[place] = fakezk;
}

void fakezk_put_back(int place)
{
    LS_ASSERT(kept[place].arena == fakezk.arena);
    fakezk = kept[place];
}

void fakezk_enter(int client)
{
    LS_ASSERT(client >= 0 && client < fakezk.options.clients);
    LS_ASSERT(fakezk.entered < 0);
    fakezk.entered = client;
}

void fakezk_leave(void)
{
    LS_ASSERT(fakezk.entered < fakezk.options.clients);
    fakezk.entered = -1;
}

int fakezk_entered(void)
{
    return fakezk.entered;
}

/* ---- the operator ---- */

static bool plain_path(const char *path)
{
    return path[0] == '/' && path[1] != 0 && strlen(path) < FAKEZK_PATH_MAX && strstr(path, "//") == NULL &&
           path[strlen(path) - 1] != '/';
}

/* Returns whether the deepest existing ancestor is an ephemeral node, which can have no child (F52). */
static bool below_ephemeral(const char *path)
{
    char part[FAKEZK_PATH_MAX];
    while (tree_parent(path, part)) {
        const struct zk_node *node = tree_find(0, part);
        if (node != NULL) {
            return node->rec.tag == NODE_EPHEMERAL;
        }
        path = part;
    }
    return false;
}

bool fakezk_operator_create(const char *path, int perms, bool container)
{
    aside_late_all();
    if (!plain_path(path) || tree_find(0, path) != NULL || below_ephemeral(path)) {
        return false;
    }
    char part[FAKEZK_PATH_MAX];
    for (size_t i = 1; path[i] != 0; i++) {
        if (path[i] == '/') {
            memcpy(part, path, i);
            part[i] = 0;
            if (tree_find(0, part) == NULL) {
                commit_operator_create(part, PERMS_ALL, NODE_PERSISTENT);
            }
        }
    }
    commit_operator_create(path, perms != 0 ? perms : PERMS_ALL,
                           container ? NODE_CONTAINER : NODE_PERSISTENT);
    return true;
}

static void remove_below(const char *path)
{
    struct zk_node *child;
    while ((child = tree_first_child(0, path)) != NULL) {
        char name[FAKEZK_PATH_MAX];
        memcpy(name, node_path(child), child->path_size + 1u);
        remove_below(name);
        commit_operator_delete(name);
    }
}

bool fakezk_operator_remove(const char *path)
{
    aside_late_all();
    if (!plain_path(path) || tree_find(0, path) == NULL) {
        return false;
    }
    remove_below(path);
    commit_operator_delete(path);
    return true;
}

bool fakezk_operator_set(const char *path, const char *text)
{
    aside_late_all();
    return plain_path(path) && tree_find(0, path) != NULL && commit_operator_set(path, text);
}

bool fakezk_operator_set_perms(const char *path, int perms)
{
    aside_late_all();
    return plain_path(path) && tree_find(0, path) != NULL && commit_operator_set_perms(path, perms);
}

bool fakezk_can_rmdir(const char *path)
{
    const struct zk_node *node = plain_path(path) ? tree_find(0, path) : NULL;
    return node != NULL && node->stat.children == 0;
}

bool fakezk_operator_rmdir(const char *path)
{
    aside_late_all();
    if (!fakezk_can_rmdir(path)) {
        return false;
    }
    commit_operator_delete(path);
    return true;
}

const char *fakezk_ephemeral_child(const char *path, int client)
{
    const struct zk_node *oldest = NULL;
    for (struct zk_node *node = tree_first_child(0, path); node != NULL;
         node = tree_next_child(0, node, path)) {
        bool its = node->stat.owner != 0 && owner_client(node->stat.owner) == client + 1;
        oldest = its && (oldest == NULL || node->stat.czxid < oldest->stat.czxid) ? node : oldest;
    }
    return oldest != NULL ? node_path(oldest) : NULL;
}

int32_t fakezk_owner(const char *path, int32_t czxid)
{
    for (struct zk_node *node = tree_first_child(0, path); node != NULL;
         node = tree_next_child(0, node, path)) {
        if (node->stat.czxid == czxid) {
            return node->stat.owner;
        }
    }
    return 0;
}

bool fakezk_exists(const char *path)
{
    return tree_find(0, path) != NULL;
}

void fakezk_operator_preset(const char *path, int32_t next_sequence)
{
    for (int s = 0; s < fakezk.options.servers; s++) {
        struct zk_node *node = tree_find(s, path);
        if (node != NULL) {
            server_mark(s);
            node->created = next_sequence;
            node->had_child = 1;
        }
    }
}

bool fakezk_can_sweep(const char *path)
{
    const struct zk_node *node = tree_find(0, path);
    return node != NULL && node->rec.tag == NODE_CONTAINER && node->had_child && node->stat.children == 0;
}

bool fakezk_is_container(const char *path)
{
    const struct zk_node *node = tree_find(0, path);
    return node != NULL && node->rec.tag == NODE_CONTAINER;
}

bool fakezk_sweep(const char *path)
{
    aside_late_all();
    if (!fakezk_can_sweep(path)) {
        return false;
    }
    commit_operator_delete(path);
    return true;
}

struct writer {
    char *at;
    size_t room;
};

__attribute__((format(printf, 2, 3))) static void put(struct writer *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int size = vsnprintf(w->at, w->room, format, args);
    va_end(args);
    size_t used = size < 0 ? 0 : ((size_t)size < w->room ? (size_t)size : w->room - 1);
    w->at += used;
    w->room -= used;
}

static const char *state_name(int state)
{
    return state == ZOO_CONNECTED_STATE         ? "connected"
           : state == ZOO_READONLY_STATE        ? "connected to a read-only server"
           : state == ZOO_EXPIRED_SESSION_STATE ? "expired"
           : state == ZOO_AUTH_FAILED_STATE     ? "refused by authentication"
           : state == ZOO_CONNECTING_STATE      ? "connecting"
           : state == ZOO_ASSOCIATING_STATE     ? "associating"
                                                : "not connected";
}

static void dump_client(struct writer *w, int client)
{
    for (int slot = 0; slot < FAKEZK_HANDLES_MAX; slot++) {
        const struct _zhandle *zh = handle_at(client, slot);
        if (zh->open) {
            put(w, slot > 0 ? "client %d, handle %d: " : "client %d: ", client, slot + 1);
            put(w, "%s, session %d, link %s, %d unanswered, %d to deliver\n", state_name(zh->state),
                zh->session, zh->link ? "up" : "down", fakezk_outstanding(client, slot),
                fakezk_queued(client, slot));
        }
    }
    struct pack pack = client_pack(client);
    for (int list = LIST_WATCH; list < LIST_WATCH + FAKEZK_HANDLES_MAX; list++) {
        for (struct rec *rec = pack_first(&pack, list); rec != NULL; rec = pack_next(&pack, rec)) {
            put(w, "  watch on %s\n", ((struct zk_watch *)rec)->path);
        }
    }
}

static void dump_server(struct writer *w, int server)
{
    put(w, "server s%d: zxid %d%s\n", server + 1, server_at(server)->zxid,
        server_at(server)->frozen ? ", frozen" : "");
    struct pack pack = server_pack(server);
    for (struct rec *rec = pack_first(&pack, LIST_NODE); rec != NULL; rec = pack_next(&pack, rec)) {
        const struct zk_node *node = (struct zk_node *)rec;
        put(w, node->stat.owner != 0 ? "  %s: czxid %d, session %d\n" : "  %s: czxid %d\n", node_path(node),
            node->stat.czxid, node->stat.owner);
    }
}

void fakezk_dump(char *text, size_t size)
{
    struct writer w = {text, size};
    text[0] = 0;
    put(&w, "log: zxid %d\n", the_log()->zxid);
    for (int s = 0; s < fakezk.options.servers; s++) {
        dump_server(&w, s);
    }
    for (int c = 0; c < fakezk.options.clients; c++) {
        dump_client(&w, c);
    }
}
