/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The mutex of liblockstep_redis by its blocking calls. Each client has an environment of its own, as if it
 * were a process of its own. */
#include "design.h"

#include <lockstep/env_pthread.h>
#include <lockstep/redis_mutex.h>
#include <stdlib.h>

#define CONNECT_MS_MAX 10000

struct ours {
    struct ls_env *env;
    struct ls_redis_options options;
    struct ls_redis redis;
    struct ls_redis_mutex mutex;
};

static void close_ours(void *client)
{
    struct ours *ours = client;
    ls_redis_mutex_close(&ours->mutex);
    ls_redis_close(&ours->redis);
    ls_env_pthread_close(ours->env);
    free(ours);
}

static void *open_ours(const char *hosts, int lease_ms)
{
    struct ours *ours = calloc(1, sizeof *ours);
    if (ours == NULL || ls_env_pthread_open(&ours->env) != LS_OK) {
        free(ours);
        return NULL;
    }
    ours->options.lease_ms = (uint32_t)lease_ms;
    if (ls_redis_init(&ours->redis, ours->env, hosts, &ours->options) == LS_OK &&
        ls_redis_mutex_init(&ours->mutex, &ours->redis, "design", NULL) == LS_OK &&
        ls_redis_start(&ours->redis) == LS_OK &&
        ls_redis_wait_connected(&ours->redis, CONNECT_MS_MAX) == LS_OK) {
        return ours;
    }
    close_ours(ours);
    return NULL;
}

static int take(void *client, int timeout_ms)
{
    struct ours *ours = client;
    return ls_redis_mutex_acquire(&ours->mutex, timeout_ms);
}

static bool asks(void *client)
{
    const struct ours *ours = client;
    return ls_redis_mutex_query_by_me(&ours->mutex) == LS_HELD;
}

static bool asks_nobody(void *client)
{
    (void)client;
    return true;
}

static int give(void *client)
{
    struct ours *ours = client;
    return ls_redis_mutex_release(&ours->mutex);
}

const struct design design_ours = {"ours", open_ours, take, asks, give, close_ours};
const struct design design_unasked = {"unasked", open_ours, take, asks_nobody, give, close_ours};
