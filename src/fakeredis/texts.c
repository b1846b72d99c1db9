/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Requests and replies as texts for people. */
#include "base/assert.h"
#include "fakeredis/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define WORD_MAX 64 /* bytes of an argument or a bulk that are written out */

/* A text that is being written. Bytes without room are left out. */
struct told {
    char *text;
    size_t size, used;
};

static struct told told_begin(char *text, size_t size)
{
    LS_ASSERT(size > 0);
    text[0] = 0;
    return (struct told){text, size, 0};
}

static void tell(struct told *told, const char *text, size_t size)
{
    for (size_t i = 0; i < size && told->used + 1 < told->size; i++) {
        told->text[told->used++] = text[i];
    }
    told->text[told->used] = 0;
}

static void tell_text(struct told *told, const char *text)
{
    tell(told, text, strlen(text));
}

static bool is_plain(struct bytes word)
{
    for (size_t i = 0; i < word.size && i <= WORD_MAX; i++) {
        if (word.at[i] < ' ' || word.at[i] > '~') {
            return false;
        }
    }
    return word.size <= WORD_MAX;
}

/* Writes a word, or for a long or a binary one the number of its bytes. */
static void tell_word(struct told *told, struct bytes word)
{
    char count[32];
    if (is_plain(word)) {
        tell(told, word.at, word.size);
    } else {
        snprintf(count, sizeof count, "(%zu bytes)", word.size);
        tell_text(told, count);
    }
}

void fakeredis_tell_request(struct bytes args, char *text, size_t size)
{
    struct told told = told_begin(text, size);
    struct bytes word;
    bool first = true;
    for (size_t at = 0; sequence_next(args, &at, &word); first = false) {
        tell_text(&told, first ? "" : " ");
        tell_word(&told, word);
    }
}

/* Writes the item of a reply at *at, and moves *at to the next item. For an array, writes nothing, and
 * returns the number of its elements; otherwise returns 0. */
static uint32_t tell_item(struct told *told, struct bytes items, size_t *at)
{
    const struct reply_item *item = reply_item((const unsigned char *)items.at, *at);
    char number[24];
    LS_ASSERT(*at < items.size);
    *at = reply_next((const unsigned char *)items.at, *at);
    switch (item->type) {
    case REPLY_NIL:
    case REPLY_NIL_ARRAY:
        tell_text(told, "nil");
        return 0;
    case REPLY_INTEGER:
        snprintf(number, sizeof number, "%" PRId64, reply_number(item));
        tell_text(told, number);
        return 0;
    case REPLY_ARRAY:
        return item->size;
    default:
        tell_word(told, reply_text(item));
        return 0;
    }
}

static void tell_reply(struct told *told, struct bytes items)
{
    size_t at = 0;
    uint32_t elements = items.size > 0 ? tell_item(told, items, &at) : 0;
    for (uint32_t i = 0; i < elements && at < items.size; i++) {
        tell_text(told, i > 0 ? ", " : "");
        if (tell_item(told, items, &at) > 0) {
            tell_text(told, "(list)"); /* its elements follow as if they were the outer ones */
        }
    }
}

void fakeredis_tell_apply(int client, int connection, char *text, size_t size)
{
    const struct call_record *record = link_first_sent(client, connection);
    fakeredis_tell_request(record != NULL ? link_args(record) : (struct bytes){"", 0}, text, size);
}

void fakeredis_tell_arrive(int client, char *text, size_t size)
{
    struct bytes args = link_first_late(client);
    fakeredis_tell_request(args.at != NULL ? args : (struct bytes){"", 0}, text, size);
}

enum fakeredis_carried fakeredis_tell_deliver(int client, int connection, char *text, size_t size)
{
    const struct call_record *record = link_first(client, connection);
    struct told told = told_begin(text, size);
    switch (record != NULL ? record->rec.tag : CALL_DOWN) {
    case CALL_ANSWERED:
        tell_reply(&told, link_reply(record));
        return FAKEREDIS_CARRIES_REPLY;
    case CALL_LOST:
        tell_text(&told, "no reply: the connection has ended");
        return FAKEREDIS_CARRIES_LOSS;
    case CALL_MESSAGE:
        tell_reply(&told, link_reply(record));
        return FAKEREDIS_CARRIES_MESSAGE;
    default:
        return FAKEREDIS_CARRIES_LINK;
    }
}

int fakeredis_messages(int client)
{
    int count = 0;
    struct pack pack = client_pack(client);
    for (struct rec *rec = pack_first(&pack, CLIENT_CALLS); rec != NULL; rec = pack_next(&pack, rec)) {
        LS_ASSERT(rec->tag >= CALL_UP && rec->tag <= CALL_DOWN);
        count += rec->tag == CALL_MESSAGE;
    }
    return count;
}

int fakeredis_server_of(int client, int connection)
{
    LS_ASSERT(connection >= 0 && connection < FAKEREDIS_CONNECTIONS_MAX);
    return client_read(client)->connection[connection].server;
}
