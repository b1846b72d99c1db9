/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Five clients of a database that allows three connections, each for 20 rounds. Each client has a session of
 * its own, as if it were a process on another machine. In odd rounds a client needs one connection, in even
 * rounds two at once. It takes so many leases of a semaphore first.
 *
 * usage: connection_limit HOST:PORT [--no-lock]
 *   --no-lock   no client takes a lease: more than three connections are open */
#include "clients.h"

#include <lockstep/semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { CLIENTS = 5, ROUNDS = 20, CONNECTIONS = 3, USE_MS = 10, PATIENCE_MS = 20000 };

static bool locking = true;
static atomic_int open_now, most;

struct user {
    struct client client; /* first: run() finds the user by it */
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
static int one_round(struct user *user, uint32_t connections)
{
    int err = locking ? ls_semaphore_acquire(&user->limit, 1, connections, PATIENCE_MS) : 0;
    if (err)
        return err;
    use_database((int)connections);
    for (uint32_t lease = 1; locking && !err && lease <= connections; lease++)
        err = ls_semaphore_release(&user->limit, lease);
    return err;
}

static int run(struct client *client)
{
    struct user *user = (struct user *)client;
    int err = ls_semaphore_init(&user->limit, &client->session, "/examples/connections", CONNECTIONS, NULL);
    if (err)
        return err;
    for (uint32_t round = 0; !err && round < ROUNDS; round++)
        err = one_round(user, 1 + round % 2);
    ls_semaphore_close(&user->limit);
    return err;
}

int main(int argc, char **argv)
{
    static struct user users[CLIENTS];
    int failed = 0;
    locking = argc != 3;
    if (argc < 2 || argc > 3 || argv[1][0] == '-' || (argc == 3 && strcmp(argv[2], "--no-lock") != 0)) {
        fprintf(stderr, "usage: connection_limit HOST:PORT [--no-lock]\n");
        return 2;
    }
    for (int i = 0; i < CLIENTS; i++) {
        users[i].client = (struct client){.kind = "client", .number = i + 1, .hosts = argv[1], .run = run};
        if (!client_start(&users[i].client))
            return 1;
    }
    for (int i = 0; i < CLIENTS; i++)
        failed += client_join(&users[i].client) != 0;
    printf("at most %d connections of %d were open at once\n", most, CONNECTIONS);
    return failed || most > CONNECTIONS ? 1 : 0;
}
