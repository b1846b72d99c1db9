/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The connections of a client that polls them itself. They belong to the thread that leads (lead.h). Call the
 * functions of struct redis_sockets without the environment's mutex: some wait, and in some hiredis calls
 * back. */
#ifndef LOOPREDIS_SOCKETS_H
#define LOOPREDIS_SOCKETS_H

#include <signal.h>
#include <stdbool.h>

struct redisAsyncContext;

#define SOCKETS_MAX 2 /* a connection for commands and one for messages */

struct redis_socket {
    struct redisAsyncContext *context; /* NULL = free */
    struct redis_sockets *sockets;
    short events; /* POLLIN, POLLOUT: set by the hooks of hiredis */
};

struct redis_sockets {
    struct redis_socket socket[SOCKETS_MAX];
    unsigned ended; /* number of connections that have ended, wraps */
};

/* False = there is no room for the connection. */
bool lockredis_sockets_attach(struct redis_sockets *sockets, struct redisAsyncContext *context);

/* Writes the output that can be written at once. */
void lockredis_sockets_write(struct redis_sockets *sockets);

/* Result of a poll: input and output that is possible. */
struct redis_events {
    int fd[SOCKETS_MAX]; /* -1 = none */
    short events[SOCKETS_MAX];
};
/* Waits for a socket, or for input of the descriptor `wakes`. */
void lockredis_sockets_poll(const struct redis_sockets *sockets, int wakes, struct redis_events *found);
void lockredis_sockets_handle(struct redis_sockets *sockets, const struct redis_events *found);

/* hiredis writes with write(), which raises SIGPIPE if the server has closed the connection. So the
 * client's own thread blocks this signal, and the thread of a blocking call does while it leads. Then
 * lockredis_sockets_restore_pipe() restores the mask, and takes away a signal that hiredis has raised. */
struct redis_no_pipe {
    bool was_blocked;
    bool was_pending;
};
void lockredis_sockets_block_pipe(struct redis_no_pipe *pipe);

/* `raised`: hiredis may have raised it, because a connection has ended. */
void lockredis_sockets_restore_pipe(const struct redis_no_pipe *pipe, bool raised);

#endif
