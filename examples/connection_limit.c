/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Five clients of a database that allows three connections, each for 20 rounds. Each client has a session of
 * its own, as if it were a process on another machine. In odd rounds a client needs one connection, in even
 * rounds two at once. It takes so many leases of a semaphore first.
 *
 * usage: connection_limit HOST:PORT [--no-lock]
 *   --no-lock   no client takes a lease: more than three connections are open */
#include <lockstep/env_pthread.h>
#include <lockstep/semaphore.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { CLIENTS = 5, ROUNDS = 20, CONNECTIONS = 3, USE_MS = 3, PATIENCE_MS = 20000 };

static const char *hosts;
static bool locking = true;
static atomic_int open_now, most;

struct client {
    int number;
    int err;
    pthread_t thread;
    struct ls_env *env;
    struct ls_session session;
    struct ls_semaphore limit;
};

static void use_database(int connections)
{
    struct timespec pause = {.tv_nsec = USE_MS * 1000000L};
    int now = atomic_fetch_add(&open_now, connections) + connections;
    int before = atomic_load(&most);
    while (now > before && !atomic_compare_exchange_weak(&most, &before, now)) {
    }
    nanosleep(&pause, NULL);
    atomic_fetch_sub(&open_now, connections);
}

/* The leases of a client have the numbers 1 and 2. */
static int one_round(struct client *client, uint32_t connections)
{
    int err = locking ? ls_semaphore_acquire(&client->limit, 1, connections, PATIENCE_MS) : 0;
    if (err)
        return err;
    use_database((int)connections);
    for (uint32_t lease = 1; locking && !err && lease <= connections; lease++)
        err = ls_semaphore_release(&client->limit, lease);
    return err;
}

static int with_session(struct client *client)
{
    int err = ls_session_init(&client->session, client->env, hosts, 10000, NULL);
    if (!err)
        err = ls_semaphore_init(&client->limit, &client->session, "/examples/connections", CONNECTIONS, NULL);
    if (err)
        return err;
    err = ls_session_start(&client->session);
    for (uint32_t round = 0; !err && round < ROUNDS; round++)
        err = one_round(client, 1 + round % 2);
    ls_semaphore_close(&client->limit);
    ls_session_close(&client->session);
    return err;
}

static void *client_main(void *context)
{
    struct client *client = context;
    client->err = ls_env_pthread_open(&client->env);
    if (!client->err) {
        client->err = with_session(client);
        ls_env_pthread_close(client->env);
    }
    if (client->err)
        fprintf(stderr, "client %d: %s\n", client->number, ls_strerror(client->err));
    return NULL;
}

int main(int argc, char **argv)
{
    static struct client clients[CLIENTS];
    int failed = 0;
    locking = argc != 3;
    if (argc < 2 || argc > 3 || argv[1][0] == '-' || (argc == 3 && strcmp(argv[2], "--no-lock") != 0)) {
        fprintf(stderr, "usage: connection_limit HOST:PORT [--no-lock]\n");
        return 2;
    }
    hosts = argv[1];
    for (int i = 0; i < CLIENTS; i++) {
        clients[i].number = i + 1;
        if (pthread_create(&clients[i].thread, NULL, client_main, &clients[i]))
            return 1;
    }
    for (int i = 0; i < CLIENTS; i++) {
        pthread_join(clients[i].thread, NULL);
        failed += clients[i].err != 0;
    }
    printf("at most %d connections of %d were open at once\n", most, CONNECTIONS);
    return failed || most > CONNECTIONS ? 1 : 0;
}
