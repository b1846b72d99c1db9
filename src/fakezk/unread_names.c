/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Lists of children on their way to a client, and the names in them that the client will not look at. */
#include "fakezk/internal.h"

#include <string.h>

bool message_is_list(const struct zk_message *message)
{
    return message->rec.tag == MESSAGE_REPLY && op_is_list(message->op) && message->rc == ZOK;
}

struct String_vector message_names(const struct zk_message *message, char **name)
{
    struct String_vector names = {.data = name};
    char *at = (char *)(uintptr_t)(message->bytes + message->path_size + 1);
    while (message_is_list(message) && names.count < message->data_size && names.count < FAKEZK_NAMES_MAX) {
        name[names.count++] = at;
        at += strlen(at) + 1;
    }
    return names;
}

void message_unread(int client, const struct zk_message *message, const struct String_vector *names,
                    bool *unread)
{
    memset(unread, 0, (size_t)names->count * sizeof *unread);
    if (fakezk.options.unread != NULL && message->completion != 0) {
        fakezk.options.unread(client, code_unpack_fn(message->completion), names, unread);
    }
}

/* Removes the unread names from the copy of a list. Returns the number of removed names. */
static int drop_names(int client, struct zk_message *copy)
{
    char *name[FAKEZK_NAMES_MAX];
    bool unread[FAKEZK_NAMES_MAX];
    struct String_vector names = message_names(copy, name);
    char *to = copy->bytes + copy->path_size + 1;
    message_unread(client, copy, &names, unread);
    for (int i = 0; i < names.count; i++) {
        size_t size = strlen(name[i]) + 1;
        if (unread[i]) {
            copy->data_size--;
        } else {
            memmove(to, name[i], size);
            to += size;
        }
    }
    memset(to, 0, (size_t)((char *)copy + copy->rec.size - to));
    copy->rec.size = (uint16_t)((size_t)(to - (char *)copy + 7) & ~(size_t)7);
    return names.count - copy->data_size;
}

bool fakezk_drop_unread(int client, int slot)
{
    static _Alignas(8) unsigned char bytes[UINT16_MAX + 1];
    struct zk_message *copy = (struct zk_message *)(void *)bytes;
    struct pack pack = client_pack(client);
    struct zk_message *head = head_message(client, slot);
    if (head == NULL || !message_is_list(head)) {
        return false;
    }
    memcpy(copy, head, head->rec.size);
    if (drop_names(client, copy) == 0) {
        return false;
    }
    client_mark(client);
    pack_remove(&pack, &head->rec);
    struct rec *behind = pack_first(&pack, LIST_MESSAGE + slot);
    head = (struct zk_message *)pack_insert(&pack, LIST_MESSAGE + slot, behind, copy->rec.size);
    pack_fill(&head->rec, &copy->rec);
    head->rec.word = copy->rec.word;
    return true;
}
