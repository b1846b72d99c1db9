/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The thread that uses hiredis in an application: it polls the sockets, or is the loop of the application.
 * Others wake it through an eventfd. Everything but `ends` belongs to that thread, once it runs. */
#include "lockredis/loop.h"
#include "lockredis/internal.h"

#include <errno.h>
#include <hiredis/async.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define SOCKETS_MAX 2 /* a connection for commands and one for messages */

/* One connection, as the hooks of hiredis describe it. */
struct socket {
    redisAsyncContext *context; /* NULL = free */
    short events;               /* POLLIN, POLLOUT */
};

struct redis_loop {
    struct ls_redis *redis;
    pthread_t thread;
    int descriptor;  /* an eventfd */
    bool has_thread; /* false = the loop of the application */
    bool ends;       /* under the environment's mutex */
    struct socket socket[SOCKETS_MAX];
};

/* ---- hooks of hiredis ---- */

static void add_read(void *ctx)
{
    ((struct socket *)ctx)->events |= POLLIN;
}

static void delete_read(void *ctx)
{
    ((struct socket *)ctx)->events &= (short)~POLLIN;
}

static void add_write(void *ctx)
{
    ((struct socket *)ctx)->events |= POLLOUT;
}

static void delete_write(void *ctx)
{
    ((struct socket *)ctx)->events &= (short)~POLLOUT;
}

static void clean_up(void *ctx)
{
    *(struct socket *)ctx = (struct socket){.context = NULL};
}

bool lockredis_loop_attach(struct ls_redis *redis, struct redisAsyncContext *context)
{
    const struct ls_redis_options *options = lockredis_client_options(redis);
    if (options->attach != NULL) {
        return options->attach(context, options->loop) == 0;
    }
    for (int i = 0; i < SOCKETS_MAX; i++) {
        struct socket *socket = &redis->loop->socket[i];
        if (socket->context == NULL) {
            *socket = (struct socket){.context = context};
            context->ev.data = socket;
            context->ev.addRead = add_read;
            context->ev.delRead = delete_read;
            context->ev.addWrite = add_write;
            context->ev.delWrite = delete_write;
            context->ev.cleanup = clean_up;
            return true;
        }
    }
    return false;
}

void lockredis_loop_flush(struct redisAsyncContext *context)
{
    if ((context->c.flags & REDIS_CONNECTED) != 0) {
        redisAsyncHandleWrite(context);
    }
}

/* ---- the thread ---- */

static void handle(struct redis_loop *loop, const struct pollfd fds[SOCKETS_MAX])
{
    for (int i = 0; i < SOCKETS_MAX; i++) {
        struct socket *socket = &loop->socket[i];
        redisAsyncContext *context = socket->context;
        if (fds[i].fd < 0 || fds[i].revents == 0) {
            continue;
        }
        if ((fds[i].revents & (POLLIN | POLLERR | POLLHUP)) != 0 && context != NULL &&
            context->c.fd == fds[i].fd) {
            redisAsyncHandleRead(context);
        }
        if ((fds[i].revents & POLLOUT) != 0 && socket->context == context && context != NULL) {
            redisAsyncHandleWrite(context);
        }
    }
}

static void wait_for_events(struct redis_loop *loop)
{
    struct pollfd fds[SOCKETS_MAX + 1];
    for (int i = 0; i < SOCKETS_MAX; i++) {
        const struct socket *socket = &loop->socket[i];
        fds[i] = (struct pollfd){.fd = socket->context != NULL ? socket->context->c.fd : -1,
                                 .events = socket->events};
    }
    fds[SOCKETS_MAX] = (struct pollfd){.fd = loop->descriptor, .events = POLLIN};
    if (poll(fds, SOCKETS_MAX + 1, -1) > 0) {
        handle(loop, fds);
    }
}

static bool has_ended(struct redis_loop *loop)
{
    ls_env_lock(loop->redis->env);
    bool ends = loop->ends;
    ls_env_unlock(loop->redis->env);
    return ends;
}

/* The run that follows answers the wake-ups up to now. */
static void forget_wakes(const struct redis_loop *loop)
{
    eventfd_t count;
    (void)eventfd_read(loop->descriptor, &count);
}

void lockredis_loop_process(struct ls_redis *redis)
{
    if (lockredis_loop_descriptor(redis) >= 0) {
        forget_wakes(redis->loop); /* a level-triggered loop would call again and again */
    }
    lockredis_client_run(redis);
}

static void *work(void *ctx)
{
    struct redis_loop *loop = ctx;
    bool ends;
    do {
        forget_wakes(loop);
        ends = has_ended(loop);
        lockredis_client_run(loop->redis);
        if (!ends) {
            wait_for_events(loop);
        }
    } while (!ends);
    return NULL;
}

/* hiredis writes with write(), which raises SIGPIPE if the server has closed the connection. */
static int start_thread(struct redis_loop *loop)
{
    sigset_t pipe, before;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    int rc = pthread_create(&loop->thread, NULL, work, loop);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc == 0 ? LS_OK : LS_ENOMEM;
}

/* ---- life ---- */

static void discard(struct redis_loop *loop)
{
    close(loop->descriptor);
    free(loop);
}

int lockredis_loop_open(struct ls_redis *redis)
{
    struct redis_loop *loop = calloc(1, sizeof *loop);
    if (loop == NULL) {
        return LS_ENOMEM;
    }
    loop->redis = redis;
    loop->descriptor = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    loop->has_thread = lockredis_client_options(redis)->attach == NULL;
    if (loop->descriptor < 0) {
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
    (void)eventfd_write(redis->loop->descriptor, 1);
}

void lockredis_loop_close(struct ls_redis *redis)
{
    struct redis_loop *loop = redis->loop;
    loop->ends = true;
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

int lockredis_loop_descriptor(const struct ls_redis *redis)
{
    return redis->loop != NULL && !redis->loop->has_thread ? redis->loop->descriptor : -1;
}
