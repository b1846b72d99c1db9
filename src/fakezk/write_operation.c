/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Single operations of a write on the leader's tree, with ZooKeeper's checks in ZooKeeper's order (F51,
 * F59). An operation that succeeds adds its transaction to the batch and changes the tree; OP_CHECK does
 * neither. An operation that fails leaves the tree as it was. If the server's block is full, its
 * transaction stays in the batch, which commit.c clears. */
#include "base/assert.h"
#include "fakezk/internal.h"

#include <string.h>

static const char *request_data(const struct zk_request *request)
{
    return request->bytes + request->path_size + 1;
}

/* Returns whether the server refuses a path for one of its characters (F55). These are 0x1f, 0x7f to 0x9f,
 * 0xd801 to 0xf8fe, 0xfff1 to 0xfffe, and all above 0xffff. The client has refused 1 to 0x1e. */
static bool path_refused(const struct zk_request *request)
{
    const unsigned char *at = (const unsigned char *)request->bytes;
    for (; request->odd_path && *at != 0; at++) {
        if (*at == 0x1f || *at == 0x7f || *at >= 0xf0 || (*at == 0xc2 && at[1] <= 0x9f)) {
            return true;
        }
        if (*at >= 0xe0 && at[1] != 0 && at[2] != 0) {
            unsigned unit = (*at & 0x0fu) << 12 | (at[1] & 0x3fu) << 6 | (at[2] & 0x3fu);
            if ((unit > 0xd800 && unit < 0xf8ff) || (unit > 0xfff0 && unit < 0xffff)) {
                return true;
            }
        }
    }
    return false;
}

static int check_create(const struct zk_request *request, const char *parent_path, bool is_root)
{
    if (request->mode > (uint8_t)ZOO_CONTAINER) {
        return ZBADARGUMENTS;
    }
    if (request->mode == (uint8_t)ZOO_CONTAINER && fakezk.options.no_containers) {
        return ZUNIMPLEMENTED;
    }
    if (!auth_acl_is_valid(request)) {
        return ZINVALIDACL;
    }
    if (is_root) {
        return ZNODEEXISTS;
    }
    const struct zk_node *parent = tree_find(0, parent_path);
    if (parent == NULL) {
        return ZNONODE;
    }
    if (!auth_allows(parent, request, ZOO_PERM_CREATE)) {
        return ZNOAUTH;
    }
    return path_refused(request) ? ZBADARGUMENTS : ZOK;
}

static int node_kind_of(int mode)
{
    if (mode == ZOO_CONTAINER) {
        return NODE_CONTAINER;
    }
    return (mode & ZOO_EPHEMERAL) != 0 ? NODE_EPHEMERAL : NODE_PERSISTENT;
}

int32_t operation_count_up(int32_t created)
{
    if (created == INT32_MAX && (fakezk.options.defects & FAKEZK_DEFECT_WRAP) == 0) {
        return created;
    }
    return (int32_t)((uint32_t)created + 1u);
}

#define SUFFIX_BYTES_MAX 11u

/* Writes a number as Java's %010d does: ten characters, a minus included, or eleven if it needs them. */
static void write_suffix(char *to, int32_t number)
{
    uint32_t rest = number < 0 ? 0u - (uint32_t)number : (uint32_t)number;
    char digits[SUFFIX_BYTES_MAX];
    int count = 0;
    do {
        digits[count++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    int width = number < 0 ? 9 : 10;
    if (number < 0) {
        *to++ = '-';
    }
    while (count < width) {
        digits[count++] = '0';
    }
    LS_ASSERT(count <= (int)SUFFIX_BYTES_MAX);
    while (count > 0) {
        *to++ = digits[--count];
    }
    *to = 0;
}

static int op_create(const struct zk_request *request, int32_t session, int32_t zxid,
                     struct operation_result *result)
{
    char parent_path[FAKEZK_PATH_MAX];
    bool is_root = !tree_parent(request->bytes, parent_path);
    int rc = check_create(request, parent_path, is_root);
    if (rc != ZOK) {
        return rc;
    }
    const struct zk_node *parent = tree_find(0, parent_path);
    bool sequence = request->mode != (uint8_t)ZOO_CONTAINER && (request->mode & ZOO_SEQUENCE) != 0;
    if (request->path_size + (sequence ? SUFFIX_BYTES_MAX : 0u) >= sizeof result->path) {
        fakezk_note_trouble("limit: a path is longer than %d bytes (%s)", FAKEZK_PATH_MAX - 1,
                            request->bytes);
        return ZSYSTEMERROR;
    }
    memcpy(result->path, request->bytes, request->path_size + 1u);
    if (sequence) {
        write_suffix(result->path + request->path_size, parent->created);
    }
    if (tree_find(0, result->path) != NULL) {
        return ZNODEEXISTS;
    }
    if (parent->rec.tag == NODE_EPHEMERAL) {
        return ZNOCHILDRENFOREPHEMERALS;
    }
    struct zk_txn *txn = batch_add(TXN_CREATE, zxid, result->path, request_data(request), request->data_size);
    if (txn == NULL) {
        return ZSYSTEMERROR;
    }
    txn->session = session;
    txn->client = owner_client(session);
    txn->node_kind = (uint8_t)node_kind_of(request->mode);
    txn->perms = request->perms;
    txn->owner = auth_owner(request);
    txn->counter = operation_count_up(parent->created);
    if (!tree_create(0, txn)) {
        return ZSYSTEMERROR;
    }
    result->stat = tree_stat(tree_find(0, result->path));
    LS_ASSERT(result->stat.czxid == zxid && result->stat.children == 0);
    result->has_stat = true;
    return ZOK;
}

static int op_delete(const struct zk_request *request, int32_t zxid)
{
    char parent_path[FAKEZK_PATH_MAX];
    if (!tree_parent(request->bytes, parent_path) || strcmp(request->bytes, "/zookeeper") == 0) {
        return ZBADARGUMENTS;
    }
    const struct zk_node *parent = tree_find(0, parent_path);
    if (parent == NULL) {
        return ZNONODE;
    }
    if (!auth_allows(parent, request, ZOO_PERM_DELETE)) {
        return ZNOAUTH;
    }
    const struct zk_node *node = tree_find(0, request->bytes);
    if (node == NULL) {
        return ZNONODE;
    }
    if (request->version != -1 && request->version != node->stat.version) {
        return ZBADVERSION;
    }
    if (node->stat.children > 0) {
        return ZNOTEMPTY;
    }
    LS_ASSERT(parent->stat.children > 0 && node->stat.czxid <= zxid);
    struct zk_txn *txn = batch_add(TXN_DELETE, zxid, request->bytes, NULL, -1);
    if (txn == NULL) {
        return ZSYSTEMERROR;
    }
    txn->session = node->stat.owner;
    txn->client = owner_client(node->stat.owner);
    txn->counter = node->stat.czxid;
    tree_delete(0, request->bytes, zxid);
    return ZOK;
}

bool operation_set_data(const struct zk_node *node, int32_t zxid, const char *path, const char *data,
                        int32_t size)
{
    LS_ASSERT(node->stat.mzxid <= zxid && size >= -1);
    struct zk_txn *txn = batch_add(TXN_SET, zxid, path, data, size);
    if (txn == NULL) {
        return false;
    }
    txn->version = (int32_t)((uint32_t)node->stat.version + 1u);
    return tree_set(0, txn);
}

static int op_set(const struct zk_request *request, int32_t zxid, struct operation_result *result)
{
    const struct zk_node *node = tree_find(0, request->bytes);
    if (path_refused(request)) {
        return ZBADARGUMENTS;
    }
    if (node == NULL) {
        return ZNONODE;
    }
    if (!auth_allows(node, request, ZOO_PERM_WRITE)) {
        return ZNOAUTH;
    }
    if (request->version != -1 && request->version != node->stat.version) {
        return ZBADVERSION;
    }
    if (!operation_set_data(node, zxid, request->bytes, request_data(request), request->data_size)) {
        return ZSYSTEMERROR;
    }
    result->stat = tree_stat(tree_find(0, request->bytes));
    LS_ASSERT(result->stat.mzxid == zxid);
    result->has_stat = true;
    return ZOK;
}

bool operation_set_acl(const struct zk_node *node, int32_t zxid, const char *path, int perms, uint32_t owner)
{
    LS_ASSERT(node->stat.czxid <= zxid);
    struct zk_txn *txn = batch_add(TXN_SET_ACL, zxid, path, NULL, -1);
    if (txn == NULL) {
        return false;
    }
    txn->perms = (uint8_t)perms;
    txn->owner = owner;
    txn->version = node->stat.aversion + 1;
    tree_set_acl(0, txn);
    return true;
}

static int op_set_acl(const struct zk_request *request, int32_t zxid)
{
    const struct zk_node *node = tree_find(0, request->bytes);
    if (path_refused(request)) {
        return ZBADARGUMENTS;
    }
    if (!auth_acl_is_valid(request)) {
        return ZINVALIDACL;
    }
    if (node == NULL) {
        return ZNONODE;
    }
    if (!auth_allows(node, request, ZOO_PERM_ADMIN)) {
        return ZNOAUTH;
    }
    if (request->version != -1 && request->version != node->stat.aversion) {
        return ZBADVERSION;
    }
    return operation_set_acl(node, zxid, request->bytes, request->perms, auth_owner(request)) ? ZOK
                                                                                              : ZSYSTEMERROR;
}

static int op_check(const struct zk_request *request)
{
    const struct zk_node *node = tree_find(0, request->bytes);
    if (path_refused(request)) {
        return ZBADARGUMENTS;
    }
    if (node == NULL) {
        return ZNONODE;
    }
    if (!auth_allows(node, request, ZOO_PERM_READ)) {
        return ZNOAUTH;
    }
    if (request->version != -1 && request->version != node->stat.version) {
        return ZBADVERSION;
    }
    return ZOK;
}

int operation_do(const struct zk_request *request, int32_t session, int32_t zxid,
                 struct operation_result *result)
{
    LS_ASSERT(zxid == the_log()->zxid && session > 0);
    memset(result, 0, sizeof *result);
    switch (request->rec.tag) {
    case OP_CREATE:
    case OP_CREATE2:
        return op_create(request, session, zxid, result);
    case OP_DELETE:
        return op_delete(request, zxid);
    case OP_SET:
        return op_set(request, zxid, result);
    case OP_SET_ACL:
        return op_set_acl(request, zxid);
    case OP_CHECK:
        return op_check(request);
    default:
        LS_ASSERT(!"a write");
        return ZUNIMPLEMENTED;
    }
}
