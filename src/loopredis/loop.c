/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The threads that use hiredis in an application: the thread of the application's loop, or those of lead.h.
 * Other threads wake them by an eventfd. */
#include "lockredis/loop.h"
#include "lockredis/internal.h"
#include "loopredis/lead.h"

#include <hiredis/async.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/eventfd.h>

struct redis_loop {
    struct redis_lead lead; /* without `has_thread`, only its eventfd `wakes` has a use */
    pthread_t thread;       /* the client's own thread */
    bool has_thread;        /* false = the application has a loop */
};

bool lockredis_loop_attach(struct ls_redis *redis, struct redisAsyncContext *context)
{
    const struct ls_redis_options *options = lockredis_client_options(redis);
    if (options->attach != NULL) {
        return options->attach(context, options->loop) == 0;
    }
    return lockredis_sockets_attach(&redis->loop->lead.sockets, context);
}

void lockredis_loop_flush(struct redisAsyncContext *context)
{
    if ((context->c.flags & REDIS_CONNECTED) != 0) {
        redisAsyncHandleWrite(context);
    }
}

int lockredis_loop_descriptor(const struct ls_redis *redis)
{
    return redis->loop != NULL && !redis->loop->has_thread ? redis->loop->lead.wakes : -1;
}

void lockredis_loop_process(struct ls_redis *redis)
{
    int descriptor = lockredis_loop_descriptor(redis);
    if (descriptor >= 0) { /* otherwise a level-triggered loop would call again and again */
        eventfd_t count;
        (void)eventfd_read(descriptor, &count);
    }
    lockredis_client_run(redis);
}

void lockredis_loop_await(struct ls_redis *redis, struct redis_call *call)
{
    if (redis->loop->has_thread) {
        lockredis_lead_await(&redis->loop->lead, call);
    } else {
        lockredis_client_await(redis, call);
    }
}

void lockredis_loop_answered(struct ls_redis *redis, struct redis_call *call)
{
    if (redis->loop->has_thread) {
        lockredis_lead_answered(&redis->loop->lead, call);
    } else {
        ls_env_wake(redis->env, &call->waiter);
    }
}

bool lockredis_loop_defers(struct ls_redis *redis)
{
    return redis->loop != NULL && redis->loop->has_thread && lockredis_lead_defers(&redis->loop->lead);
}

static void *work(void *ctx)
{
    struct redis_loop *loop = ctx;
    struct ls_env *env = loop->lead.redis->env;
    ls_env_lock(env);
    lockredis_lead_work(&loop->lead);
    ls_env_unlock(env);
    return NULL;
}

/* The thread starts with SIGPIPE blocked: see struct redis_no_pipe. */
static int start_thread(struct redis_loop *loop)
{
    struct redis_no_pipe pipe;
    lockredis_sockets_block_pipe(&pipe);
    int rc = pthread_create(&loop->thread, NULL, work, loop);
    lockredis_sockets_restore_pipe(&pipe, false);
    return rc == 0 ? LS_OK : LS_ENOMEM;
}

static void discard(struct redis_loop *loop)
{
    lockredis_lead_close(&loop->lead);
    free(loop);
}

int lockredis_loop_open(struct ls_redis *redis)
{
    struct redis_loop *loop = calloc(1, sizeof *loop);
    if (loop == NULL) {
        return LS_ENOMEM;
    }
    loop->has_thread = lockredis_client_options(redis)->attach == NULL;
    if (!lockredis_lead_open(&loop->lead, redis)) {
        free(loop);
        return LS_ENOMEM;
    }
    redis->loop = loop;
    int rc = loop->has_thread ? start_thread(loop) : LS_OK;
    if (rc != LS_OK) {
        redis->loop = NULL;
        discard(loop);
    }
    return rc;
}

void lockredis_loop_wake(struct ls_redis *redis)
{
    if (redis->loop->has_thread) {
        lockredis_lead_wake(&redis->loop->lead);
    } else {
        (void)eventfd_write(redis->loop->lead.wakes, 1);
    }
}

void lockredis_loop_close(struct ls_redis *redis)
{
    struct redis_loop *loop = redis->loop;
    loop->lead.ends = true;
    lockredis_loop_wake(redis);
    ls_env_unlock(redis->env);
    if (loop->has_thread) {
        pthread_join(loop->thread, NULL);
    } else {
        lockredis_client_run(redis);
    }
    ls_env_lock(redis->env);
    redis->loop = NULL;
    discard(loop);
}
