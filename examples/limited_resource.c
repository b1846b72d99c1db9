/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Five clients, each 25 rounds on a resource that refuses two users at once. Each client has a session of its own, as if it
 * were a process on another machine, and waits for the lock for a limited time.
 *
 * usage: limited_resource HOST:PORT [--no-lock | --impatient]
 *   --no-lock     nobody takes the lock: the resource refuses
 *   --impatient   everybody waits for 10 ms only: rounds that do not get the lock say so */
#include "clients.h"

#include <lockstep/mutex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { CLIENTS = 5, ROUNDS = 25, USE_MS_MAX = 4, PATIENCE_MS = 20000 };

/* ---- the resource ---- */

static atomic_bool in_use;
static atomic_int uses, refusals;

static void use(unsigned milliseconds)
{
    if (atomic_exchange(&in_use, true)) {
        atomic_fetch_add(&refusals, 1);
        return;
    }
    struct timespec pause = {.tv_nsec = (long)milliseconds * 1000000};
    nanosleep(&pause, NULL);
    atomic_fetch_add(&uses, 1);
    atomic_store(&in_use, false);
}

/* ---- the clients ---- */

static const char *hosts;
static bool locking = true;
static int patience_ms = PATIENCE_MS;

struct user {
    struct client client; /* first: run() finds the user by it */
    struct ls_mutex mutex;
    int missed; /* rounds in which the lock was not got in time */
};

static int one_round(struct user *user, int round)
{
    if (locking) {
        int err = ls_mutex_acquire(&user->mutex, patience_ms);
        if (err == LS_ETIMEDOUT) {
            printf("client %d: could not get the lock within %d ms\n", user->client.number, patience_ms);
            user->missed++;
            return 0;
        }
        if (err)
            return err;
    }
    use((unsigned)(user->client.number + round) % (USE_MS_MAX + 1));
    return locking ? ls_mutex_release(&user->mutex) : 0;
}

static int run(struct client *client)
{
    struct user *user = (struct user *)client;
    int err = ls_mutex_init(&user->mutex, &client->session, "/examples/limited_resource", NULL);
    if (err)
        return err;
    for (int round = 0; !err && round < ROUNDS; round++)
        err = one_round(user, round);
    ls_mutex_close(&user->mutex);
    return err;
}

/* ---- all of it ---- */

static bool parse(int argc, char **argv)
{
    if (argc < 2 || argc > 3 || argv[1][0] == '-')
        return false;
    hosts = argv[1];
    if (argc == 2)
        return true;
    if (strcmp(argv[2], "--no-lock") == 0)
        locking = false;
    else if (strcmp(argv[2], "--impatient") == 0)
        patience_ms = 10;
    else
        return false;
    return true;
}

int main(int argc, char **argv)
{
    static struct user users[CLIENTS];
    int missed = 0, failed = 0;
    if (!parse(argc, argv)) {
        fprintf(stderr, "usage: limited_resource HOST:PORT [--no-lock | --impatient]\n");
        return 2;
    }
    for (int i = 0; i < CLIENTS; i++) {
        users[i].client = (struct client){.kind = "client", .number = i + 1, .hosts = hosts, .run = run};
        if (!client_start(&users[i].client))
            return 1;
    }
    for (int i = 0; i < CLIENTS; i++) {
        failed += client_join(&users[i].client) != 0;
        missed += users[i].missed;
    }
    printf("%d uses, %d refused, %d times the lock was not got in time\n", uses, refusals, missed);
    return failed || refusals ? 1 : 0;
}
