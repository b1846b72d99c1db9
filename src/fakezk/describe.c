/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The words of labels for steps: a request, reply, transaction or event. */
#include "base/assert.h"
#include "fakezk/enabled.h"

#include <stdio.h>

const char *fakezk_op_name(int op)
{
    static const char *const names[] = {"create", "create", "delete",  "exists", "get",
                                        "set",    "list",   "list",    "sync",   "multi",
                                        "getacl", "setacl", "unwatch", "check",  "auth"};
    _Static_assert(sizeof names / sizeof *names == OP_KINDS, "one name per op");
    LS_ASSERT(op >= 0 && op < OP_KINDS);
    return names[op];
}

static const char *state_name(int state)
{
    if (state == ZOO_CONNECTED_STATE) {
        return "connected";
    }
    if (state == ZOO_CONNECTING_STATE) {
        return "connecting";
    }
    if (state == ZOO_READONLY_STATE) {
        return "read-only";
    }
    return state == ZOO_EXPIRED_SESSION_STATE ? "expired" : "auth-failed";
}

static const char *event_name_of(int type)
{
    if (type == ZOO_DELETED_EVENT) {
        return "deleted";
    }
    if (type == ZOO_CREATED_EVENT) {
        return "created";
    }
    return type == ZOO_CHANGED_EVENT ? "changed" : "child";
}

static void describe_message(const struct zk_message *m, char *text, size_t size, int32_t *owner)
{
    switch (m->rec.tag) {
    case MESSAGE_SESSION:
        snprintf(text, size, "session-%s", state_name(m->rc));
        break;
    case MESSAGE_NODE:
        snprintf(text, size, "%s", event_name_of(m->rc));
        *owner = m->out_size;
        break;
    default:
        snprintf(text, size, "%s-reply", fakezk_op_name(m->op));
        break;
    }
}

int fakezk_delivery_rc(int client, int handle)
{
    const struct zk_message *m = head_message(client, handle);
    return m->rec.tag == MESSAGE_REPLY ? m->rc : 0;
}

/* Returns the client of the ephemeral node at this path, on the first server that has a node there; -1 = none
 * has a node, or it is not ephemeral. */
static int owner_of_node(const char *path)
{
    for (int server = 0; server < fakezk.options.servers; server++) {
        const struct zk_node *node = tree_find(server, path);
        if (node != NULL) {
            int32_t session = node->stat.owner;
            return session > 0 ? (session - 1) % fakezk.options.clients : -1;
        }
    }
    return -1;
}

int fakezk_delivery_names(int client, int handle, int max, const char **name, int *owner)
{
    const struct zk_message *m = head_message(client, handle);
    char *names[FAKEZK_NAMES_MAX], path[2 * FAKEZK_PATH_MAX];
    if (!message_is_list(m)) {
        return -1;
    }
    struct String_vector list = message_names(m, names);
    for (int i = 0; i < list.count && i < max; i++) {
        snprintf(path, sizeof path, "%s/%s", m->bytes, names[i]);
        name[i] = names[i];
        owner[i] = owner_of_node(path);
    }
    return list.count;
}

bool fakezk_delivery_is_watch(int client, int handle)
{
    return head_message(client, handle)->rec.tag == MESSAGE_NODE;
}

static const char *txn_name(const struct zk_txn *txn)
{
    static const char *const names[] = {"create", "delete", "set", "setacl", "close", "nothing", "reply"};
    return names[txn->rec.tag];
}

void fakezk_describe_step(const struct fakezk_step *step, char *text, size_t size, int32_t *owner)
{
    text[0] = 0;
    *owner = 0;
    if (step->kind == FAKEZK_DELIVER) {
        describe_message(head_message(step->client, step->handle), text, size, owner);
    } else if (step->kind == FAKEZK_RECEIVE) {
        describe_message(unreceived(step->client, step->handle), text, size, owner);
    } else if (step->kind == FAKEZK_LINGER) {
        snprintf(text, size, "%s", fakezk_op_name(aside_lingering(step->client)->rec.tag));
    } else if (step->kind == FAKEZK_APPLY) {
        snprintf(text, size, "%s%s", fakezk_op_name(head_request(step->client, step->handle)->rec.tag),
                 step->refused ? " refused" : "");
    } else if (step->kind == FAKEZK_CATCH_UP) {
        struct pack pack = server_pack(step->server);
        snprintf(text, size, "%s", txn_name((struct zk_txn *)pack_first(&pack, LIST_BACKLOG)));
    } else if (step->kind == FAKEZK_COMMIT) {
        struct pack pack = log_pack();
        snprintf(text, size, "%s", fakezk_op_name(pack_first(&pack, LIST_LATE)->tag));
    }
}
