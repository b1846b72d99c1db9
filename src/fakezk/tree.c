/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "base/assert.h"
#include "fakezk/internal.h"

#include <string.h>

const char *node_path(const struct zk_node *node)
{
    return node->bytes;
}

const char *node_data(const struct zk_node *node)
{
    return node->bytes + node->path_size + 1;
}

static struct zk_node *first(int server)
{
    struct pack pack = server_pack(server);
    return (struct zk_node *)pack_first(&pack, LIST_NODE);
}

static struct zk_node *next(int server, struct zk_node *node)
{
    struct pack pack = server_pack(server);
    return (struct zk_node *)pack_next(&pack, &node->rec);
}

struct zk_node *tree_find(int server, const char *path)
{
    size_t size = strlen(path);
    for (struct zk_node *node = first(server); node != NULL; node = next(server, node)) {
        if (node->path_size == size && memcmp(node->bytes, path, size) == 0) {
            return node;
        }
    }
    return NULL;
}

static bool is_child(const struct zk_node *node, const char *path, size_t size)
{
    if (size == 1) {
        size = 0; /* below the root */
    }
    return node->path_size > size + 1 && memcmp(node->bytes, path, size) == 0 && node->bytes[size] == '/' &&
           memchr(node->bytes + size + 1, '/', node->path_size - size - 1u) == NULL;
}

struct zk_node *tree_first_child(int server, const char *path)
{
    struct zk_node *node = first(server);
    if (node == NULL || is_child(node, path, strlen(path))) {
        return node;
    }
    return tree_next_child(server, node, path);
}

struct zk_node *tree_next_child(int server, struct zk_node *node, const char *path)
{
    size_t size = strlen(path);
    while ((node = next(server, node)) != NULL && !is_child(node, path, size)) {
    }
    return node;
}

bool tree_parent(const char *path, char parent[FAKEZK_PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL || path[1] == 0) {
        return false;
    }
    size_t size = slash == path ? 1 : (size_t)(slash - path);
    memcpy(parent, path, size);
    parent[size] = 0;
    return true;
}

/* Returns the first node whose path sorts behind this one, NULL = none. A new node of this path goes before
 * that node. */
static struct rec *behind(int server, const char *path)
{
    for (struct zk_node *node = first(server); node != NULL; node = next(server, node)) {
        if (strcmp(node->bytes, path) > 0) {
            return &node->rec;
        }
    }
    return NULL;
}

static void note_child_created(int server, const struct zk_txn *txn)
{
    char parent_path[FAKEZK_PATH_MAX];
    if (!tree_parent(txn->bytes, parent_path)) {
        return;
    }
    struct zk_node *parent = tree_find(server, parent_path);
    LS_ASSERT(parent != NULL);
    LS_ASSERT(parent->rec.tag != NODE_EPHEMERAL && parent->stat.children >= 0);
    if (parent->created != txn->counter || txn->counter != INT32_MAX) {
        parent->stat.pzxid = txn->zxid; /* pzxid freezes with the counter (F49) */
    }
    parent->created = txn->counter;
    parent->stat.children++;
    parent->had_child = 1;
}

bool tree_create(int server, const struct zk_txn *txn)
{
    LS_ASSERT(txn->node_kind != NODE_EPHEMERAL || txn->session > 0);
    LS_ASSERT(txn->zxid >= server_at(server)->zxid);
    LS_ASSERT(tree_find(server, txn->bytes) == NULL);
    server_mark(server);
    struct pack pack = server_pack(server);
    size_t data_size = txn->data_size > 0 ? (size_t)txn->data_size : 0;
    struct zk_node *node = (struct zk_node *)pack_insert(&pack, LIST_NODE, behind(server, txn->bytes),
                                                         sizeof *node + txn->path_size + 1u + data_size);
    if (node == NULL) {
        fakezk_note_trouble("limit: a server's block is full (creating %s)", txn->bytes);
        return false;
    }
    node->rec.tag = txn->node_kind;
    node->stat.czxid = node->stat.mzxid = node->stat.pzxid = txn->zxid;
    node->stat.owner = txn->node_kind == NODE_EPHEMERAL ? txn->session : 0;
    node->stat.data_size = txn->data_size;
    node->path_size = txn->path_size;
    node->perms = txn->perms;
    node->rec.word = txn->owner;
    memcpy(node->bytes, txn->bytes, txn->path_size + 1u + data_size);
    note_child_created(server, txn);
    return true;
}

void tree_delete(int server, const char *path, int32_t zxid)
{
    server_mark(server);
    struct pack pack = server_pack(server);
    struct zk_node *node = tree_find(server, path);
    LS_ASSERT(node != NULL);
    LS_ASSERT(node->stat.children == 0 && node->stat.czxid <= zxid);
    char parent_path[FAKEZK_PATH_MAX];
    bool has_parent = tree_parent(path, parent_path);
    pack_remove(&pack, &node->rec);
    if (has_parent) {
        struct zk_node *parent = tree_find(server, parent_path);
        LS_ASSERT(parent != NULL);
        LS_ASSERT(parent->stat.children > 0 && parent->stat.pzxid <= zxid);
        parent->stat.children--;
        parent->stat.pzxid = zxid;
    }
}

bool tree_set(int server, const struct zk_txn *txn)
{
    server_mark(server);
    struct pack pack = server_pack(server);
    struct zk_node *old = tree_find(server, txn->bytes);
    LS_ASSERT(old != NULL);
    LS_ASSERT(old->stat.mzxid <= txn->zxid);
    size_t data_size = txn->data_size > 0 ? (size_t)txn->data_size : 0;
    struct zk_node head = *old;
    struct zk_node *node = (struct zk_node *)pack_insert(&pack, LIST_NODE, &old->rec,
                                                         sizeof *node + txn->path_size + 1u + data_size);
    if (node == NULL) {
        fakezk_note_trouble("limit: a server's block is full (setting %s)", txn->bytes);
        return false;
    }
    uint16_t size = node->rec.size;
    *node = head;
    node->rec.size = size;
    node->stat.mzxid = txn->zxid;
    node->stat.version = txn->version;
    node->stat.data_size = txn->data_size;
    memcpy(node->bytes, txn->bytes, txn->path_size + 1u + data_size);
    LS_ASSERT(tree_find(server, node->bytes) == node);
    pack_remove(&pack, pack_next(&pack, &node->rec));
    return true;
}

void tree_set_acl(int server, const struct zk_txn *txn)
{
    server_mark(server);
    struct zk_node *node = tree_find(server, txn->bytes);
    LS_ASSERT(node != NULL);
    LS_ASSERT(node->stat.czxid <= txn->zxid);
    node->perms = txn->perms;
    node->rec.word = txn->owner;
    node->stat.aversion = txn->version;
}

struct zk_stat tree_stat(const struct zk_node *node)
{
    LS_ASSERT(node->stat.children >= 0);
    struct zk_stat stat = node->stat;
    stat.cversion = (int32_t)(2u * (uint32_t)node->created - (uint32_t)stat.children);
    return stat;
}
