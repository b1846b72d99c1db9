/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Transfers between accounts. Each of four clients moves money between two of three accounts, for 30 rounds, in an order of its
 * own: one from 0 to 1, another from 1 to 0. A transfer needs the locks of both accounts. Each client has a
 * session of its own, as if it were a process on another machine.
 *
 * usage: transfer HOST:PORT [--no-lock]
 *   --no-lock   no client takes a lock: money appears or vanishes */
#include <lockstep/env_pthread.h>
#include <lockstep/multi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { CLIENTS = 4, ACCOUNTS = 3, ROUNDS = 30, PATIENCE_MS = 20000, START = 1000 };

static const char *hosts;
static bool locking = true;
static volatile int balance[ACCOUNTS] = {START, START, START};

struct client {
    int number;
    int err;
    pthread_t thread;
    struct ls_env *env;
    struct ls_session session;
};

/* The balances are read, and written a little later, as if they were in a database without transactions. */
static void transfer(int from, int to, int amount)
{
    struct timespec pause = {.tv_nsec = 1000000L};
    int from_before = balance[from], to_before = balance[to];
    nanosleep(&pause, NULL);
    balance[from] = from_before - amount;
    balance[to] = to_before + amount;
}

static int one_round(struct client *client, int from, int to)
{
    struct ls_multi both;
    struct ls_multi_member members[2];
    char path[2][40];
    const int account[2] = {from, to};
    int err = ls_multi_init(&both, members, 2, NULL);
    for (int i = 0; i < 2 && err >= 0; i++) {
        snprintf(path[i], sizeof path[i], "/examples/accounts/%d", account[i]);
        err = ls_multi_add_mutex(&both, &client->session, path[i]);
    }
    err = err < 0 ? err : LS_OK;
    if (!err && locking)
        err = ls_multi_acquire(&both, PATIENCE_MS);
    if (!err) {
        transfer(from, to, 1 + client->number);
        err = locking ? ls_multi_release(&both) : LS_OK;
    }
    ls_multi_close(&both);
    return err;
}

static int with_session(struct client *client)
{
    int err = ls_session_init(&client->session, client->env, hosts, 10000, NULL);
    if (err)
        return err;
    err = ls_session_start(&client->session);
    for (int round = 0; !err && round < ROUNDS; round++) {
        int from = (client->number + round) % ACCOUNTS;
        int step = client->number % 2 ? 1 : ACCOUNTS - 1;
        err = one_round(client, from, (from + step) % ACCOUNTS);
    }
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
    int sum = 0, failed = 0;
    if (argc < 2 || argc > 3 || (argc == 3 && strcmp(argv[2], "--no-lock") != 0)) {
        fprintf(stderr, "usage: transfer HOST:PORT [--no-lock]\n");
        return 2;
    }
    hosts = argv[1];
    locking = argc == 2;
    for (int i = 0; i < CLIENTS; i++) {
        clients[i].number = i;
        if (pthread_create(&clients[i].thread, NULL, client_main, &clients[i])) {
            fprintf(stderr, "client %d: no thread\n", i);
            return 1;
        }
    }
    for (int i = 0; i < CLIENTS; i++) {
        pthread_join(clients[i].thread, NULL);
        failed |= clients[i].err != 0;
    }
    for (int i = 0; i < ACCOUNTS; i++)
        sum += balance[i];
    printf("%d accounts have %d, expected %d\n", ACCOUNTS, sum, ACCOUNTS * START);
    return failed || sum != ACCOUNTS * START;
}
