/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Five clients, each 25 rounds on a resource that refuses two users at once. Each client has a session of its own, as if it
 * were a process on another machine, and waits for the lock for a limited time.
 *
 * usage: limited_resource HOST:PORT [--no-lock | --impatient]
 *   --no-lock     nobody takes the lock: the resource refuses
 *   --impatient   everybody waits for 10 ms only: rounds that do not get the lock say so */
#include <lockstep/env_pthread.h>
#include <lockstep/mutex.h>
#include <pthread.h>
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

struct client {
    int number;
    pthread_t thread;
    struct ls_env *env;
    struct ls_session session;
    struct ls_mutex mutex;
    int missed; /* rounds in which the lock was not got in time */
    int err;    /* anything else that went wrong */
};

static int one_round(struct client *client, int round)
{
    if (locking) {
        int err = ls_mutex_acquire(&client->mutex, patience_ms);
        if (err == LS_ETIMEDOUT) {
            printf("client %d: could not get the lock within %d ms\n", client->number, patience_ms);
            client->missed++;
            return 0;
        }
        if (err)
            return err;
    }
    use((unsigned)(client->number + round) % (USE_MS_MAX + 1));
    return locking ? ls_mutex_release(&client->mutex) : 0;
}

static int with_session(struct client *client)
{
    int err = ls_session_init(&client->session, client->env, hosts, 10000, NULL);
    if (!err)
        err = ls_mutex_init(&client->mutex, &client->session, "/examples/limited_resource", NULL);
    if (err)
        return err;
    err = ls_session_start(&client->session);
    for (int round = 0; !err && round < ROUNDS; round++)
        err = one_round(client, round);
    ls_mutex_close(&client->mutex);
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
    static struct client clients[CLIENTS];
    int missed = 0, failed = 0;
    if (!parse(argc, argv)) {
        fprintf(stderr, "usage: limited_resource HOST:PORT [--no-lock | --impatient]\n");
        return 2;
    }
    for (int i = 0; i < CLIENTS; i++) {
        clients[i].number = i + 1;
        if (pthread_create(&clients[i].thread, NULL, client_main, &clients[i]))
            return 1;
    }
    for (int i = 0; i < CLIENTS; i++) {
        pthread_join(clients[i].thread, NULL);
        missed += clients[i].missed;
        failed += clients[i].err != 0;
    }
    printf("%d uses, %d refused, %d times the lock was not got in time\n", uses, refusals, missed);
    return failed || refusals ? 1 : 0;
}
