/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A bench for the fake of Redis: two clients and one server, of which the test does each step. What
 * callbacks get is written to a line of words, which the test compares. */
#ifndef TESTS_FAKEREDIS_BENCH_H
#define TESTS_FAKEREDIS_BENCH_H

#include "fakeredis/fakeredis.h"

#include <hiredis/async.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct arena bench_arena;
static int32_t bench_now;
static char bench_said[2048]; /* words of callbacks and events, each with a space behind */
static bool bench_ends;

__attribute__((format(printf, 1, 2))) static inline void bench_say(const char *format, ...)
{
    size_t used = strlen(bench_said);
    va_list args;
    va_start(args, format);
    vsnprintf(bench_said + used, sizeof bench_said - used, format, args);
    va_end(args);
}

/* What has been said since the last call. */
static inline void bench_saw(const char *words)
{
    char said[sizeof bench_said];
    strcpy(said, bench_said);
    bench_said[0] = 0;
    assert_string_equal(said, words);
}

static inline int32_t bench_clock(void)
{
    return bench_now;
}

static inline void *bench_alloc(int client, size_t size)
{
    (void)client;
    return calloc(1, size);
}

static inline void bench_free(int client, void *memory)
{
    (void)client;
    free(memory);
}

static inline bool bench_stopping(void)
{
    return bench_ends;
}

static inline void bench_observe(const struct fakeredis_event *event)
{
    static const char *const changes[] = {[KEY_WRITTEN] = "wrote",
                                          [KEY_LEASED] = "leased",
                                          [KEY_DELETED] = "deleted",
                                          [KEY_EXPIRED] = "expired",
                                          [KEY_LOST] = "lost"};
    if (event->kind == FAKEREDIS_KEY) {
        struct bytes name = key_name(event->key);
        bench_say("(%s %.*s) ", changes[event->change], (int)name.size, name.at);
    } else if (event->kind == FAKEREDIS_UNDONE) {
        bench_say("(%s %.*s) ", event->key != NULL ? "back" : "undone", (int)event->lost->name.size,
                  event->lost->name.at);
    }
}

/* Says a reply: "OK", "nil", 7, 'bulk', -ERR..., [elements]. */
static inline void bench_say_reply(const redisReply *reply)
{
    if (reply == NULL) {
        bench_say("lost");
    } else if (reply->type == REDIS_REPLY_NIL) {
        bench_say("nil");
    } else if (reply->type == REDIS_REPLY_INTEGER) {
        bench_say("%lld", reply->integer);
    } else if (reply->type == REDIS_REPLY_ARRAY) {
        bench_say("[");
        for (size_t i = 0; i < reply->elements; i++) {
            bench_say(i > 0 ? " " : "");
            bench_say_reply(reply->element[i]);
        }
        bench_say("]");
    } else {
        const char *quote = reply->type == REDIS_REPLY_STRING  ? "'"
                            : reply->type == REDIS_REPLY_ERROR ? "-"
                                                               : "";
        bench_say("%s%.*s%s", quote, (int)reply->len, reply->str, *quote == '\'' ? quote : "");
    }
}

static inline void bench_done(redisAsyncContext *context, void *reply, void *name)
{
    (void)context;
    bench_say("%s=", (const char *)name);
    bench_say_reply(reply);
    bench_say(" ");
}

static inline void bench_up(const redisAsyncContext *context, int status)
{
    (void)context;
    bench_say(status == REDIS_OK ? "up " : "refused ");
}

static inline void bench_down(const redisAsyncContext *context, int status)
{
    (void)context;
    bench_say(status == REDIS_OK ? "closed " : "down ");
}

/* A world with these options, and the functions of the bench. */
static inline void bench_open_as(struct fakeredis_options options)
{
    options.clients = 2;
    options.now_ms = bench_clock;
    options.alloc = bench_alloc;
    options.free = bench_free;
    options.stopping = bench_stopping;
    options.observe = bench_observe;
    bench_now = 1000;
    bench_said[0] = 0;
    bench_ends = false;
    if (bench_arena.base == NULL) {
        assert_int_equal(arena_open(&bench_arena, 1 << 20), 0);
    }
    arena_clear(&bench_arena);
    fakeredis_open(&bench_arena, &options);
}

/* A server with replicas, which may lose its last `lag` writes. */
static inline void bench_open_replicated(bool timed, const char *password, int replicas, int lag)
{
    bench_open_as((struct fakeredis_options){
        .servers = 1, .replicas = replicas, .lag = lag, .timed = timed, .password = password});
}

static inline void bench_open(bool timed, const char *password)
{
    bench_open_replicated(timed, password, 0, 0);
}

static inline redisAsyncContext *bench_connect_to(int client, int server)
{
    fakeredis_enter(client);
    redisAsyncContext *context = redisAsyncConnect("127.0.0.1", FAKEREDIS_PORT + server);
    assert_non_null(context);
    redisAsyncSetConnectCallback(context, bench_up);
    redisAsyncSetDisconnectCallback(context, bench_down);
    fakeredis_leave();
    return context;
}

static inline redisAsyncContext *bench_connect(int client)
{
    return bench_connect_to(client, 0);
}

/* Does steps of a client, in the order of its connections, until none is left. */
static inline void bench_run_client(int client)
{
    for (bool did = true; did;) {
        did = false;
        for (int c = 0; c < FAKEREDIS_CONNECTIONS_MAX && !did; c++) {
            if (!fakeredis_is_open(client, c)) {
                continue;
            }
            fakeredis_enter(client);
            did = true;
            if (fakeredis_can_connect(client, c)) {
                fakeredis_connect(client, c);
            } else if (fakeredis_can_deliver(client, c)) {
                fakeredis_deliver(client, c);
            } else if (fakeredis_can_apply(client, c)) {
                fakeredis_apply(client, c);
            } else {
                did = false;
            }
            fakeredis_leave();
        }
    }
}

static inline redisAsyncContext *bench_connected(int client)
{
    redisAsyncContext *context = bench_connect(client);
    bench_run_client(client);
    bench_saw("up ");
    return context;
}

/* Sends a command whose reply is said under a name. */
#define bench_send(client, context, name, ...)                                                               \
    do {                                                                                                     \
        fakeredis_enter(client);                                                                             \
        assert_int_equal(redisAsyncCommand(context, bench_done, (void *)(uintptr_t)(name), __VA_ARGS__),     \
                         REDIS_OK);                                                                          \
        fakeredis_leave();                                                                                   \
    } while (0)

/* Sends it, and does all steps of the client. */
#define bench_ask(client, context, name, ...)                                                                \
    do {                                                                                                     \
        bench_send(client, context, name, __VA_ARGS__);                                                      \
        bench_run_client(client);                                                                            \
    } while (0)

static inline int bench_close(void **state)
{
    (void)state;
    for (int client = 0; client < 2; client++) {
        for (int c = 0; c < FAKEREDIS_CONNECTIONS_MAX; c++) {
            redisAsyncContext *context = fakeredis_context(client, c);
            if (context != NULL) {
                fakeredis_enter(client);
                redisAsyncFree(context);
                fakeredis_leave();
            }
        }
    }
    return 0;
}

#endif
