/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The model of fuzz_redis_calls: memory of its clients, commands that have no answer yet, and what must hold
 * of both. It lies in blocks of the arena, so that it is saved and restored with the
 * fake. */
#ifndef FUZZ_REDIS_MODEL_H
#define FUZZ_REDIS_MODEL_H

#include "base/arena.h"
#include "fakeredis/fakeredis.h"

#include <hiredis/async.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLIENTS 3
#define REQUESTS_MAX 512
#define LIVES_MAX 100
#define NUMBER_NONE 0

#define CONTEXTS_MAX 12 /* of a client, at once */
#define CONTEXT_BYTES 512

/* The memory of a client. */
struct heap {
    struct arena_block head;
    unsigned char context[CONTEXTS_MAX][CONTEXT_BYTES];
};

/* A context that is there. */
struct known {
    uint8_t there, ended; /* ended: the callback of its end has run */
    uint16_t pending;     /* commands whose callback has not run */
    uint32_t sent;        /* commands up to now */
    uint32_t answered;    /* number of the last command that was answered */
    uint32_t connected;   /* how often the callback of its beginning has run */
};

struct request {
    uint8_t client, context, what; /* what: what its callback does */
    uint8_t any_turn;              /* sent while listening: it may be answered at the end alone */
    uint32_t number;               /* among those of its context, from 1; NUMBER_NONE = it was answered */
};

struct model {
    struct arena_block head;
    struct known known[CLIENTS][CONTEXTS_MAX];
    struct request request[REQUESTS_MAX];
    uint32_t requests;
    int32_t now_ms;
    uint64_t log; /* hash of all that was called back and observed */
    uint8_t stopping, zero[7];
};

extern struct arena model_arena;
extern struct model *model;
extern int model_block; /* of `model` in the arena */
extern int model_heap_block[CLIENTS];
extern int model_inside;  /* client whose calls or callbacks run; -1 = none */
extern int model_servers; /* of the world */

bool model_is_timed(void);

/* ---- what must hold ---- */

/* Prints the claim that does not hold, and ends the process. */
__attribute__((noreturn)) void model_wrong(const char *what);

static inline void expect(bool holds, const char *what)
{
    if (!holds) {
        model_wrong(what);
    }
}

/* Adds to the hash that a world has to repeat. */
void model_note(uint64_t what);
void model_note_bytes(const char *bytes, size_t size);

/* ---- memory of clients ---- */

/* The number of a context among those of its client. */
int model_context_index(int client, const void *memory);
/* The client whose context this is. */
int model_client_of(const void *memory);
void model_forget_context(int client, int i);
/* Nothing was written to a context that is not there. */
void model_expect_freed(int client, int i);

/* The calls between these two are a client's. */
void model_enter(int client);
void model_leave(void);

/* Remembers the memory of all clients. Memory that changes from then on belongs to the client `writer`;
 * -1 = no memory changes. */
void model_keep_memory(void);
void model_expect_memory(int writer);

/* ---- a world ---- */

/* Opens the world that the header of an input describes (redis_calls.h). */
void model_open(const uint8_t *header);

#endif
