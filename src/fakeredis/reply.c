/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "fakeredis/reply.h"

#include "base/assert.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ERROR_MAX 1024

static size_t padded(size_t size)
{
    return (size + 7) / 8 * 8;
}

void reply_clear(struct reply *reply)
{
    reply->used = 0;
    reply->full = false;
}

struct bytes reply_all(const struct reply *reply)
{
    return (struct bytes){(const char *)reply->bytes, reply->used};
}

/* Adds an item with `room` zeroed bytes behind it, and returns those. NULL = no space: `full` is set. */
static void *add(struct reply *reply, enum reply_type type, size_t size, size_t room)
{
    struct reply_item item = {.type = (uint8_t)type, .size = (uint32_t)size};
    size_t all = sizeof item + padded(room);
    LS_ASSERT(reply->used % 8 == 0 && reply->used <= sizeof reply->bytes);
    if (all > sizeof reply->bytes - reply->used) {
        reply->full = true;
        return NULL;
    }
    unsigned char *at = reply->bytes + reply->used;
    memset(at, 0, all);
    memcpy(at, &item, sizeof item);
    reply->used += all;
    return at + sizeof item;
}

void reply_nil(struct reply *reply)
{
    add(reply, REPLY_NIL, 0, 0);
}

void reply_nil_array(struct reply *reply)
{
    add(reply, REPLY_NIL_ARRAY, 0, 0);
}

void reply_bytes(struct reply *reply, enum reply_type type, struct bytes bytes)
{
    LS_ASSERT(type == REPLY_STATUS || type == REPLY_ERROR || type == REPLY_BULK);
    void *room = add(reply, type, bytes.size, bytes.size);
    if (room != NULL && bytes.size > 0) {
        memcpy(room, bytes.at, bytes.size);
    }
}

void reply_status(struct reply *reply, const char *text)
{
    reply_bytes(reply, REPLY_STATUS, (struct bytes){text, strlen(text)});
}

void reply_integer(struct reply *reply, int64_t value)
{
    void *room = add(reply, REPLY_INTEGER, sizeof value, sizeof value);
    if (room != NULL) {
        memcpy(room, &value, sizeof value);
    }
}

void reply_array(struct reply *reply, uint32_t elements)
{
    add(reply, REPLY_ARRAY, elements, 0);
}

void reply_error(struct reply *reply, const char *format, ...)
{
    char text[ERROR_MAX];
    va_list args;
    va_start(args, format);
    int size = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    size_t kept = (size_t)size < sizeof text ? (size_t)size : sizeof text - 1;
    for (size_t i = 0; i < kept; i++) {
        text[i] = text[i] == '\n' || text[i] == '\r' ? ' ' : text[i];
    }
    reply_bytes(reply, REPLY_ERROR, (struct bytes){text, kept});
}

const struct reply_item *reply_item(const unsigned char *items, size_t at)
{
    return (const struct reply_item *)(const void *)(items + at);
}

static bool has_bytes(const struct reply_item *item)
{
    return item->type == REPLY_STATUS || item->type == REPLY_ERROR || item->type == REPLY_INTEGER ||
           item->type == REPLY_BULK;
}

size_t reply_next(const unsigned char *items, size_t at)
{
    const struct reply_item *item = reply_item(items, at);
    return at + sizeof *item + (has_bytes(item) ? padded(item->size) : 0);
}

size_t reply_end(const unsigned char *items, size_t at)
{
    for (uint32_t more = 1; more > 0; more--) {
        const struct reply_item *item = reply_item(items, at);
        more += item->type == REPLY_ARRAY ? item->size : 0;
        at = reply_next(items, at);
    }
    return at;
}

struct bytes reply_text(const struct reply_item *item)
{
    return (struct bytes){(const char *)(item + 1), item->size};
}

int64_t reply_number(const struct reply_item *item)
{
    int64_t value;
    LS_ASSERT(item->type == REPLY_INTEGER);
    memcpy(&value, item + 1, sizeof value);
    return value;
}

struct text {
    char *at;
    size_t used, size;
    bool full;
};

static void put(struct text *text, const char *bytes, size_t size)
{
    if (size > text->size - text->used) {
        text->full = true;
        return;
    }
    memcpy(text->at + text->used, bytes, size);
    text->used += size;
}

static void put_line(struct text *text, char type, int64_t number)
{
    char line[32];
    put(text, line, (size_t)snprintf(line, sizeof line, "%c%" PRId64 "\r\n", type, number));
}

static void put_item(struct text *text, const struct reply_item *item)
{
    struct bytes bytes = reply_text(item);
    LS_ASSERT(item->type >= REPLY_NIL && item->type <= REPLY_ARRAY);
    switch ((enum reply_type)item->type) {
    case REPLY_NIL:
        put_line(text, '$', -1);
        break;
    case REPLY_NIL_ARRAY:
        put_line(text, '*', -1);
        break;
    case REPLY_STATUS:
    case REPLY_ERROR:
        put(text, item->type == REPLY_STATUS ? "+" : "-", 1);
        put(text, bytes.at, bytes.size);
        put(text, "\r\n", 2);
        break;
    case REPLY_INTEGER:
        put_line(text, ':', reply_number(item));
        break;
    case REPLY_BULK:
        put_line(text, '$', (int64_t)bytes.size);
        put(text, bytes.at, bytes.size);
        put(text, "\r\n", 2);
        break;
    case REPLY_ARRAY:
        put_line(text, '*', item->size);
        break;
    }
}

size_t reply_format(const unsigned char *items, size_t used, char *text, size_t size)
{
    struct text out = {.at = text, .size = size};
    for (size_t at = 0; at < used; at = reply_next(items, at)) {
        put_item(&out, reply_item(items, at));
    }
    LS_ASSERT(out.used <= size);
    return out.full ? 0 : out.used;
}
