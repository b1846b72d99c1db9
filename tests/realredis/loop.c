/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A loop of libevent serves a client, through the adapter of hiredis. It takes the lock again and again, while a thread does so
 * with a client of its own. Each round needs a few wake-ups of the loop; a descriptor that stays readable gives many.
 * usage: loop HOST:PORT */
#include <event2/event.h>
#include <hiredis/adapters/libevent.h>
#include <hiredis/async.h>
#include <lockstep/env_pthread.h>
#include <lockstep/redis_mutex.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>

#define ROUNDS 300
#define WAKES_MAX (10 * ROUNDS)

static struct event_base *base;
static struct ls_env *env;
static int rounds, wakes, inside, wrong;

static void enter(void)
{
    wrong += __atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST) != 1;
}

static void leave(void)
{
    wrong += __atomic_sub_fetch(&inside, 1, __ATOMIC_SEQ_CST) != 0;
}

/* ---- the client of the loop ---- */

static void on_done(struct ls_redis_mutex *mutex, uint64_t owner, int rc, int64_t token)
{
    wrong += rc != LS_OK || token <= 0;
    enter();
    leave();
    wrong += ls_redis_mutex_release_start(mutex, owner) != LS_OK;
}

static void on_freed(struct ls_redis_mutex *mutex, uint64_t owner, int rc)
{
    wrong += rc != LS_OK;
    if (++rounds == ROUNDS) {
        event_base_loopbreak(base);
    } else {
        wrong += ls_redis_mutex_acquire_start(mutex, owner, -1) != LS_OK;
    }
}

static const struct ls_redis_mutex_ops OPS = {.on_done = on_done, .on_freed = on_freed};

static int attach(redisAsyncContext *context, void *loop)
{
    return redisLibeventAttach(context, loop);
}

static void on_wake(evutil_socket_t fd, short what, void *ctx)
{
    (void)fd, (void)what;
    wakes++;
    ls_redis_process(ctx);
}

static int run_loop(const char *hosts)
{
    struct ls_redis_options options = {.lease_ms = 2000, .attach = attach, .loop = base};
    struct ls_redis redis;
    struct ls_redis_mutex mutex;
    if (ls_redis_init(&redis, env, hosts, &options) != LS_OK ||
        ls_redis_mutex_init(&mutex, &redis, "loop", &OPS) != LS_OK || ls_redis_start(&redis) != LS_OK) {
        return 1;
    }
    struct event *wake = event_new(base, ls_redis_fd(&redis), EV_READ | EV_PERSIST, on_wake, &redis);
    event_add(wake, NULL);
    wrong += ls_redis_mutex_acquire_start(&mutex, 1, -1) != LS_OK;
    event_base_dispatch(base);
    wrong += ls_redis_mutex_close(&mutex) != LS_OK;
    event_free(wake);
    wrong += ls_redis_close(&redis) != LS_OK;
    return 0;
}

/* ---- the client of the thread ---- */

static void *work(void *ctx)
{
    struct ls_redis redis;
    struct ls_redis_mutex mutex;
    static const struct ls_redis_options options = {.lease_ms = 2000};
    if (ls_redis_init(&redis, env, ctx, &options) != LS_OK ||
        ls_redis_mutex_init(&mutex, &redis, "loop", NULL) != LS_OK || ls_redis_start(&redis) != LS_OK) {
        return NULL;
    }
    for (int i = 0; i < ROUNDS; i++) {
        wrong += ls_redis_mutex_acquire(&mutex, 10000) != LS_OK;
        enter();
        leave();
        wrong += ls_redis_mutex_release(&mutex) != LS_OK;
    }
    ls_redis_mutex_close(&mutex);
    ls_redis_close(&redis);
    return ctx;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    void *done;
    if (argc != 2 || ls_env_pthread_open(&env) != LS_OK) {
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    base = event_base_new();
    pthread_create(&thread, NULL, work, argv[1]);
    int status = run_loop(argv[1]);
    pthread_join(thread, &done);
    event_base_free(base);
    ls_env_pthread_close(env);
    printf("%d rounds of the loop, %d wake-ups, %d wrong\n", rounds, wakes, wrong);
    return status != 0 || wrong != 0 || done == NULL || rounds != ROUNDS || wakes > WAKES_MAX;
}
