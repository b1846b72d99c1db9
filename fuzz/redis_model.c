/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "redis_model.h"

#include "target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_BYTES (2u << 20)
#define FREED 0xdb /* each byte of a context that is not there */

_Static_assert(sizeof(redisAsyncContext) <= CONTEXT_BYTES, "a context has room");

struct arena model_arena;
struct model *model;
int model_block;
static struct heap *heap[CLIENTS];
int model_heap_block[CLIENTS];
int model_inside = -1;
int model_servers;

static unsigned char before[CLIENTS][CONTEXTS_MAX][CONTEXT_BYTES]; /* the operation that is done */
static bool is_timed;
static bool was_there[CLIENTS][CONTEXTS_MAX];

/* ---- what must hold ---- */

void model_wrong(const char *what)
{
    static char dump[1 << 16];
    fakeredis_dump(dump, sizeof dump);
    fprintf(stderr, "%s\n%s", what, target_verbose ? dump : "");
    abort();
}

void model_note(uint64_t what)
{
    model->log = (model->log ^ what) * 0x100000001b3ull;
}

void model_note_bytes(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        model->log = (model->log ^ (unsigned char)bytes[i]) * 0x100000001b3ull;
    }
}

/* ---- the host: memory and time of clients ---- */

int model_context_index(int client, const void *memory)
{
    const unsigned char *at = memory;
    size_t offset = (size_t)(at - heap[client]->context[0]);
    expect(at >= heap[client]->context[0] && offset < sizeof heap[client]->context &&
               offset % CONTEXT_BYTES == 0,
           "a context of another client");
    return (int)(offset / CONTEXT_BYTES);
}

void model_expect_freed(int client, int i)
{
    static unsigned char freed[CONTEXT_BYTES];
    memset(freed, FREED, sizeof freed);
    expect(memcmp(heap[client]->context[i], freed, sizeof freed) == 0,
           "memory is written to after it was freed");
}

int model_client_of(const void *memory)
{
    for (int client = 0; client < CLIENTS; client++) {
        const unsigned char *at = memory, *first = heap[client]->context[0];
        if (at >= first && at < first + sizeof heap[client]->context) {
            return client;
        }
    }
    expect(false, "a context that is nobody's");
    return 0;
}

static void *host_alloc(int client, size_t size)
{
    for (int i = 0; i < CONTEXTS_MAX; i++) {
        if (!model->known[client][i].there) {
            expect(size <= CONTEXT_BYTES, "more memory than a context takes");
            model_expect_freed(client, i);
            memset(heap[client]->context[i], 0, size);
            model->known[client][i] = (struct known){.there = 1};
            return heap[client]->context[i];
        }
    }
    return NULL;
}

void model_forget_context(int client, int i)
{
    memset(heap[client]->context[i], FREED, CONTEXT_BYTES);
    memset(&model->known[client][i], 0, sizeof model->known[client][i]);
}

static void host_free(int client, void *memory)
{
    int i = model_context_index(client, memory);
    expect(model->known[client][i].there, "memory is freed twice");
    expect(fakeredis_trouble() != NULL || model->known[client][i].pending == 0,
           "a connection ends, and a command has neither a reply nor word of its loss");
    model_forget_context(client, i);
}

static int32_t host_now_ms(void)
{
    return model->now_ms;
}

static bool host_stopping(void)
{
    return model->stopping;
}

static void host_observe(const struct fakeredis_event *event)
{
    model_note((uint64_t)event->kind << 32 | (uint64_t)(unsigned)event->client << 8 |
               (unsigned)event->connection);
    if (event->kind == FAKEREDIS_KEY) {
        struct bytes name = key_name(event->key);
        model_note_bytes(name.at, name.size);
        model_note(event->change);
    } else if (event->kind == FAKEREDIS_UNDONE) {
        model_note_bytes(event->lost->name.at, event->lost->name.size);
        model_note((uint64_t)event->lost->created << 1 | event->lost->over);
    }
}

/* ---- memory of clients: who may write to it ---- */

void model_enter(int client)
{
    arena_mark(&model_arena, model_heap_block[client]);
    fakeredis_enter(client);
    model_inside = client;
}

void model_leave(void)
{
    fakeredis_leave();
    model_inside = -1;
}

void model_expect_memory(int writer)
{
    for (int client = 0; client < CLIENTS; client++) {
        for (int i = 0; i < CONTEXTS_MAX && client != writer; i++) {
            expect(!was_there[client][i] ||
                       memcmp(before[client][i], heap[client]->context[i], CONTEXT_BYTES) == 0,
                   "a step writes to the memory of a client that it does not call back");
        }
    }
}

/* Memory that is free has a check of its own when it is taken, and at the end. */
void model_keep_memory(void)
{
    for (int client = 0; client < CLIENTS; client++) {
        for (int i = 0; i < CONTEXTS_MAX; i++) {
            was_there[client][i] = model->known[client][i].there != 0;
            if (was_there[client][i]) {
                memcpy(before[client][i], heap[client]->context[i], CONTEXT_BYTES);
            }
        }
    }
}

/* ---- a world ---- */

static void add_blocks(void)
{
    model_block = arena_add(&model_arena, sizeof *model, sizeof *model);
    model = arena_at(&model_arena, model_block);
    for (int client = 0; client < CLIENTS; client++) {
        model_heap_block[client] = arena_add(&model_arena, sizeof *heap[client], sizeof *heap[client]);
        heap[client] = arena_at(&model_arena, model_heap_block[client]);
        memset(heap[client]->context, FREED, sizeof heap[client]->context);
    }
}

bool model_is_timed(void)
{
    return is_timed;
}

void model_open(const uint8_t *header)
{
    model_servers = 1 + header[0] % 3;
    is_timed = (header[1] & 1) != 0;
    struct fakeredis_options options = {.clients = CLIENTS,
                                        .servers = model_servers,
                                        .replicas = header[3] >> 3 & 3,
                                        .lag = header[3] & 7,
                                        .splits = (header[3] & 32) != 0,
                                        .timed = is_timed,
                                        .password = (header[1] & 2) != 0 ? "pass" : NULL,
                                        .now_ms = host_now_ms,
                                        .alloc = host_alloc,
                                        .free = host_free,
                                        .stopping = host_stopping,
                                        .observe = host_observe};
    if (model_arena.base == NULL && arena_open(&model_arena, ARENA_BYTES) != 0) {
        abort();
    }
    arena_clear(&model_arena);
    add_blocks();
    model_inside = -1;
    fakeredis_open(&model_arena, &options);
}
