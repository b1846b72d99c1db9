/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The thread that uses hiredis. The functions are resolved at link time, as those of env.h are. In
 * applications src/loopredis has a thread of the client, threads in blocking calls, or the loop of the
 * application. In worlds src/lockredis/world/loop.c has none, because a world moves connections itself.
 *
 * They are called with the environment's mutex, unless they say otherwise. */
#ifndef LOCKREDIS_LOOP_H
#define LOCKREDIS_LOOP_H

#include <lockstep/redis.h>

struct redisAsyncContext;
struct redis_call;

/* Returns 0 or LS_ENOMEM. */
int lockredis_loop_open(struct ls_redis *redis);

/* Has lockredis_client_run() called soon. It may drop the mutex meanwhile. */
void lockredis_loop_wake(struct ls_redis *redis);

/* Has all requests sent, and waits for the answer of a blocking call. When it returns, the client may be
 * gone. */
void lockredis_loop_await(struct ls_redis *redis, struct redis_call *call);

/* Wakes the thread of a blocking call that is answered. */
void lockredis_loop_answered(struct ls_redis *redis, struct redis_call *call);

/* Whether the calling thread must leave callbacks to another one, which is then woken. */
bool lockredis_loop_defers(struct ls_redis *redis);

/* Attaches a new connection to the loop, and returns whether the loop has it. Called without the mutex,
 * inside lockredis_client_run(). */
bool lockredis_loop_attach(struct ls_redis *redis, struct redisAsyncContext *context);

/* Writes what can be written at once. Called without the mutex, inside lockredis_client_run(). */
void lockredis_loop_flush(struct redisAsyncContext *context);

/* Has lockredis_client_run() called a last time, and ends the loop. It drops the mutex meanwhile. */
void lockredis_loop_close(struct ls_redis *redis);

int lockredis_loop_descriptor(const struct ls_redis *redis);

/* Answers all wake-ups up to now with one lockredis_client_run(). Called without the mutex, by the thread of
 * the application's loop. */
void lockredis_loop_process(struct ls_redis *redis);

#endif
