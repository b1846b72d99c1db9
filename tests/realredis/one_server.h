/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* One server for all tests of a program. */
#ifndef TESTS_REALREDIS_ONE_SERVER_H
#define TESTS_REALREDIS_ONE_SERVER_H

#include "client.h"

#define LEASE_MS 300

static const struct ls_redis_options SHORT = {.lease_ms = LEASE_MS};
static struct server the_server;

__attribute__((unused)) static void open_client(struct client *client, const struct server *server)
{
    open_with(client, server->hosts, &SHORT);
    assert_int_equal(ls_redis_wait_connected(&client->redis, PATIENCE_MS), LS_OK);
}

static int start_server(void **state)
{
    (void)state;
    if (access(SERVER_BINARY, X_OK) != 0) {
        printf("no %s (Debian: redis-tools)\n", SERVER_BINARY);
        exit(77);
    }
    server_start(&the_server);
    return 0;
}

/* Removes the keys that another test has left: a request that a server does late leaves one. */
__attribute__((unused)) static int clean_server(void **state)
{
    (void)state;
    return server_command(&the_server, "FLUSHALL") == 1 ? 0 : -1;
}

static int stop_server(void **state)
{
    (void)state;
    server_kill(&the_server);
    return 0;
}

#endif
