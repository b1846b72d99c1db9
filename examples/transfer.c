/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Transfers between accounts. Each of four clients moves money between two of three accounts, for 30 rounds. A transfer
 * needs the locks of both accounts. One client names account 0 before account 1, another account 1 before account 0.
 *
 * usage: transfer HOST:PORT [--no-lock]
 *   --no-lock   no client takes a lock: money appears or vanishes */
#include "clients.h"

#include <lockstep/multi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { CLIENTS = 4, ACCOUNTS = 3, ROUNDS = 30, PATIENCE_MS = 20000, START = 1000 };

static bool locking = true;
static volatile int balance[ACCOUNTS] = {START, START, START};

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
    char path[40];
    const int account[2] = {from, to};
    int err = ls_multi_init(&both, members, 2, NULL);
    for (int i = 0; i < 2 && err >= 0; i++) {
        snprintf(path, sizeof path, "/examples/accounts/%d", account[i]);
        err = ls_multi_add_mutex(&both, &client->session, path);
    }
    err = err < 0 ? err : LS_OK;
    if (!err && locking)
        err = ls_multi_acquire(&both, PATIENCE_MS);
    if (!err) {
        transfer(from, to, client->number);
        err = locking ? ls_multi_release(&both) : LS_OK;
    }
    ls_multi_close(&both);
    return err;
}

static int run(struct client *client)
{
    int err = LS_OK;
    for (int round = 0; !err && round < ROUNDS; round++) {
        int from = (client->number + round) % ACCOUNTS;
        int step = client->number % 2 ? 1 : ACCOUNTS - 1;
        err = one_round(client, from, (from + step) % ACCOUNTS);
    }
    return err;
}

int main(int argc, char **argv)
{
    static struct client clients[CLIENTS];
    int sum = 0, failed = 0;
    if (argc < 2 || argc > 3 || (argc == 3 && strcmp(argv[2], "--no-lock") != 0)) {
        fprintf(stderr, "usage: transfer HOST:PORT [--no-lock]\n");
        return 2;
    }
    locking = argc == 2;
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = (struct client){.kind = "client", .number = i + 1, .hosts = argv[1], .run = run};
        if (!client_start(&clients[i]))
            return 1;
    }
    for (int i = 0; i < CLIENTS; i++)
        failed |= client_join(&clients[i]) != 0;
    for (int i = 0; i < ACCOUNTS; i++)
        sum += balance[i];
    printf("%d accounts have %d, expected %d\n", ACCOUNTS, sum, ACCOUNTS * START);
    return failed || sum != ACCOUNTS * START;
}
