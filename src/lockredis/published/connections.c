/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "lockredis/published/connections.h"

#include <stddef.h>

static void forget(const redisAsyncContext *context)
{
    struct connection *connection = context->data;
    ls_env_lock(connection->env);
    if (connection->context == context) {
        connection->context = NULL;
    }
    ls_env_unlock(connection->env);
}

static void on_connect(const redisAsyncContext *context, int status)
{
    if (status != REDIS_OK) {
        forget(context);
    }
}

static void on_disconnect(const redisAsyncContext *context, int status)
{
    (void)status;
    forget(context);
}

void connections_start(struct connection *connections, int count, struct ls_env *env)
{
    for (int i = 0; i < count; i++) {
        connections[i].env = env;
    }
}

redisAsyncContext *connections_get(struct connection *connection, int port)
{
    if (connection->context == NULL) {
        redisAsyncContext *context = redisAsyncConnect("127.0.0.1", port);
        if (context != NULL) {
            context->data = connection;
            redisAsyncSetConnectCallback(context, on_connect);
            redisAsyncSetDisconnectCallback(context, on_disconnect);
        }
        connection->context = context;
    }
    return connection->context;
}

redisAsyncContext *connections_take(struct connection *connection)
{
    redisAsyncContext *context = connection->context;
    connection->context = NULL;
    return context;
}

void connections_close(struct connection *connections, int count)
{
    for (int i = 0; i < count; i++) {
        if (connections[i].context != NULL) {
            redisAsyncFree(connections[i].context);
        }
    }
}
