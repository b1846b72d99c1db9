/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The thread that uses hiredis. The functions are resolved at link time, as those of env.h are. In
 * applications src/loopredis has a thread of the client, threads in blocking calls, or the loop of the
 * application. In worlds src/lockredis/world/loop.c has no thread, because a world moves connections itself.
 *
 * The functions are called with the environment's mutex, unless they say otherwise. */
#ifndef LOCKREDIS_LOOP_H
#define LOCKREDIS_LOOP_H

#include <lockstep/redis.h>

struct redisAsyncContext;
struct redis_call;

/* Returns 0 or LS_ENOMEM. */
int lockredis_loop_open(struct ls_redis *redis);

/* Has lockredis_client_run() called soon, or calls it. May drop the mutex meanwhile. */
void lockredis_loop_wake(struct ls_redis *redis);

/* Has requests sent until the blocking call is answered. When it returns, the client may be gone. */
void lockredis_loop_await(struct ls_redis *redis, struct redis_call *call);

/* Wakes the thread of a blocking call that is answered. */
void lockredis_loop_answered(struct ls_redis *redis, struct redis_call *call);

/* Returns whether the calling thread must make no callbacks. Then another thread makes them. */
bool lockredis_loop_defers(struct ls_redis *redis);

/* Attaches a new connection to the loop; false = that failed. Called without the mutex, inside
 * lockredis_client_run(). */
bool lockredis_loop_attach(struct ls_redis *redis, struct redisAsyncContext *context);
/* Writes as much of a connection's output as can be written at once. Called as lockredis_loop_attach() is. */
void lockredis_loop_flush(struct redisAsyncContext *context);

/* Has lockredis_client_run() called a last time, and ends the loop. Drops the mutex meanwhile. */
void lockredis_loop_close(struct ls_redis *redis);

int lockredis_loop_descriptor(const struct ls_redis *redis); /* for ls_redis_fd(); -1 = none */

/* Calls lockredis_client_run() once for all wake-ups up to now. Called without the mutex, by the thread of
 * the application's loop. */
void lockredis_loop_process(struct ls_redis *redis);

#endif
