/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Replies as the reader of hiredis parses them. Their objects lie in memory at a fixed address, which holds
 * one reply at a time. So the addresses that a recipe sees do not depend on the program's heap. */
#include "base/assert.h"
#include "fakeredis/internal.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define SCRATCH_ADDRESS 0x7c0000000000ull
#define SCRATCH_BYTES ((size_t)1 << 18)
#define POISON 0xdb

static unsigned char *scratch;
static size_t used;

static void *take(size_t size)
{
    size_t room = (size + 15) / 16 * 16;
    LS_ASSERT(scratch != NULL && used <= SCRATCH_BYTES);
    if (room > SCRATCH_BYTES - used) {
        return NULL;
    }
    void *memory = scratch + used;
    used += room;
    memset(memory, 0, room);
    return memory;
}

/* Makes a reply, and stores it in the array that contains it, if one does. NULL = no room. */
static redisReply *make(const redisReadTask *task, int type)
{
    redisReply *reply = take(sizeof *reply);
    if (reply == NULL) {
        return NULL;
    }
    reply->type = type;
    if (task->parent != NULL) {
        redisReply *around = task->parent->obj;
        LS_ASSERT(task->idx >= 0 && (size_t)task->idx < around->elements);
        around->element[task->idx] = reply;
    }
    return reply;
}

static void *make_string(const redisReadTask *task, char *text, size_t size)
{
    redisReply *reply = make(task, task->type);
    char *copy = reply != NULL ? take(size + 1) : NULL;
    if (copy == NULL) {
        return NULL;
    }
    memcpy(copy, text, size);
    reply->str = copy;
    reply->len = size;
    return reply;
}

static void *make_array(const redisReadTask *task, int elements)
{
    redisReply *reply = make(task, REDIS_REPLY_ARRAY);
    if (reply != NULL && elements > 0) {
        reply->element = take((size_t)elements * sizeof(redisReply *));
        if (reply->element == NULL) {
            return NULL;
        }
    }
    if (reply != NULL) {
        reply->elements = (size_t)elements;
    }
    return reply;
}

static void *make_integer(const redisReadTask *task, long long value)
{
    redisReply *reply = make(task, REDIS_REPLY_INTEGER);
    if (reply != NULL) {
        reply->integer = value;
    }
    return reply;
}

static void *make_nil(const redisReadTask *task)
{
    return make(task, REDIS_REPLY_NIL);
}

static void free_nothing(void *reply)
{
    (void)reply;
}

static redisReplyObjectFunctions functions = {make_string, make_array, make_integer, make_nil, free_nothing};

static void open_scratch(void)
{
    scratch = mmap((void *)(uintptr_t)SCRATCH_ADDRESS, SCRATCH_BYTES, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    LS_ASSERT(scratch == (void *)(uintptr_t)SCRATCH_ADDRESS);
}

redisReply *replies_parse(const unsigned char *items, size_t size)
{
    static char text[4 * REPLY_BYTES_MAX];
    void *reply = NULL;
    if (scratch == NULL) {
        open_scratch();
    }
    redisReader *reader = redisReaderCreateWithFunctions(&functions);
    LS_ASSERT(reader != NULL);
    used = 0;
    size_t length = reply_format(items, size, text, sizeof text);
    bool parsed = length > 0 && redisReaderFeed(reader, text, length) == REDIS_OK &&
                  redisReaderGetReply(reader, &reply) == REDIS_OK;
    redisReaderFree(reader);
    return parsed ? reply : NULL;
}

void replies_poison(void)
{
    if (used > 0) {
        memset(scratch, POISON, used);
        used = 0;
    }
}
