/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The identity of a client, and the permissions that a node's ACL gives it.
 *
 * zoo_add_auth() gives a handle its identity; a second one is unsupported (F25). The client sends its
 * credentials first on each connection, so all requests sent after the call have the identity. A request is
 * signed when it is sent. Requests that are under way at the call stay without it, because a server reads in
 * order.
 *
 * An ACL has the permissions of the world and, by the scheme "auth", those of one identity: the identity of
 * the request that has set the ACL. An identity is a hash of the credentials alone, so it does not depend on
 * the order in which clients call. */
#include "base/hash.h"
#include "fakezk/internal.h"

#include <string.h>

enum { PERMS_BITS = 8, PERMS_MASK = (1 << PERMS_BITS) - 1 };

static uint16_t identity_of(const char *cert, int size)
{
    uint64_t hash = (uint64_t)size;
    for (int i = 0; i < size; i++) {
        hash = hash_mix(hash * 257 + (unsigned char)cert[i]);
    }
    return (uint16_t)(hash % UINT16_MAX + 1); /* 0 = no identity */
}

/* Queues the answer to zoo_add_auth() as a message that is received already. */
static void answer(const struct _zhandle *zh, void_completion_t completion, const void *data, int rc)
{
    _Alignas(8) unsigned char space[sizeof(struct zk_message) + 8] = {0};
    struct zk_message *message = (struct zk_message *)space;
    message->rec.tag = MESSAGE_REPLY;
    message->rec.size = sizeof space;
    message->op = OP_AUTH;
    message->rc = rc;
    message->table = WATCH_NONE;
    message->completion = code_pack_fn((code_fn)completion);
    message->data = data;
    message->data_size = -1;
    deliver_queue(zh->client, zh->slot, message);
}

/* Returns whether a server knows the scheme without further configuration. */
static bool is_scheme_of_servers(const char *scheme)
{
    return strcmp(scheme, "digest") == 0 || strcmp(scheme, "ip") == 0;
}

int auth_add(zhandle_t *handle, const char *scheme, const char *cert, int size, void_completion_t completion,
             const void *data)
{
    struct _zhandle *zh = handle_check(handle, "zoo_add_auth");
    if (zh == NULL || scheme == NULL) {
        return ZBADARGUMENTS;
    }
    if (zh->state <= 0) {
        return ZINVALIDSTATE; /* 0 = between two connections */
    }
    if (handle_lacks_memory(zh->client)) {
        return ZSYSTEMERROR;
    }
    uint16_t who = identity_of(cert, cert != NULL ? size : 0);
    if (!is_scheme_of_servers(scheme) && zh->state == ZOO_CONNECTED_STATE && !fakezk.options.fine) {
        if (completion != NULL) {
            answer(zh, completion, data, ZAUTHFAILED);
        }
        link_reject(zh->client, zh->slot);
        return ZOK;
    }
    if (strcmp(scheme, "digest") != 0) {
        fakezk_note_trouble("unsupported: zoo_add_auth with scheme %s", scheme);
    } else if (zh->who != 0 && zh->who != who) {
        fakezk_note_trouble("unsupported: zoo_add_auth with a second identity");
    } else if (completion != NULL && zh->state != ZOO_CONNECTED_STATE) {
        fakezk_note_trouble("unsupported: zoo_add_auth with a completion before there is a connection");
    } else {
        client_mark(zh->client)->handle[zh->slot].who = who;
        if (completion != NULL) {
            answer(zh, completion, data, ZOK);
        }
        return ZOK;
    }
    return ZUNIMPLEMENTED;
}

void auth_sign(struct zk_request *request, uint16_t who)
{
    request->who = who;
    if (request->rec.tag != OP_MULTI || who == 0) {
        return;
    }
    for (int32_t at = 0; at < request->data_size;) {
        struct zk_request *sub = (struct zk_request *)(request->bytes + request->path_size + 1 + at);
        sub->who = who;
        at += sub->rec.size;
    }
}

bool auth_acl_is_valid(const struct zk_request *request)
{
    bool nobody = request->own_perms != 0 && request->who == 0;
    return !nobody && (request->perms | request->own_perms) != 0;
}

uint32_t auth_owner(const struct zk_request *request)
{
    return request->own_perms != 0 ? (uint32_t)request->who << PERMS_BITS | request->own_perms : 0;
}

bool auth_allows(const struct zk_node *node, const struct zk_request *request, int perm)
{
    int perms = node->perms;
    if (request->who != 0 && node->rec.word >> PERMS_BITS == request->who) {
        perms |= (int)(node->rec.word & PERMS_MASK);
    }
    return (perms & perm) != 0;
}
