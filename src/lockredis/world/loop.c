/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* In a world there is no loop: lockredis_loop_wake() sends at once, and the world moves the connections. */
#include "lockredis/loop.h"
#include "lockredis/internal.h"

int lockredis_loop_open(struct ls_redis *redis)
{
    (void)redis;
    return LS_OK;
}

void lockredis_loop_wake(struct ls_redis *redis)
{
    ls_env_unlock(redis->env);
    lockredis_client_run(redis);
    ls_env_lock(redis->env);
}

void lockredis_loop_await(struct ls_redis *redis, struct redis_call *call)
{
    lockredis_client_await(redis, call);
}

void lockredis_loop_answered(struct ls_redis *redis, struct redis_call *call)
{
    ls_env_wake(redis->env, &call->waiter);
}

bool lockredis_loop_defers(struct ls_redis *redis)
{
    (void)redis;
    return false;
}

bool lockredis_loop_attach(struct ls_redis *redis, struct redisAsyncContext *context)
{
    (void)redis, (void)context;
    return true;
}

void lockredis_loop_flush(struct redisAsyncContext *context)
{
    (void)context;
}

void lockredis_loop_close(struct ls_redis *redis)
{
    lockredis_loop_wake(redis);
}

int lockredis_loop_descriptor(const struct ls_redis *redis)
{
    (void)redis;
    return -1;
}

void lockredis_loop_process(struct ls_redis *redis)
{
    lockredis_client_run(redis);
}
