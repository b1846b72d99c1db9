/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A client with one mutex, and what its callbacks have told. */
#ifndef TESTS_REALREDIS_CLIENT_H
#define TESTS_REALREDIS_CLIENT_H

#include "server.h"

#include <lockstep/env_pthread.h>
#include <lockstep/redis_mutex.h>
#include <setjmp.h>

#include <cmocka.h>

#define PATIENCE_MS 10000

#define WAIT_UNTIL(condition)                                                                                \
    for (long until = now_ms() + PATIENCE_MS; !(condition); sleep_ms(2)) {                                   \
        assert_true(now_ms() < until);                                                                       \
    }

/* What callbacks have told. */
struct told {
    int done, freed, lost;
    int done_rc, freed_rc;
    int64_t token, lost_token;
};

struct client {
    struct ls_env *env;
    struct ls_redis redis;
    struct ls_redis_mutex mutex; /* first mutex: told is of it */
    struct told told;
};

static struct client *client_of(struct ls_redis_mutex *mutex)
{
    return (struct client *)(void *)((char *)mutex - offsetof(struct client, mutex));
}

static void on_done(struct ls_redis_mutex *mutex, uint64_t owner, int rc, int64_t token)
{
    struct told *told = &client_of(mutex)->told;
    (void)owner;
    told->done_rc = rc;
    told->token = token;
    __atomic_add_fetch(&told->done, 1, __ATOMIC_SEQ_CST);
}

static void on_freed(struct ls_redis_mutex *mutex, uint64_t owner, int rc)
{
    struct told *told = &client_of(mutex)->told;
    (void)owner;
    told->freed_rc = rc;
    __atomic_add_fetch(&told->freed, 1, __ATOMIC_SEQ_CST);
}

static void on_lost(struct ls_redis_mutex *mutex, uint64_t owner, int64_t token)
{
    struct told *told = &client_of(mutex)->told;
    (void)owner;
    told->lost_token = token;
    __atomic_add_fetch(&told->lost, 1, __ATOMIC_SEQ_CST);
}

static int count(const int *number)
{
    return __atomic_load_n(number, __ATOMIC_SEQ_CST);
}

static const struct ls_redis_mutex_ops OPS = {.on_done = on_done, .on_freed = on_freed, .on_lost = on_lost};

static void open_with(struct client *client, const char *hosts, const struct ls_redis_options *options)
{
    memset(client, 0, sizeof *client);
    assert_int_equal(ls_env_pthread_open(&client->env), LS_OK);
    assert_int_equal(ls_redis_init(&client->redis, client->env, hosts, options), LS_OK);
    assert_int_equal(ls_redis_mutex_init(&client->mutex, &client->redis, "job", &OPS), LS_OK);
    assert_int_equal(ls_redis_start(&client->redis), LS_OK);
}

static void close_client(struct client *client)
{
    assert_int_equal(ls_redis_mutex_close(&client->mutex), LS_OK);
    assert_int_equal(ls_redis_close(&client->redis), LS_OK);
    assert_int_equal(ls_env_pthread_close(client->env), LS_OK);
}

#endif
