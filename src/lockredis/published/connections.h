/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Connections of a recipe. Each is opened when it is needed, and forgotten when it ends. */
#ifndef LOCKREDIS_PUBLISHED_CONNECTIONS_H
#define LOCKREDIS_PUBLISHED_CONNECTIONS_H

#include <hiredis/async.h>
#include <lockstep/env.h>

struct connection {
    struct ls_env *env;
    redisAsyncContext *context; /* its field `data` is the connection; NULL = not open */
};

/* Initializes zeroed connections. */
void connections_start(struct connection *connections, int count, struct ls_env *env);

/* Returns the context of a connection to this port, opened if need be; NULL = memory is short. Called with
 * the environment's mutex, like connections_take(). */
redisAsyncContext *connections_get(struct connection *connection, int port);

/* Returns the context, which the caller must end; NULL = not open. The connection is not open afterwards. */
redisAsyncContext *connections_take(struct connection *connection);

/* Ends all connections that are open. Called without the mutex. */
void connections_close(struct connection *connections, int count);

#endif
