/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Our side of `./dev bench lock`: the mutex of liblockstep by its blocking calls. Each contender has an environment and
 * a session of its own, as if it were a process of its own. */
#include "rounds.h"

#include <lockstep/env_pthread.h>
#include <lockstep/mutex.h>
#include <lockstep/session.h>
#include <stdio.h>
#include <stdlib.h>
#include <zookeeper/zookeeper.h>

enum { SESSION_TIMEOUT_MS = 30000, CONNECT_TIMEOUT_MS = 20000 };

struct ours {
    struct ls_env *env;
    struct ls_session session;
    struct ls_mutex mutex;
};

static int take_within(struct ours *ours, int timeout_ms)
{
    return ls_mutex_acquire(&ours->mutex, timeout_ms);
}

static int take(void *contender)
{
    return take_within(contender, -1);
}

static int give(void *contender)
{
    struct ours *ours = contender;
    return ls_mutex_release(&ours->mutex);
}

static void close_ours(void *contender)
{
    struct ours *ours = contender;
    if (ours->env) {
        ls_session_close(&ours->session);
        if (ours->mutex.session) {
            ls_mutex_close(&ours->mutex);
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
        rc = ls_mutex_init(&ours->mutex, &ours->session, "/bench/ours", NULL);
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
    if (argc != 3) {
        fputs("usage: ours HOST:PORT CONTENDERS\n", stderr);
        return 2;
    }
    zoo_set_debug_level((ZooLogLevel)0);
    return rounds_serve(argv[1], argv[2], &side);
}
