/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "loopredis/sockets.h"

#include <hiredis/async.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <time.h>

static void add_read(void *ctx)
{
    ((struct redis_socket *)ctx)->events |= POLLIN;
}

static void delete_read(void *ctx)
{
    ((struct redis_socket *)ctx)->events &= (short)~POLLIN;
}

static void add_write(void *ctx)
{
    ((struct redis_socket *)ctx)->events |= POLLOUT;
}

static void delete_write(void *ctx)
{
    ((struct redis_socket *)ctx)->events &= (short)~POLLOUT;
}

static void clean_up(void *ctx)
{
    struct redis_socket *socket = ctx;
    socket->sockets->ended++;
    socket->context = NULL;
    socket->events = 0;
}

bool lockredis_sockets_attach(struct redis_sockets *sockets, struct redisAsyncContext *context)
{
    for (int i = 0; i < SOCKETS_MAX; i++) {
        struct redis_socket *socket = &sockets->socket[i];
        if (socket->context == NULL) {
            *socket = (struct redis_socket){.context = context, .sockets = sockets};
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

void lockredis_sockets_write(struct redis_sockets *sockets)
{
    for (int i = 0; i < SOCKETS_MAX; i++) {
        redisAsyncContext *context = sockets->socket[i].context;
        bool writes = (sockets->socket[i].events & POLLOUT) != 0;
        if (context != NULL && writes && (context->c.flags & REDIS_CONNECTED) != 0) {
            redisAsyncHandleWrite(context);
        }
    }
}

void lockredis_sockets_poll(const struct redis_sockets *sockets, int wakes, struct redis_events *found)
{
    struct pollfd fds[SOCKETS_MAX + 1];
    for (int i = 0; i < SOCKETS_MAX; i++) {
        const struct redis_socket *socket = &sockets->socket[i];
        fds[i] = (struct pollfd){.fd = socket->context != NULL ? socket->context->c.fd : -1,
                                 .events = socket->events};
    }
    fds[SOCKETS_MAX] = (struct pollfd){.fd = wakes, .events = POLLIN};
    bool some = poll(fds, SOCKETS_MAX + 1, -1) > 0;
    for (int i = 0; i < SOCKETS_MAX; i++) {
        found->fd[i] = fds[i].fd;
        found->events[i] = some ? fds[i].revents : 0;
    }
}

void lockredis_sockets_handle(struct redis_sockets *sockets, const struct redis_events *found)
{
    for (int i = 0; i < SOCKETS_MAX; i++) {
        struct redis_socket *socket = &sockets->socket[i];
        redisAsyncContext *context = socket->context;
        if (found->fd[i] < 0 || found->events[i] == 0) {
            continue;
        }
        if ((found->events[i] & (POLLIN | POLLERR | POLLHUP)) != 0 && context != NULL &&
            context->c.fd == found->fd[i]) {
            redisAsyncHandleRead(context);
        }
        if ((found->events[i] & POLLOUT) != 0 && socket->context == context && context != NULL) {
            redisAsyncHandleWrite(context);
        }
    }
}

static void only_pipe(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGPIPE);
}

void lockredis_sockets_block_pipe(struct redis_no_pipe *pipe)
{
    sigset_t set, before;
    only_pipe(&set);
    pthread_sigmask(SIG_BLOCK, &set, &before);
    pipe->was_blocked = sigismember(&before, SIGPIPE) == 1;
    pipe->was_pending = pipe->was_blocked && sigpending(&set) == 0 && sigismember(&set, SIGPIPE) == 1;
}

void lockredis_sockets_restore_pipe(const struct redis_no_pipe *pipe, bool raised)
{
    static const struct timespec at_once = {0};
    sigset_t set;
    only_pipe(&set);
    if (raised && !pipe->was_pending) {
        (void)sigtimedwait(&set, NULL, &at_once);
    }
    if (!pipe->was_blocked) {
        pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    }
}
