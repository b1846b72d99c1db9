/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Our side of `./dev bench lock`: the mutex of liblockstep by its blocking calls, or a read-write lock. Each
 * contender has an environment and a session of its own, as if it were a process of its own. */
#include "rounds.h"

#include <lockstep/env_pthread.h>
#include <lockstep/mutex.h>
#include <lockstep/rwlock.h>
#include <lockstep/session.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

enum { SESSION_TIMEOUT_MS = 30000, CONNECT_TIMEOUT_MS = 20000 };

struct ours {
    struct ls_env *env;
    struct ls_session session;
    struct ls_mutex mutex;
    struct ls_rwlock rwlock;
    struct ls_mutex *taken; /* the mutex, or a half of the read-write lock; NULL before it is initialised */
};

static const char *kind =
    "mutex"; /* or read, write, mixed: the first contender writes, and the others read */
static int opened;

static int take_within(struct ours *ours, int timeout_ms)
{
    return ls_mutex_acquire(ours->taken, timeout_ms);
}

static int init_lock(struct ours *ours)
{
    bool writes = !strcmp(kind, "write") || (!strcmp(kind, "mixed") && opened++ == 0);
    bool is_mutex = !strcmp(kind, "mutex");
    char path[32];
    snprintf(path, sizeof path, "/bench/ours%s%s", is_mutex ? "" : "-", is_mutex ? "" : kind);
    int rc = is_mutex ? ls_mutex_init(&ours->mutex, &ours->session, path, NULL)
                      : ls_rwlock_init(&ours->rwlock, &ours->session, path, NULL);
    struct ls_mutex *half = writes ? &ours->rwlock.write : &ours->rwlock.read;
    ours->taken = rc ? NULL : is_mutex ? &ours->mutex : half;
    return rc;
}

static int take(void *contender)
{
    return take_within(contender, -1);
}

static int give(void *contender)
{
    struct ours *ours = contender;
    return ls_mutex_release(ours->taken);
}

static void close_ours(void *contender)
{
    struct ours *ours = contender;
    if (ours->env) {
        ls_session_close(&ours->session);
        if (ours->taken == &ours->mutex) {
            ls_mutex_close(&ours->mutex);
        } else if (ours->taken) {
            ls_rwlock_close(&ours->rwlock);
        }
        ls_env_pthread_close(ours->env);
    }
    free(ours);
}

/* The first lock also creates the parent. */
static int connect_ours(struct ours *ours, const char *hosts)
{
    int rc = ls_env_pthread_open(&ours->env);
    if (!rc) {
        rc = ls_session_init(&ours->session, ours->env, hosts, SESSION_TIMEOUT_MS, NULL);
    }
    if (!rc) {
        rc = ls_session_start(&ours->session);
    }
    if (!rc) {
        rc = init_lock(ours);
    }
    if (!rc) {
        rc = take_within(ours, CONNECT_TIMEOUT_MS);
    }
    return rc ? rc : give(ours);
}

static void *open_ours(const char *hosts)
{
    struct ours *ours = calloc(1, sizeof *ours);
    int rc = ours ? connect_ours(ours, hosts) : LS_ENOMEM;
    if (!rc) {
        return ours;
    }
    fprintf(stderr, "ours: %s\n", ls_strerror(rc));
    if (ours) {
        close_ours(ours);
    }
    return NULL;
}

static const struct rounds_side side = {.open = open_ours, .take = take, .give = give, .close = close_ours};

int main(int argc, char **argv)
{
    kind = argc == 4 ? argv[3] : kind;
    bool known =
        !strcmp(kind, "mutex") || !strcmp(kind, "read") || !strcmp(kind, "write") || !strcmp(kind, "mixed");
    if (argc < 3 || argc > 4 || !known) {
        fputs("usage: ours HOST:PORT CONTENDERS [mutex | read | write | mixed]\n", stderr);
        return 2;
    }
    zoo_set_debug_level((ZooLogLevel)0);
    return rounds_serve(argv[1], argv[2], &side);
}
