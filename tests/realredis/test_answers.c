/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* What each function of redis.h and redis_mutex.h answers: each code that the headers name, on a real server, and what
 * the functions answer while another thread closes the mutex or the client. */
#include "lockredis/internal.h"
#include "one_server.h"

#include <hiredis/async.h>
#include <poll.h>
#include <pthread.h>

#define SHORT_MS 50
#define DEAD_HOSTS "127.0.0.1:1" /* nobody listens there */

/* ---- what fails ---- */

static bool no_memory, no_timers, no_descriptor, no_thread;
static const char *deaf_timer, *other_deaf_timer; /* timers of these names never fire */

/* The linker wants these names. NOLINTBEGIN(bugprone-reserved-identifier) */
void *__real_ls_env_alloc(struct ls_env *env, size_t size);
void *__wrap_ls_env_alloc(struct ls_env *env, size_t size);
void *__wrap_ls_env_alloc(struct ls_env *env, size_t size)
{
    return no_memory ? NULL : __real_ls_env_alloc(env, size);
}

static bool is_deaf(const char *name)
{
    return (deaf_timer != NULL && strcmp(name, deaf_timer) == 0) ||
           (other_deaf_timer != NULL && strcmp(name, other_deaf_timer) == 0);
}

int __real_ls_env_timer_start(struct ls_env *env, struct ls_timer *timer, const char *name, uint32_t delay_ms,
                              ls_timer_fn fn, void *ctx);
int __wrap_ls_env_timer_start(struct ls_env *env, struct ls_timer *timer, const char *name, uint32_t delay_ms,
                              ls_timer_fn fn, void *ctx);
int __wrap_ls_env_timer_start(struct ls_env *env, struct ls_timer *timer, const char *name, uint32_t delay_ms,
                              ls_timer_fn fn, void *ctx)
{
    if (no_timers && strcmp(name, "deadline") == 0) {
        return LS_ENOMEM;
    }
    return is_deaf(name) ? LS_OK : __real_ls_env_timer_start(env, timer, name, delay_ms, fn, ctx);
}

int __real_eventfd(unsigned int count, int flags);
int __wrap_eventfd(unsigned int count, int flags);
int __wrap_eventfd(unsigned int count, int flags)
{
    return no_descriptor ? -1 : __real_eventfd(count, flags);
}

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*work)(void *),
                          void *ctx);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*work)(void *),
                          void *ctx);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*work)(void *),
                          void *ctx)
{
    return no_thread ? 11 : __real_pthread_create(thread, attributes, work, ctx);
}

/* ---- a gate in the mutex of an environment ---- */

static _Thread_local bool stops_at_the_gate;
static int at_the_gate, gate_is_open;

void __real_ls_env_lock(struct ls_env *env);
void __wrap_ls_env_lock(struct ls_env *env);
void __wrap_ls_env_lock(struct ls_env *env)
{
    if (stops_at_the_gate) {
        stops_at_the_gate = false;
        __atomic_store_n(&at_the_gate, 1, __ATOMIC_SEQ_CST);
        /* NOLINTEND(bugprone-reserved-identifier) */
        WAIT_UNTIL(count(&gate_is_open) == 1);
    }
    __real_ls_env_lock(env);
}

/* ---- a client ---- */

/* A client whose leases do not end during a test, however busy the machine is. */
static void open_steady(struct client *client)
{
    static const struct ls_redis_options usual = {0};
    open_with(client, the_server.hosts, &usual);
    assert_int_equal(ls_redis_wait_connected(&client->redis, PATIENCE_MS), LS_OK);
}

static void init_refuses_what_is_malformed(void **state)
{
    (void)state;
    struct ls_env *env;
    struct ls_redis redis;
    struct ls_redis_options options = {0};
    assert_int_equal(ls_env_pthread_open(&env), LS_OK);
    assert_int_equal(ls_redis_init(NULL, env, DEAD_HOSTS, NULL), LS_EINVAL);
    assert_int_equal(ls_redis_init(&redis, NULL, DEAD_HOSTS, NULL), LS_EINVAL);
    assert_int_equal(ls_redis_init(&redis, env, NULL, NULL), LS_EINVAL);
    assert_int_equal(ls_redis_init(&redis, env, "", NULL), LS_EINVAL);
    static const uint32_t right[] = {0, LS_REDIS_LEASE_MS_MIN, LS_REDIS_LEASE_MS_MAX};
    static const uint32_t wrong[] = {1, LS_REDIS_LEASE_MS_MIN - 1, LS_REDIS_LEASE_MS_MAX + 1, UINT32_MAX};
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        options.lease_ms = right[i];
        assert_int_equal(ls_redis_init(&redis, env, DEAD_HOSTS, &options), LS_OK);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        options.lease_ms = wrong[i];
        assert_int_equal(ls_redis_init(&redis, env, DEAD_HOSTS, &options), LS_EINVAL);
    }
    options = (struct ls_redis_options){.database = -1};
    assert_int_equal(ls_redis_init(&redis, env, DEAD_HOSTS, &options), LS_EINVAL);
    assert_int_equal(ls_env_pthread_close(env), LS_OK);
}

static void client_starts_once(void **state)
{
    (void)state;
    struct client a;
    open_steady(&a);
    assert_int_equal(ls_redis_start(&a.redis), LS_EINVAL);
    assert_int_equal(ls_redis_state(&a.redis), LS_REDIS_CONNECTED);
    assert_int_equal(ls_redis_close(&a.redis), LS_OK);
    assert_int_equal(ls_redis_start(&a.redis), LS_EINVAL);
    assert_int_equal(ls_redis_state(&a.redis), LS_REDIS_CLOSED);
    close_client(&a);
}

static void start_needs_memory(void **state)
{
    (void)state;
    struct ls_env *env;
    struct ls_redis redis;
    assert_int_equal(ls_env_pthread_open(&env), LS_OK);
    assert_int_equal(ls_redis_init(&redis, env, the_server.hosts, NULL), LS_OK);
    no_descriptor = true;
    assert_int_equal(ls_redis_start(&redis), LS_ENOMEM);
    no_descriptor = false;
    no_thread = true;
    assert_int_equal(ls_redis_start(&redis), LS_ENOMEM);
    no_thread = false;
    assert_int_equal(ls_redis_state(&redis), LS_REDIS_NEW);
    assert_int_equal(ls_redis_start(&redis), LS_OK);
    assert_int_equal(ls_redis_wait_connected(&redis, PATIENCE_MS), LS_OK);
    assert_int_equal(ls_redis_close(&redis), LS_OK);
    assert_int_equal(ls_env_pthread_close(env), LS_OK);
}

static void *wait_for_ever(void *ctx)
{
    return ls_redis_wait_connected(ctx, -1) == LS_ECLOSED ? ctx : NULL;
}

static void a_wait_for_the_connection_ends(void **state)
{
    (void)state;
    struct client a;
    struct ls_redis redis;
    pthread_t waiter;
    void *returned;
    open_with(&a, DEAD_HOSTS, &SHORT);
    assert_int_equal(ls_redis_init(&redis, a.env, DEAD_HOSTS, NULL), LS_OK);
    assert_int_equal(ls_redis_state(&redis), LS_REDIS_NEW);
    assert_int_equal(ls_redis_wait_connected(&redis, -1), LS_ECLOSED);
    assert_int_equal(ls_redis_close(&redis), LS_OK);
    assert_int_equal(ls_redis_state(&a.redis), LS_REDIS_CONNECTING);
    assert_int_equal(ls_redis_wait_connected(&a.redis, 0), LS_ETIMEDOUT);
    long before = now_ms();
    assert_int_equal(ls_redis_wait_connected(&a.redis, SHORT_MS), LS_ETIMEDOUT);
    assert_true(now_ms() - before >= SHORT_MS);
    no_timers = true;
    assert_int_equal(ls_redis_wait_connected(&a.redis, PATIENCE_MS), LS_ENOMEM);
    no_timers = false;
    assert_int_equal(pthread_create(&waiter, NULL, wait_for_ever, &a.redis), 0);
    sleep_ms(SHORT_MS);
    assert_int_equal(ls_redis_close(&a.redis), LS_OK);
    pthread_join(waiter, &returned);
    assert_ptr_equal(returned, &a.redis);
    assert_int_equal(ls_redis_wait_connected(&a.redis, -1), LS_ECLOSED);
    close_client(&a);
}

/* A failed client says why, and so do acquires that were begun before. */
static void a_client_may_fail(void **state)
{
    (void)state;
    static const struct {
        struct ls_redis_options options;
        int rc;
    } failures[] = {{{.password = "other"}, LS_EAUTHFAILED},
                    {{.user = "nobody", .password = "secret"}, LS_EAUTHFAILED},
                    {{.password = "secret", .database = 99}, LS_EREFUSED}};
    struct server server;
    server_name(&server, free_port());
    server_start_on(&server, "--requirepass", "secret", NULL);
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        struct client a;
        stop_process(&server);
        open_with(&a, server.hosts, &failures[i].options);
        assert_int_equal(ls_redis_mutex_acquire_start(&a.mutex, 1, -1), LS_OK);
        continue_process(&server);
        assert_int_equal(ls_redis_wait_connected(&a.redis, PATIENCE_MS), failures[i].rc);
        WAIT_UNTIL(count(&a.told.done) == 1);
        assert_int_equal(a.told.done_rc, failures[i].rc);
        assert_int_equal(a.told.token, 0);
        assert_int_equal(ls_redis_state(&a.redis), LS_REDIS_FAILED);
        assert_int_equal(ls_redis_mutex_acquire_start(&a.mutex, 1, 0), failures[i].rc);
        assert_int_equal(ls_redis_mutex_acquire(&a.mutex, PATIENCE_MS), failures[i].rc);
        assert_int_equal(ls_redis_mutex_try(&a.mutex), failures[i].rc);
        close_client(&a);
    }
    server_kill(&server);
}

/* ---- a mutex ---- */

static void mutex_init_refuses_what_is_malformed(void **state)
{
    (void)state;
    struct client a;
    struct ls_redis_mutex mutex;
    char name[LS_REDIS_NAME_SIZE_MAX + 2];
    open_steady(&a);
    memset(name, 'x', sizeof name);
    name[LS_REDIS_NAME_SIZE_MAX + 1] = 0;
    assert_int_equal(ls_redis_mutex_init(NULL, &a.redis, "x", NULL), LS_EINVAL);
    assert_int_equal(ls_redis_mutex_init(&mutex, NULL, "x", NULL), LS_EINVAL);
    assert_int_equal(ls_redis_mutex_init(&mutex, &a.redis, NULL, NULL), LS_EINVAL);
    assert_int_equal(ls_redis_mutex_init(&mutex, &a.redis, "", NULL), LS_EINVAL);
    assert_int_equal(ls_redis_mutex_init(&mutex, &a.redis, name, NULL), LS_EINVAL);
    no_memory = true;
    assert_int_equal(ls_redis_mutex_init(&mutex, &a.redis, "x", NULL), LS_ENOMEM);
    no_memory = false;
    name[LS_REDIS_NAME_SIZE_MAX] = 0;
    assert_int_equal(ls_redis_mutex_init(&mutex, &a.redis, name, NULL), LS_OK);
    name[0] = 'y'; /* it was copied */
    assert_int_equal(ls_redis_mutex_try(&mutex), LS_OK);
    name[0] = 'x';
    assert_int_equal(server_command(&the_server, "EXISTS %s", name), 1);
    assert_int_equal(ls_redis_mutex_release(&mutex), LS_OK);
    assert_int_equal(ls_redis_mutex_close(&mutex), LS_OK);
    assert_int_equal(ls_redis_close(&a.redis), LS_OK);
    assert_int_equal(ls_redis_mutex_init(&mutex, &a.redis, "x", NULL), LS_ECLOSED);
    close_client(&a);
}

/* Numbers that are no owner, an owner that asks twice, and what only tries. */
static void acquire_refuses_at_once(void **state)
{
    (void)state;
    struct client a, b;
    struct ls_redis redis;
    struct ls_redis_mutex mutex;
    open_with(&a, DEAD_HOSTS, &SHORT);
    assert_int_equal(ls_redis_mutex_acquire_start(&a.mutex, 1, 0), LS_EBUSY);
    assert_int_equal(ls_redis_mutex_try(&a.mutex), LS_EBUSY);
    assert_int_equal(ls_redis_mutex_acquire(&a.mutex, SHORT_MS), LS_ETIMEDOUT);
    assert_int_equal(ls_redis_mutex_acquire_start(&a.mutex, 1, -1), LS_OK);
    assert_int_equal(ls_redis_mutex_acquire_start(&a.mutex, 1, -1), LS_EALREADY);
    assert_int_equal(ls_redis_init(&redis, a.env, DEAD_HOSTS, NULL), LS_OK);
    assert_int_equal(ls_redis_mutex_init(&mutex, &redis, "x", NULL), LS_OK);
    assert_int_equal(ls_redis_mutex_acquire_start(&mutex, 1, -1), LS_ECLOSED); /* the client is new */
    assert_int_equal(ls_redis_mutex_close(&mutex), LS_OK);
    assert_int_equal(ls_redis_mutex_close(&mutex), LS_OK);
    assert_int_equal(ls_redis_close(&redis), LS_OK);
    close_client(&a);
    assert_int_equal(count(&a.told.done), 1);
    assert_int_equal(a.told.done_rc, LS_ECLOSED);

    open_steady(&b);
    assert_int_equal(ls_redis_mutex_acquire_start(&b.mutex, 0, -1), LS_EINVAL);
    assert_int_equal(ls_redis_mutex_acquire_start(&b.mutex, LS_ENV_THREAD | 12345, -1), LS_EINVAL);
    no_memory = true;
    assert_int_equal(ls_redis_mutex_acquire_start(&b.mutex, 1, -1), LS_ENOMEM);
    assert_int_equal(ls_redis_mutex_acquire(&b.mutex, -1), LS_ENOMEM);
    assert_int_equal(ls_redis_mutex_try(&b.mutex), LS_ENOMEM);
    no_memory = false;
    no_timers = true;
    assert_int_equal(ls_redis_mutex_acquire_start(&b.mutex, 1, 1000), LS_ENOMEM);
    no_timers = false;
    assert_int_equal(ls_redis_mutex_acquire_start(&b.mutex, 1, -1), LS_OK);
    assert_int_equal(ls_redis_mutex_acquire_start(&b.mutex, 2, 0), LS_EBUSY); /* owner 1 waits or holds */
    WAIT_UNTIL(count(&b.told.done) == 1);
    assert_int_equal(ls_redis_mutex_acquire_start(&b.mutex, 2, 0), LS_EBUSY);
    close_client(&b);
    assert_int_equal(ls_redis_mutex_acquire_start(&b.mutex, 1, -1), LS_ECLOSED);
    assert_int_equal(ls_redis_mutex_acquire(&b.mutex, -1), LS_ECLOSED);
    assert_int_equal(ls_redis_mutex_try(&b.mutex), LS_ECLOSED);
}

static void outcomes_of_an_acquire(void **state)
{
    (void)state;
    struct client a, b;
    open_steady(&a);
    open_steady(&b);
    assert_int_equal(ls_redis_mutex_acquire(&a.mutex, -1), LS_OK);
    assert_int_equal(ls_redis_mutex_acquire_start(&b.mutex, 1, 0), LS_OK);
    WAIT_UNTIL(count(&b.told.done) == 1);
    assert_int_equal(b.told.done_rc, LS_EBUSY);
    assert_int_equal(ls_redis_mutex_acquire_start(&b.mutex, 1, SHORT_MS), LS_OK);
    WAIT_UNTIL(count(&b.told.done) == 2);
    assert_int_equal(b.told.done_rc, LS_ETIMEDOUT);
    assert_int_equal(ls_redis_mutex_cancel(&b.mutex, 1), LS_ENOENT);
    assert_int_equal(ls_redis_mutex_acquire_start(&b.mutex, 1, -1), LS_OK);
    assert_int_equal(ls_redis_mutex_cancel(&b.mutex, 2), LS_ENOENT);
    assert_int_equal(ls_redis_mutex_cancel(&b.mutex, 1), LS_OK);
    WAIT_UNTIL(count(&b.told.done) == 3);
    assert_int_equal(b.told.done_rc, LS_ECANCELED);
    assert_int_equal(b.told.token, 0);
    assert_int_equal(ls_redis_mutex_release(&a.mutex), LS_OK);
    assert_int_equal(server_command(&the_server, "LPUSH job x"), 1);
    assert_int_equal(ls_redis_mutex_acquire_start(&b.mutex, 1, -1), LS_OK);
    WAIT_UNTIL(count(&b.told.done) == 4);
    assert_int_equal(b.told.done_rc, LS_EREFUSED);
    assert_int_equal(ls_redis_mutex_acquire(&b.mutex, -1), LS_EREFUSED);
    assert_int_equal(ls_redis_mutex_try(&b.mutex), LS_EREFUSED);
    assert_int_equal(server_command(&the_server, "DEL job"), 1);
    assert_int_equal(ls_redis_mutex_acquire_start(&b.mutex, 1, -1), LS_OK);
    WAIT_UNTIL(count(&b.told.done) == 5);
    assert_int_equal(b.told.done_rc, LS_OK);
    assert_int_equal(b.told.token, ls_redis_mutex_token(&b.mutex, 1));
    close_client(&a);
    close_client(&b);
    assert_int_equal(ls_redis_mutex_cancel(&b.mutex, 1), LS_ECLOSED);
}

struct caller {
    struct client *client;
    uint64_t owner; /* number of the thread */
    bool tries;
    int rc;
};

static void *ask(void *ctx)
{
    struct caller *caller = ctx;
    struct ls_redis_mutex *mutex = &caller->client->mutex;
    __atomic_store_n(&caller->owner, ls_env_self(caller->client->env), __ATOMIC_SEQ_CST);
    caller->rc = caller->tries ? ls_redis_mutex_try(mutex) : ls_redis_mutex_acquire(mutex, -1);
    return NULL;
}

/* Whether nothing is asked about the key of the mutex, or is to be asked. */
static bool is_at_rest(struct client *client)
{
    ls_env_lock(client->env);
    bool rests = client->mutex.lock->stage == STAGE_NONE;
    ls_env_unlock(client->env);
    return rests;
}

/* Another thread knows the number of a thread that waits, and cancels its acquire. */
static void a_waiting_thread_is_canceled(void **state)
{
    (void)state;
    struct client a;
    open_steady(&a);
    for (int i = 0; i < 2; i++) {
        struct caller caller = {.client = &a, .tries = i == 1, .rc = 1};
        pthread_t thread;
        stop_process(&the_server);
        assert_int_equal(pthread_create(&thread, NULL, ask, &caller), 0);
        WAIT_UNTIL(ls_redis_mutex_cancel(&a.mutex, __atomic_load_n(&caller.owner, __ATOMIC_SEQ_CST)) ==
                   LS_OK);
        pthread_join(thread, NULL);
        continue_process(&the_server);
        assert_int_equal(caller.rc, LS_ECANCELED);
        WAIT_UNTIL(is_at_rest(&a)); /* or the reply to this request would grant the next acquire */
    }
    close_client(&a);
}

static void levels_are_counted(void **state)
{
    (void)state;
    struct client a;
    open_steady(&a);
    assert_int_equal(ls_redis_mutex_depth(&a.mutex, 7), 0);
    assert_int_equal(ls_redis_mutex_token(&a.mutex, 7), 0);
    assert_int_equal(ls_redis_mutex_belief_left_ms(&a.mutex, 7), 0);
    assert_int_equal(ls_redis_mutex_query(&a.mutex, 7), LS_NOT_HELD);
    assert_int_equal(ls_redis_mutex_acquire_start(&a.mutex, 7, -1), LS_OK);
    WAIT_UNTIL(count(&a.told.done) == 1);
    assert_int_equal(ls_redis_mutex_acquire_start(&a.mutex, 7, -1), 1);
    assert_int_equal(ls_redis_mutex_depth(&a.mutex, 7), 2);
    assert_int_equal(ls_redis_mutex_depth(&a.mutex, 8), 0);
    assert_true(ls_redis_mutex_token(&a.mutex, 7) > 0);
    assert_int_equal(ls_redis_mutex_token(&a.mutex, 8), 0);
    assert_int_equal(ls_redis_mutex_query(&a.mutex, 7), LS_HELD);
    assert_int_equal(ls_redis_mutex_query(&a.mutex, 8), LS_NOT_HELD);
    assert_in_range(ls_redis_mutex_belief_left_ms(&a.mutex, 7), 1, LS_REDIS_LEASE_MS / 10 * 9);
    assert_int_equal(ls_redis_mutex_belief_left_ms(&a.mutex, 8), 0);
    a.mutex.lock->first->depth = UINT32_MAX;
    assert_int_equal(ls_redis_mutex_acquire_start(&a.mutex, 7, -1), LS_EOVERFLOW);
    assert_int_equal(ls_redis_mutex_depth(&a.mutex, 7), UINT32_MAX);
    a.mutex.lock->first->depth = 2;
    assert_int_equal(ls_redis_mutex_release_start(&a.mutex, 8), LS_ENOTOWNER);
    assert_int_equal(ls_redis_mutex_release_start(&a.mutex, 7), LS_OK);
    assert_int_equal(ls_redis_mutex_depth(&a.mutex, 7), 1);
    assert_int_equal(count(&a.told.freed), 0);
    assert_int_equal(ls_redis_mutex_release_start(&a.mutex, 7), LS_OK);
    assert_int_equal(ls_redis_mutex_query(&a.mutex, 7), LS_NOT_HELD);
    assert_int_equal(ls_redis_mutex_depth(&a.mutex, 7), 0);
    assert_int_equal(ls_redis_mutex_token(&a.mutex, 7), 0);
    WAIT_UNTIL(count(&a.told.freed) == 1);
    assert_int_equal(a.told.freed_rc, LS_OK);
    assert_int_equal(count(&a.told.done), 1); /* a level more, or less, is told to nobody */

    assert_int_equal(ls_redis_mutex_acquire(&a.mutex, -1), LS_OK);
    a.mutex.lock->first->depth = UINT32_MAX;
    assert_int_equal(ls_redis_mutex_acquire(&a.mutex, -1), LS_EOVERFLOW);
    assert_int_equal(ls_redis_mutex_try(&a.mutex), LS_EOVERFLOW);
    a.mutex.lock->first->depth = 1;
    assert_int_equal(ls_redis_mutex_release(&a.mutex), LS_OK);
    assert_int_equal(ls_redis_mutex_release(&a.mutex), LS_ENOTOWNER);
    close_client(&a);
    assert_int_equal(ls_redis_mutex_release_start(&a.mutex, 7), LS_ECLOSED);
    assert_int_equal(ls_redis_mutex_release(&a.mutex), LS_ECLOSED);
    assert_int_equal(ls_redis_mutex_query(&a.mutex, 7), LS_NOT_HELD);
    assert_int_equal(ls_redis_mutex_query_by_me(&a.mutex), LS_NOT_HELD);
}

static const struct ls_redis_options second = {.lease_ms = 1000};

/* The lock is taken for owner 7, and its release is begun while the server does what `change` says. */
static void release_after(struct client *a, const char *change, const char *change_2)
{
    int done = count(&a->told.done);
    assert_int_equal(ls_redis_mutex_acquire_start(&a->mutex, 7, -1), LS_OK);
    WAIT_UNTIL(count(&a->told.done) == done + 1);
    assert_int_equal(a->told.done_rc, LS_OK);
    assert_int_equal(server_command(&the_server, change), 1);
    if (change_2 != NULL) {
        assert_int_equal(server_command(&the_server, change_2), 1);
    }
    assert_int_equal(ls_redis_mutex_release_start(&a->mutex, 7), LS_OK);
}

static void outcomes_of_a_release(void **state)
{
    (void)state;
    struct client a;
    open_with(&a, the_server.hosts, &second);
    deaf_timer = "renewal"; /* or a renewal would find out before the release */
    release_after(&a, "DEL job", NULL);
    WAIT_UNTIL(count(&a.told.freed) == 1);
    assert_int_equal(a.told.freed_rc, LS_ELOST);
    release_after(&a, "DEL job", "LPUSH job x");
    WAIT_UNTIL(count(&a.told.freed) == 2);
    assert_int_equal(a.told.freed_rc, LS_EREFUSED);
    assert_int_equal(server_command(&the_server, "DEL job"), 1);
    assert_int_equal(ls_redis_mutex_acquire(&a.mutex, -1), LS_OK);
    assert_int_equal(server_command(&the_server, "DEL job"), 1);
    assert_int_equal(ls_redis_mutex_release(&a.mutex), LS_ELOST);
    assert_int_equal(ls_redis_mutex_acquire(&a.mutex, -1), LS_OK);
    assert_int_equal(server_command(&the_server, "DEL job"), 1);
    assert_int_equal(server_command(&the_server, "LPUSH job x"), 1);
    assert_int_equal(ls_redis_mutex_release(&a.mutex), LS_EREFUSED);
    assert_int_equal(server_command(&the_server, "DEL job"), 1);
    deaf_timer = NULL;

    assert_int_equal(ls_redis_mutex_acquire(&a.mutex, -1), LS_OK);
    stop_process(&the_server);
    int unsure = ls_redis_mutex_release(&a.mutex);
    continue_process(&the_server);
    assert_int_equal(unsure, LS_EUNSURE);
    assert_int_equal(ls_redis_mutex_acquire_start(&a.mutex, 7, -1), LS_OK);
    WAIT_UNTIL(count(&a.told.done) == 3);
    stop_process(&the_server);
    assert_int_equal(ls_redis_mutex_release_start(&a.mutex, 7), LS_OK);
    assert_int_equal(ls_redis_mutex_close(&a.mutex), LS_OK);
    continue_process(&the_server);
    assert_int_equal(count(&a.told.freed), 3);
    assert_int_equal(a.told.freed_rc, LS_EUNSURE);
    close_client(&a);
}

static void losses_are_told_by_level(void **state)
{
    (void)state;
    struct client a;
    open_client(&a, &the_server);
    assert_int_equal(ls_redis_mutex_acquire_start(&a.mutex, 7, -1), LS_OK);
    WAIT_UNTIL(count(&a.told.done) == 1);
    assert_int_equal(ls_redis_mutex_acquire_start(&a.mutex, 7, -1), 1);
    int64_t token = ls_redis_mutex_token(&a.mutex, 7);
    assert_int_equal(server_command(&the_server, "SET job foreign"), 1);
    WAIT_UNTIL(count(&a.told.lost) == 1);
    assert_int_equal(a.told.lost_token, token);
    assert_int_equal(ls_redis_mutex_release_start(&a.mutex, 7), LS_ELOST);
    assert_int_equal(ls_redis_mutex_release_start(&a.mutex, 7), LS_ELOST);
    assert_int_equal(ls_redis_mutex_release_start(&a.mutex, 7), LS_ENOTOWNER);
    assert_int_equal(count(&a.told.freed), 0);
    assert_int_equal(server_command(&the_server, "DEL job"), 1);
    close_client(&a);
}

/* No timer tells of the end of the lease: a question looks at the clock. */
static void a_question_looks_at_the_clock(void **state)
{
    (void)state;
    struct client a;
    open_with(&a, the_server.hosts, &second);
    deaf_timer = "renewal";
    other_deaf_timer = "lease";
    long before = now_ms(), held = 0;
    assert_int_equal(ls_redis_mutex_acquire(&a.mutex, PATIENCE_MS), LS_OK);
    long granted = now_ms();
    uint64_t me = ls_env_self(a.env);
    enum ls_belief belief;
    do {
        long now = now_ms();
        belief = ls_redis_mutex_query_by_me(&a.mutex);
        held = belief == LS_HELD ? now : held;
        assert_in_range(ls_redis_mutex_belief_left_ms(&a.mutex, me), 0, 900);
        sleep_ms(1);
    } while (belief == LS_HELD);
    long known = now_ms();
    deaf_timer = other_deaf_timer = NULL;
    assert_int_equal(belief, LS_UNKNOWN);
    assert_true(held - granted <= 900); /* the request was sent before its grant */
    assert_true(known - before >= 899); /* moments are cut to whole ms */
    assert_int_equal(ls_redis_mutex_belief_left_ms(&a.mutex, me), 0);
    assert_true(ls_redis_mutex_token_by_me(&a.mutex) > 0);
    assert_int_equal(count(&a.told.lost), 0);
    close_client(&a);
}

/* ---- callbacks ---- */

static struct client *callers;
static int refused, ran;

/* Blocking functions, called inside a callback. */
static void call_all(struct ls_redis_mutex *mutex, uint64_t owner, int rc, int64_t token)
{
    struct client *a = callers;
    (void)owner, (void)rc, (void)token;
    refused += ls_redis_wait_connected(&a->redis, 0) == LS_EDEADLK;
    refused += ls_redis_mutex_acquire(mutex, 0) == LS_EDEADLK;
    refused += ls_redis_mutex_try(mutex) == LS_EDEADLK;
    refused += ls_redis_mutex_release(mutex) == LS_EDEADLK;
    refused += ls_redis_mutex_close(mutex) == LS_EDEADLK;
    refused += ls_redis_close(&a->redis) == LS_EDEADLK;
    __atomic_add_fetch(&ran, 1, __ATOMIC_SEQ_CST);
}

static void callbacks_do_not_block(void **state)
{
    (void)state;
    static const struct ls_redis_mutex_ops ops = {.on_done = call_all};
    struct client a;
    struct ls_redis_mutex mutex;
    open_steady(&a);
    callers = &a;
    assert_int_equal(ls_redis_mutex_init(&mutex, &a.redis, "other", &ops), LS_OK);
    assert_int_equal(ls_redis_mutex_acquire_start(&mutex, 1, -1), LS_OK);
    WAIT_UNTIL(count(&ran) == 1);
    assert_int_equal(refused, 6);
    assert_int_equal(ls_redis_mutex_query(&mutex, 1), LS_HELD); /* nothing was closed */
    assert_int_equal(ls_redis_state(&a.redis), LS_REDIS_CONNECTED);
    assert_int_equal(ls_redis_mutex_close(&mutex), LS_OK);
    close_client(&a);
}

/* ---- a loop of the test ---- */

struct test_loop {
    redisAsyncContext *context[2];
    short events[2];
    struct ls_redis *redis;
    int ends, refuses;
    pthread_t thread; /* the one that runs the loop */
    int strangers;    /* calls of hiredis on other threads */
};

static struct test_loop *the_loop;

static void set_events(void *ctx, short add, short drop)
{
    short *events = ctx;
    the_loop->strangers += !pthread_equal(pthread_self(), the_loop->thread);
    *events = (short)((*events | add) & ~drop);
}

static void add_read(void *ctx)
{
    set_events(ctx, POLLIN, 0);
}

static void delete_read(void *ctx)
{
    set_events(ctx, 0, POLLIN);
}

static void add_write(void *ctx)
{
    set_events(ctx, POLLOUT, 0);
}

static void delete_write(void *ctx)
{
    set_events(ctx, 0, POLLOUT);
}

static void clean_up(void *ctx)
{
    set_events(ctx, 0, POLLIN | POLLOUT);
}

static int attach(redisAsyncContext *context, void *ctx)
{
    struct test_loop *loop = ctx;
    int i = loop->context[0] != NULL;
    if (loop->refuses > 0) {
        loop->refuses--;
        return -1;
    }
    loop->context[i] = context;
    context->ev.data = &loop->events[i];
    context->ev.addRead = add_read;
    context->ev.delRead = delete_read;
    context->ev.addWrite = add_write;
    context->ev.delWrite = delete_write;
    context->ev.cleanup = clean_up;
    return 0;
}

static void *run_loop(void *ctx)
{
    struct test_loop *loop = ctx;
    loop->thread = pthread_self();
    struct pollfd fds[3] = {{.fd = ls_redis_fd(loop->redis), .events = POLLIN}};
    while (count(&loop->ends) == 0) {
        for (int i = 0; i < 2; i++) {
            fds[i + 1] = (struct pollfd){.fd = loop->events[i] != 0 ? loop->context[i]->c.fd : -1,
                                         .events = loop->events[i]};
        }
        poll(fds, 3, 20);
        if (fds[0].revents != 0) {
            ls_redis_process(loop->redis);
            assert_int_equal(poll(fds, 1, 0), 0); /* it has read the descriptor */
        }
        for (int i = 0; i < 2; i++) {
            if ((fds[i + 1].revents & (POLLIN | POLLERR | POLLHUP)) != 0 && loop->events[i] != 0) {
                redisAsyncHandleRead(loop->context[i]);
            }
            if ((fds[i + 1].revents & POLLOUT) != 0 && loop->events[i] != 0) {
                redisAsyncHandleWrite(loop->context[i]);
            }
        }
    }
    assert_int_equal(ls_redis_close(loop->redis), LS_OK);
    return NULL;
}

static void a_loop_of_the_application(void **state)
{
    (void)state;
    struct test_loop loop = {.refuses = 1};
    struct ls_redis_options options = {.lease_ms = LEASE_MS, .attach = attach, .loop = &loop};
    struct client a, b;
    struct ls_env *env;
    struct ls_redis fresh;
    pthread_t thread;
    open_steady(&b);
    assert_int_equal(ls_redis_fd(&b.redis), -1); /* it has a thread of its own */
    assert_int_equal(ls_redis_close(&b.redis), LS_OK);
    assert_int_equal(ls_redis_fd(&b.redis), -1);
    close_client(&b);
    assert_int_equal(ls_env_pthread_open(&env), LS_OK);
    assert_int_equal(ls_redis_init(&fresh, env, the_server.hosts, &options), LS_OK);
    assert_int_equal(ls_redis_fd(&fresh), -1); /* it is not started */
    assert_int_equal(ls_env_pthread_close(env), LS_OK);
    open_with(&a, the_server.hosts, &options);
    loop.redis = &a.redis;
    the_loop = &loop;
    assert_true(ls_redis_fd(&a.redis) >= 0);
    sleep_ms(SHORT_MS);
    assert_null(loop.context[0]); /* nobody but the loop connects */
    assert_int_equal(pthread_create(&thread, NULL, run_loop, &loop), 0);
    assert_int_equal(ls_redis_wait_connected(&a.redis, PATIENCE_MS), LS_OK);
    assert_int_equal(loop.refuses, 0);
    assert_int_equal(ls_redis_mutex_acquire(&a.mutex, PATIENCE_MS), LS_OK);
    assert_int_equal(ls_redis_mutex_release(&a.mutex), LS_OK);
    __atomic_store_n(&loop.ends, 1, __ATOMIC_SEQ_CST);
    pthread_join(thread, NULL);
    assert_int_equal(loop.strangers, 0);
    assert_int_equal(ls_redis_fd(&a.redis), -1);
    close_client(&a);
}

/* ---- beside a close ---- */

struct closer {
    struct client *client;
    bool redis;
    int rc;
};

static void *close_behind_the_gate(void *ctx)
{
    struct closer *closer = ctx;
    stops_at_the_gate = true;
    closer->rc =
        closer->redis ? ls_redis_close(&closer->client->redis) : ls_redis_mutex_close(&closer->client->mutex);
    return NULL;
}

static void start_closer(pthread_t *thread, struct closer *closer)
{
    at_the_gate = gate_is_open = 0;
    assert_int_equal(pthread_create(thread, NULL, close_behind_the_gate, closer), 0);
    WAIT_UNTIL(count(&at_the_gate) == 1);
}

/* The close has begun, and has not come to the mutex of the environment yet: all functions do what they always do. */
static void functions_at_the_beginning_of_a_close(struct client *a)
{
    uint64_t me = ls_env_self(a->env);
    assert_int_equal(ls_redis_state(&a->redis), LS_REDIS_CONNECTED);
    assert_int_equal(ls_redis_wait_connected(&a->redis, -1), LS_OK);
    assert_int_equal(ls_redis_start(&a->redis), LS_EINVAL);
    assert_int_equal(ls_redis_fd(&a->redis), -1);
    assert_int_equal(ls_redis_mutex_acquire(&a->mutex, PATIENCE_MS), LS_OK);
    assert_int_equal(ls_redis_mutex_try(&a->mutex), LS_OK);
    assert_int_equal(ls_redis_mutex_acquire_start(&a->mutex, me, -1), 1);
    assert_int_equal(ls_redis_mutex_depth(&a->mutex, me), 3);
    assert_int_equal(ls_redis_mutex_query(&a->mutex, me), LS_HELD);
    assert_int_equal(ls_redis_mutex_query_by_me(&a->mutex), LS_HELD);
    assert_true(ls_redis_mutex_token(&a->mutex, me) > 0);
    assert_true(ls_redis_mutex_token_by_me(&a->mutex) > 0);
    assert_true(ls_redis_mutex_belief_left_ms(&a->mutex, me) > 0);
    assert_int_equal(ls_redis_mutex_cancel(&a->mutex, 7), LS_ENOENT);
    assert_int_equal(ls_redis_mutex_release_start(&a->mutex, me), LS_OK);
    assert_int_equal(ls_redis_mutex_release_start(&a->mutex, 7), LS_ENOTOWNER);
    assert_int_equal(ls_redis_mutex_release(&a->mutex), LS_OK);
    assert_int_equal(ls_redis_mutex_release(&a->mutex), LS_OK);
    assert_int_equal(ls_redis_mutex_depth(&a->mutex, me), 0);
}

static void beside_the_beginning_of_a_close(void **state)
{
    (void)state;
    for (int redis = 0; redis < 2; redis++) {
        struct client a;
        struct closer closer = {.client = &a, .redis = redis, .rc = 1};
        struct ls_redis_mutex mutex;
        pthread_t thread;
        open_steady(&a);
        start_closer(&thread, &closer);
        functions_at_the_beginning_of_a_close(&a);
        assert_int_equal(ls_redis_mutex_init(&mutex, &a.redis, "other", NULL), LS_OK);
        assert_int_equal(ls_redis_mutex_acquire(&mutex, PATIENCE_MS), LS_OK);
        assert_int_equal(ls_redis_mutex_close(&mutex), LS_OK);
        assert_int_equal(ls_redis_mutex_close(&a.mutex), LS_OK);
        assert_int_equal(ls_redis_mutex_acquire_start(&a.mutex, 1, -1), LS_ECLOSED);
        assert_int_equal(ls_redis_close(&a.redis), LS_OK);
        assert_int_equal(ls_redis_state(&a.redis), LS_REDIS_CLOSED);
        __atomic_store_n(&gate_is_open, 1, __ATOMIC_SEQ_CST);
        pthread_join(thread, NULL);
        assert_int_equal(closer.rc, LS_OK);
        assert_int_equal(ls_env_pthread_close(a.env), LS_OK);
    }
}

static int in_callback, callback_may_end;

static void wait_in_callback(struct ls_redis_mutex *mutex, uint64_t owner, int rc, int64_t token)
{
    (void)mutex, (void)owner, (void)rc, (void)token;
    __atomic_add_fetch(&in_callback, 1, __ATOMIC_SEQ_CST);
    WAIT_UNTIL(count(&callback_may_end) == 1);
}

static void *close_now(void *ctx)
{
    struct closer *closer = ctx;
    int rc =
        closer->redis ? ls_redis_close(&closer->client->redis) : ls_redis_mutex_close(&closer->client->mutex);
    __atomic_store_n(&closer->rc, rc, __ATOMIC_SEQ_CST); /* two threads close */
    __atomic_add_fetch(&ran, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

/* The close waits for a callback. What is asked meanwhile would never be answered, so nothing is begun. */
static void beside_a_close_that_waits(void **state)
{
    (void)state;
    static const struct ls_redis_mutex_ops ops = {.on_done = wait_in_callback};
    for (int redis = 0; redis < 2; redis++) {
        struct client a;
        struct closer closer = {.client = &a, .redis = redis, .rc = 1};
        struct ls_redis_mutex mutex, new_one;
        pthread_t thread[2];
        in_callback = callback_may_end = ran = 0;
        open_steady(&a);
        assert_int_equal(ls_redis_mutex_acquire(&a.mutex, -1), LS_OK);
        assert_int_equal(ls_redis_mutex_init(&mutex, &a.redis, "other", &ops), LS_OK);
        assert_int_equal(ls_redis_mutex_acquire_start(&mutex, 1, -1), LS_OK);
        WAIT_UNTIL(count(&in_callback) == 1);
        assert_int_equal(pthread_create(&thread[0], NULL, close_now, &closer), 0);
        WAIT_UNTIL(ls_redis_mutex_query_by_me(&a.mutex) == LS_NOT_HELD);
        assert_int_equal(ls_redis_mutex_acquire_start(&a.mutex, 1, -1), LS_ECLOSED);
        assert_int_equal(ls_redis_mutex_acquire(&a.mutex, -1), LS_ECLOSED);
        assert_int_equal(ls_redis_mutex_cancel(&a.mutex, 1), LS_ECLOSED);
        assert_int_equal(ls_redis_mutex_release(&a.mutex), LS_ECLOSED);
        assert_int_equal(ls_redis_mutex_init(&new_one, &a.redis, "new", NULL), redis ? LS_ECLOSED : LS_OK);
        assert_int_equal(pthread_create(&thread[1], NULL, close_now, &closer), 0);
        sleep_ms(20);
        assert_int_equal(count(&ran), 0); /* neither close has returned */
        __atomic_store_n(&callback_may_end, 1, __ATOMIC_SEQ_CST);
        pthread_join(thread[0], NULL);
        pthread_join(thread[1], NULL);
        assert_int_equal(closer.rc, LS_OK);
        WAIT_UNTIL(server_command(&the_server, "EXISTS job") == 0);
        assert_int_equal(ls_redis_mutex_close(&mutex), LS_OK);
        assert_int_equal(redis ? LS_OK : ls_redis_mutex_close(&new_one), LS_OK);
        close_client(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(init_refuses_what_is_malformed, clean_server),
        cmocka_unit_test_setup(client_starts_once, clean_server),
        cmocka_unit_test_setup(start_needs_memory, clean_server),
        cmocka_unit_test_setup(a_wait_for_the_connection_ends, clean_server),
        cmocka_unit_test_setup(a_client_may_fail, clean_server),
        cmocka_unit_test_setup(mutex_init_refuses_what_is_malformed, clean_server),
        cmocka_unit_test_setup(acquire_refuses_at_once, clean_server),
        cmocka_unit_test_setup(outcomes_of_an_acquire, clean_server),
        cmocka_unit_test_setup(a_waiting_thread_is_canceled, clean_server),
        cmocka_unit_test_setup(levels_are_counted, clean_server),
        cmocka_unit_test_setup(outcomes_of_a_release, clean_server),
        cmocka_unit_test_setup(losses_are_told_by_level, clean_server),
        cmocka_unit_test_setup(a_question_looks_at_the_clock, clean_server),
        cmocka_unit_test_setup(callbacks_do_not_block, clean_server),
        cmocka_unit_test_setup(a_loop_of_the_application, clean_server),
        cmocka_unit_test_setup(beside_the_beginning_of_a_close, clean_server),
        cmocka_unit_test_setup(beside_a_close_that_waits, clean_server),
    };
    return cmocka_run_group_tests(tests, start_server, stop_server);
}
