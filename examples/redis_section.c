/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A critical section that is guarded by a lock on Redis.
 *
 *   cc redis_section.c $(pkg-config --cflags --libs lockstep-redis) -o redis_section
 *   ./redis_section 127.0.0.1:6379 */
#include <lockstep/env_pthread.h>
#include <lockstep/redis_mutex.h>
#include <stdio.h>

static int fail(const char *what, int err)
{
    fprintf(stderr, "redis_section: %s: %s\n", what, ls_strerror(err));
    return 1;
}

/* The lock is held. A resource that compares tokens takes no write of a holder that has lost the lock. */
static void work(struct ls_redis_mutex *mutex)
{
    printf("held with token %lld\n", (long long)ls_redis_mutex_token_by_me(mutex));
    if (ls_redis_mutex_query_by_me(mutex) != LS_HELD) {
        printf("lost meanwhile\n");
    }
}

static int run(struct ls_redis *redis)
{
    struct ls_redis_mutex mutex;
    int err = ls_redis_mutex_init(&mutex, redis, "report", NULL);
    if (err != LS_OK) {
        return fail("ls_redis_mutex_init", err);
    }
    err = ls_redis_mutex_acquire(&mutex, 10000);
    if (err == LS_OK) {
        work(&mutex);
        err = ls_redis_mutex_release(&mutex);
    }
    ls_redis_mutex_close(&mutex);
    return err == LS_OK ? 0 : fail("the lock", err);
}

int main(int argc, char **argv)
{
    struct ls_env *env;
    struct ls_redis redis;
    static const struct ls_redis_options options = {.lease_ms = 5000};
    if (argc != 2) {
        fprintf(stderr, "usage: redis_section HOST:PORT\n");
        return 2;
    }
    int err = ls_env_pthread_open(&env);
    if (err != LS_OK) {
        return fail("ls_env_pthread_open", err);
    }
    err = ls_redis_init(&redis, env, argv[1], &options);
    err = err == LS_OK ? ls_redis_start(&redis) : err;
    int status = err == LS_OK ? run(&redis) : fail("ls_redis_start", err);
    ls_redis_close(&redis);
    ls_env_pthread_close(env);
    return status;
}
