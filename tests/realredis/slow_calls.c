/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Blocking calls use hiredis themselves where they come close together, and leave it to the client's thread
 * where they are far apart. Both keep what redis_mutex.h says. A thread has `calls` set while it makes blocking
 * calls, so a poll or a command of such a thread shows that it leads. */
#include "loopredis/lead.h"
#include "one_server.h"
#include "support/build_kind.h"

#include <hiredis/async.h>
#include <poll.h>
#include <pthread.h>

#define CLOSE_ROUNDS 20 /* number of polls after which calls surely lead */
#define FAR_MS (3L * REST_MS)
#define RENEWED_MS 1500 /* a lease that is renewed on a busy machine, too */
#define HELD_MS (2L * RENEWED_MS)
#define BUSY_MS 60000 /* until calls come close together on a busy machine */

static _Thread_local bool calls;
static _Thread_local bool waits;
static int polls,
    waiter_polls; /* number of polls of threads that have `calls` set, and of those with `waits` */

/* The linker wants these names. NOLINTBEGIN(bugprone-reserved-identifier) */
int __real_poll(struct pollfd *fds, nfds_t size, int timeout_ms);
int __wrap_poll(struct pollfd *fds, nfds_t size, int timeout_ms);
int __wrap_poll(struct pollfd *fds, nfds_t size, int timeout_ms)
{
    if (calls) {
        __atomic_add_fetch(&polls, 1, __ATOMIC_SEQ_CST);
        __atomic_add_fetch(&waiter_polls, waits, __ATOMIC_SEQ_CST);
    }
    return __real_poll(fds, size, timeout_ms);
}

static int sends; /* number of commands of threads that have `calls` set */

int __wrap_redisAsyncCommand(redisAsyncContext *context, redisCallbackFn *fn, void *ctx, const char *format,
                             ...);
int __wrap_redisAsyncCommand(redisAsyncContext *context, redisCallbackFn *fn, void *ctx, const char *format,
                             ...)
{
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTEND(bugprone-reserved-identifier) */
    int rc = redisvAsyncCommand(context, fn, ctx, format, arguments);
    va_end(arguments);
    __atomic_add_fetch(&sends, calls, __ATOMIC_SEQ_CST);
    return rc;
}

/* A client whose leases do not end during a test, however busy the machine is. */
static void open_steady(struct client *client)
{
    static const struct ls_redis_options usual = {0};
    open_with(client, the_server.hosts, &usual);
    assert_int_equal(ls_redis_wait_connected(&client->redis, PATIENCE_MS), LS_OK);
}

static void take_and_give(struct ls_redis_mutex *mutex)
{
    assert_int_equal(ls_redis_mutex_acquire(mutex, PATIENCE_MS), LS_OK);
    assert_int_equal(ls_redis_mutex_release(mutex), LS_OK);
}

/* Takes a lock so often that the calls lead. */
static void call_closely(struct ls_redis_mutex *mutex)
{
    int before = count(&polls);
    calls = true;
    for (long until = now_ms() + BUSY_MS; count(&polls) < before + CLOSE_ROUNDS;) {
        take_and_give(mutex);
        assert_true(now_ms() < until);
    }
    calls = false;
}

/* Two clients of one server. The second one holds `other`. */
struct pair {
    struct ls_redis_options options;
    struct client a, b;
    struct ls_redis_mutex of_a, of_b;
};

/* `lease_ms`: 0 = leases do not end during a test. */
static void open_pair(struct pair *pair, uint32_t lease_ms)
{
    pair->options = (struct ls_redis_options){.lease_ms = lease_ms};
    open_with(&pair->a, the_server.hosts, &pair->options);
    open_with(&pair->b, the_server.hosts, &pair->options);
    assert_int_equal(ls_redis_mutex_init(&pair->of_a, &pair->a.redis, "other", NULL), LS_OK);
    assert_int_equal(ls_redis_mutex_init(&pair->of_b, &pair->b.redis, "other", NULL), LS_OK);
    assert_int_equal(ls_redis_mutex_acquire(&pair->of_b, PATIENCE_MS), LS_OK);
}

static void close_pair(struct pair *pair)
{
    assert_int_equal(ls_redis_mutex_close(&pair->of_a), LS_OK);
    assert_int_equal(ls_redis_mutex_close(&pair->of_b), LS_OK);
    close_client(&pair->a);
    close_client(&pair->b);
}

/* A thread that waits for the lock `other` of the first client. */
struct waiter {
    struct pair *pair;
    int timeout_ms;
    pthread_t thread;
    uint64_t owner;
    int rc;
};

static void *wait_for_lock(void *ctx)
{
    struct waiter *waiter = ctx;
    waiter->owner = ls_env_self(waiter->pair->a.env);
    calls = true;
    waits = true;
    waiter->rc = ls_redis_mutex_acquire(&waiter->pair->of_a, waiter->timeout_ms);
    if (waiter->rc == LS_OK) {
        waiter->rc = ls_redis_mutex_release(&waiter->pair->of_a);
    }
    return NULL;
}

static bool hears_messages(const struct client *client)
{
    ls_env_lock(client->env);
    bool hears = client->redis.messages.up;
    ls_env_unlock(client->env);
    return hears;
}

/* Returns when the thread waits and leads. Other calls come close together until it does. Its first wait makes a
 * connection for messages: the client's thread leads until that is there. */
static void start_to_lead(struct waiter *waiter, struct pair *pair, int timeout_ms)
{
    bool hears = false;
    int before = 0;
    *waiter = (struct waiter){.pair = pair, .timeout_ms = timeout_ms};
    call_closely(&pair->a.mutex);
    assert_int_equal(pthread_create(&waiter->thread, NULL, wait_for_lock, waiter), 0);
    for (long until = now_ms() + BUSY_MS; !hears || count(&waiter_polls) == before;) {
        if (!hears) {
            before = count(&waiter_polls);
            hears = hears_messages(&pair->a);
        }
        take_and_give(&pair->a.mutex);
        assert_true(now_ms() < until);
    }
}

static int result_of(const struct waiter *waiter)
{
    pthread_join(waiter->thread, NULL);
    return waiter->rc;
}

/* ---- who leads ---- */

static void far_calls_do_not_lead(void **state)
{
    (void)state;
    struct client a;
    open_steady(&a);
    int before = count(&polls), sent = count(&sends);
    calls = true;
    for (int i = 0; i < 8; i++) {
        sleep_ms(FAR_MS);
        take_and_give(&a.mutex);
    }
    assert_int_equal(count(&polls), before);
    assert_int_equal(count(&sends), sent);
    call_closely(&a.mutex);
    sleep_ms(10 * FAR_MS); /* on a busy machine, too, the client's thread leads again then */
    before = count(&polls);
    calls = true;
    take_and_give(&a.mutex);
    calls = false;
    assert_int_equal(count(&polls), before);
    close_client(&a);
}

static long long kill_connections(void)
{
    return server_command(&the_server, "CLIENT KILL TYPE normal SKIPME yes");
}

/* The client's thread leads again after the calls, and so notices the end of a connection. */
static void thread_leads_after_calls(void **state)
{
    (void)state;
    struct client a;
    open_steady(&a);
    for (int i = 0; i < 5; i++) {
        call_closely(&a.mutex);
        assert_int_equal(kill_connections(), 1);
        WAIT_UNTIL(kill_connections() == 1); /* the client had connected again */
        WAIT_UNTIL(kill_connections() == 1);
    }
    close_client(&a);
}

/* What is asked while nobody leads does not wait until the client's thread leads again by itself: not in each of
 * many attempts. */
static void free_lead_is_taken_at_once(void **state)
{
    (void)state;
    struct client a;
    struct ls_redis_mutex mutex;
    long least = PATIENCE_MS;
    open_steady(&a);
    assert_int_equal(ls_redis_mutex_init(&mutex, &a.redis, "other", NULL), LS_OK);
    for (int i = 0; i < 200 && least > REST_MS / 2; i++) {
        call_closely(&mutex);
        long before = now_ms();
        assert_int_equal(ls_redis_mutex_acquire_start(&a.mutex, 1, -1), LS_OK);
        WAIT_UNTIL(count(&a.told.done) == i + 1);
        least = now_ms() - before < least ? now_ms() - before : least;
        assert_int_equal(ls_redis_mutex_release_start(&a.mutex, 1), LS_OK);
        WAIT_UNTIL(count(&a.told.freed) == i + 1);
    }
    assert_in_range(least, 0, REST_MS / 2);
    assert_int_equal(ls_redis_mutex_close(&mutex), LS_OK);
    close_client(&a);
}

/* While a thread leads for a lock that it does not get, the client renews another one. */
static void leader_renews(void **state)
{
    (void)state;
    struct pair pair;
    struct waiter waiter;
    open_pair(&pair, RENEWED_MS);
    start_to_lead(&waiter, &pair, -1);
    assert_int_equal(ls_redis_mutex_acquire(&pair.a.mutex, PATIENCE_MS), LS_OK);
    for (long until = now_ms() + HELD_MS; now_ms() < until; sleep_ms(5)) {
        assert_int_equal(ls_redis_mutex_query_by_me(&pair.a.mutex), LS_HELD);
    }
    assert_int_equal(ls_redis_mutex_release(&pair.a.mutex), LS_OK);
    assert_int_equal(ls_redis_mutex_release(&pair.of_b), LS_OK);
    assert_int_equal(result_of(&waiter), LS_OK);
    close_pair(&pair);
}

/* A lock is renewed between calls that come close together. */
static void close_calls_renew(void **state)
{
    (void)state;
    struct pair pair;
    open_pair(&pair, RENEWED_MS);
    assert_int_equal(ls_redis_mutex_release(&pair.of_b), LS_OK);
    call_closely(&pair.a.mutex);
    assert_int_equal(ls_redis_mutex_acquire(&pair.a.mutex, PATIENCE_MS), LS_OK);
    for (long until = now_ms() + HELD_MS; now_ms() < until; sleep_ms(3)) {
        take_and_give(&pair.of_a);
        assert_int_equal(ls_redis_mutex_query_by_me(&pair.a.mutex), LS_HELD);
    }
    assert_int_equal(ls_redis_mutex_release(&pair.a.mutex), LS_OK);
    close_pair(&pair);
}

/* ---- a thread that leads ends its call ---- */

/* The client's thread has rested meanwhile, and leads again. */
static void leader_has_deadline(void **state)
{
    (void)state;
    struct pair pair;
    struct waiter waiter;
    open_pair(&pair, 0);
    long before = now_ms();
    start_to_lead(&waiter, &pair, 2000);
    assert_int_equal(result_of(&waiter), LS_ETIMEDOUT);
    assert_true(now_ms() - before >= 2000);
    assert_int_equal(ls_redis_mutex_close(&pair.of_b), LS_OK);
    close_client(&pair.b);
    assert_true(kill_connections() >= 1); /* the server may still have those of the second client */
    WAIT_UNTIL(kill_connections() == 1);
    assert_int_equal(ls_redis_mutex_close(&pair.of_a), LS_OK);
    close_client(&pair.a);
}

static void leader_is_cancelled(void **state)
{
    (void)state;
    struct pair pair;
    struct waiter waiter;
    open_pair(&pair, 0);
    start_to_lead(&waiter, &pair, -1);
    assert_int_equal(ls_redis_mutex_cancel(&pair.of_a, waiter.owner), LS_OK);
    assert_int_equal(result_of(&waiter), LS_ECANCELED);
    close_pair(&pair);
}

static void mutex_closes_while_a_thread_leads(void **state)
{
    (void)state;
    for (int round = 0; round < 10; round++) {
        struct pair pair;
        struct waiter waiter;
        open_pair(&pair, 0);
        start_to_lead(&waiter, &pair, -1);
        sleep_ms(round);
        assert_int_equal(ls_redis_mutex_close(&pair.of_a), LS_OK);
        assert_int_equal(result_of(&waiter), LS_ECLOSED);
        take_and_give(&pair.a.mutex);
        close_pair(&pair);
    }
}

/* The memory of the client is overwritten as soon as its close has returned. */
static void client_closes_while_a_thread_leads(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        struct pair pair;
        struct waiter waiter;
        open_pair(&pair, 0);
        start_to_lead(&waiter, &pair, -1);
        sleep_ms(round / 2);
        assert_int_equal(ls_redis_close(&pair.a.redis), LS_OK);
        memset(&pair.a.redis, 0xff, sizeof pair.a.redis);
        assert_int_equal(result_of(&waiter), LS_ECLOSED);
        assert_int_equal(ls_env_pthread_close(pair.a.env), LS_OK);
        assert_int_equal(ls_redis_mutex_close(&pair.of_b), LS_OK);
        close_client(&pair.b);
    }
}

/* The server starts anew while a thread leads. */
static void leader_loses_its_server(void **state)
{
    (void)state;
    struct pair pair;
    struct waiter waiter;
    open_pair(&pair, 0);
    start_to_lead(&waiter, &pair, -1);
    server_kill(&the_server);
    sleep_ms(FAR_MS);
    server_start_on(&the_server, NULL); /* which has forgotten the lock */
    assert_int_equal(result_of(&waiter), LS_OK);
    close_pair(&pair);
}

/* A thread that leads writes to a socket that is closed: SIGPIPE neither ends the program nor stays behind. */
static void leader_gets_no_signal(void **state)
{
    (void)state;
    struct client a;
    sigset_t signals;
    open_steady(&a);
    for (int i = 0; i < 5; i++) {
        call_closely(&a.mutex);
        ls_env_lock(a.env);
        shutdown(a.redis.commands.context->c.fd, SHUT_RDWR);
        ls_env_unlock(a.env);
        take_and_give(&a.mutex);
        assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &signals), 0);
        assert_int_equal(sigismember(&signals, SIGPIPE), 0);
        assert_int_equal(sigpending(&signals), 0);
        assert_int_equal(sigismember(&signals, SIGPIPE), 0);
    }
    close_client(&a);
}

/* ---- stack ---- */

#define LEADER_STACK (32 * 1024) /* bytes of stack that redis.h says a call needs */

static _Alignas(4096) char stack[16 * LEADER_STACK];

struct stack_caller {
    struct ls_redis_mutex *mutex;
    int rc;
    bool led;
};

/* Takes a lock so often that the calls lead. It asserts nothing, because that takes stack. */
static void *call_on_the_stack(void *ctx)
{
    struct stack_caller *caller = ctx;
    int before = count(&polls);
    calls = true;
    for (long until = now_ms() + BUSY_MS; !caller->led && caller->rc == LS_OK && now_ms() < until;) {
        caller->rc = ls_redis_mutex_acquire(caller->mutex, PATIENCE_MS);
        caller->rc = caller->rc == LS_OK ? ls_redis_mutex_release(caller->mutex) : caller->rc;
        caller->led = count(&polls) >= before + CLOSE_ROUNDS;
    }
    return NULL;
}

/* A stack of zeros shows how much of it a thread has used. */
static void leader_has_a_small_stack(void **state)
{
    (void)state;
    if (is_sanitized()) {
        skip(); /* an instrumented build has larger frames */
    }
    struct client a;
    struct stack_caller caller = {.mutex = &a.mutex, .rc = LS_OK};
    pthread_attr_t attributes;
    pthread_t thread;
    size_t unused = 0;
    open_steady(&a);
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstack(&attributes, stack, sizeof stack), 0);
    assert_int_equal(pthread_create(&thread, &attributes, call_on_the_stack, &caller), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
    assert_int_equal(caller.rc, LS_OK);
    assert_true(caller.led);
    while (unused < sizeof stack && stack[unused] == 0) {
        unused++;
    }
    assert_in_range(sizeof stack - unused, 1, LEADER_STACK);
    close_client(&a);
}

/* ---- callbacks ---- */

static int wrong, in_calls, cycles;

static void done_calls_in(struct ls_redis_mutex *mutex, uint64_t owner, int rc, int64_t token)
{
    bool is_wrong = rc != LS_OK || token <= 0 || ls_redis_mutex_acquire(mutex, -1) != LS_EDEADLK ||
                    ls_redis_mutex_release_start(mutex, owner) != LS_OK;
    __atomic_add_fetch(&wrong, is_wrong, __ATOMIC_SEQ_CST);
    __atomic_add_fetch(&in_calls, calls, __ATOMIC_SEQ_CST);
}

static void freed_calls_in(struct ls_redis_mutex *mutex, uint64_t owner, int rc)
{
    int next = __atomic_add_fetch(&cycles, 1, __ATOMIC_SEQ_CST) % 50 != 0
                   ? ls_redis_mutex_acquire_start(mutex, owner, -1)
                   : LS_OK;
    __atomic_add_fetch(&wrong, rc != LS_OK || next != LS_OK, __ATOMIC_SEQ_CST);
    __atomic_add_fetch(&in_calls, calls, __ATOMIC_SEQ_CST);
}

static const struct ls_redis_mutex_ops CALL_IN = {.on_done = done_calls_in, .on_freed = freed_calls_in};

/* Callbacks call in again beside blocking calls, and none runs in a blocking call. */
static void callbacks_call_in(void **state)
{
    (void)state;
    struct client a;
    struct ls_redis_mutex mutex;
    open_steady(&a);
    assert_int_equal(ls_redis_mutex_init(&mutex, &a.redis, "async", &CALL_IN), LS_OK);
    for (int i = 1; i <= 20; i++) {
        call_closely(&a.mutex);
        assert_int_equal(ls_redis_mutex_acquire_start(&mutex, 7, -1), LS_OK);
        calls = true;
        for (long until = now_ms() + PATIENCE_MS; count(&cycles) < 50 * i;) {
            take_and_give(&a.mutex);
            assert_true(now_ms() < until);
        }
        calls = false;
    }
    assert_int_equal(count(&wrong), 0);
    assert_int_equal(count(&in_calls), 0);
    assert_int_equal(ls_redis_mutex_close(&mutex), LS_OK);
    close_client(&a);
}

/* A thread that leads hears the answers for callbacks, and leaves the callbacks to another thread. */
static void leader_calls_nobody_back(void **state)
{
    (void)state;
    struct pair pair;
    struct waiter waiter;
    struct ls_redis_mutex mutex;
    open_pair(&pair, 0);
    assert_int_equal(ls_redis_mutex_init(&mutex, &pair.a.redis, "async", &CALL_IN), LS_OK);
    start_to_lead(&waiter, &pair, -1);
    int before = count(&cycles);
    assert_int_equal(ls_redis_mutex_acquire_start(&mutex, 7, -1), LS_OK);
    WAIT_UNTIL(count(&cycles) == before + 50);
    assert_int_equal(count(&wrong), 0);
    assert_int_equal(count(&in_calls), 0);
    assert_int_equal(ls_redis_mutex_close(&mutex), LS_OK);
    assert_int_equal(ls_redis_mutex_release(&pair.of_b), LS_OK);
    assert_int_equal(result_of(&waiter), LS_OK);
    close_pair(&pair);
}

/* ---- many threads ---- */

#define THREADS 8
#define ROUNDS 150

struct worker {
    struct client *client;
    uint64_t owner;
    int number, granted, wrong;
    int *inside, *value;
};

/* Takes the lock with short deadlines. Another thread cancels acquires. */
static void *work(void *ctx)
{
    struct worker *worker = ctx;
    struct ls_redis_mutex *mutex = &worker->client->mutex;
    __atomic_store_n(&worker->owner, ls_env_self(worker->client->env), __ATOMIC_SEQ_CST);
    calls = true;
    for (int i = 0; i < ROUNDS; i++) {
        int rc = ls_redis_mutex_acquire(mutex, i % 3 == 0 ? 1 + worker->number : -1);
        if (rc == LS_OK) {
            worker->granted++;
            worker->wrong += __atomic_add_fetch(worker->inside, 1, __ATOMIC_SEQ_CST) != 1;
            ++*worker->value;
            worker->wrong += __atomic_sub_fetch(worker->inside, 1, __ATOMIC_SEQ_CST) != 0;
            worker->wrong += ls_redis_mutex_release(mutex) != LS_OK;
        } else {
            worker->wrong += rc != LS_ETIMEDOUT && rc != LS_ECANCELED;
        }
    }
    __atomic_store_n(&worker->owner, 0, __ATOMIC_SEQ_CST);
    return NULL;
}

/* Cancels acquires until all threads are done. */
static void cancel_some(struct worker *workers)
{
    int at_work;
    do {
        at_work = 0;
        for (int i = 0; i < THREADS; i++) {
            uint64_t owner = __atomic_load_n(&workers[i].owner, __ATOMIC_SEQ_CST);
            if (owner != 0) {
                int rc = ls_redis_mutex_cancel(&workers[i].client->mutex, owner);
                assert_true(rc == LS_OK || rc == LS_ENOENT);
                at_work++;
            }
            sleep_ms(1);
        }
    } while (at_work > 0);
}

static void many_threads(void **state)
{
    (void)state;
    struct client client[2];
    struct worker worker[THREADS];
    pthread_t thread[THREADS];
    int inside = 0, value = 0, granted = 0;
    int before = count(&polls);
    open_steady(&client[0]);
    open_steady(&client[1]);
    for (int i = 0; i < THREADS; i++) {
        worker[i] = (struct worker){
            .client = &client[i % 3 == 0], .number = i, .owner = 0, .inside = &inside, .value = &value};
        assert_int_equal(pthread_create(&thread[i], NULL, work, &worker[i]), 0);
    }
    cancel_some(worker);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        assert_int_equal(worker[i].wrong, 0);
        granted += worker[i].granted;
    }
    assert_int_equal(value, granted);
    assert_true(count(&polls) > before);
    close_client(&client[0]);
    close_client(&client[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(far_calls_do_not_lead, clean_server),
        cmocka_unit_test_setup(thread_leads_after_calls, clean_server),
        cmocka_unit_test_setup(free_lead_is_taken_at_once, clean_server),
        cmocka_unit_test_setup(leader_renews, clean_server),
        cmocka_unit_test_setup(close_calls_renew, clean_server),
        cmocka_unit_test_setup(leader_has_deadline, clean_server),
        cmocka_unit_test_setup(leader_is_cancelled, clean_server),
        cmocka_unit_test_setup(mutex_closes_while_a_thread_leads, clean_server),
        cmocka_unit_test_setup(client_closes_while_a_thread_leads, clean_server),
        cmocka_unit_test_setup(leader_loses_its_server, clean_server),
        cmocka_unit_test_setup(leader_gets_no_signal, clean_server),
        cmocka_unit_test_setup(leader_has_a_small_stack, clean_server),
        cmocka_unit_test_setup(callbacks_call_in, clean_server),
        cmocka_unit_test_setup(leader_calls_nobody_back, clean_server),
        cmocka_unit_test_setup(many_threads, clean_server),
    };
    return cmocka_run_group_tests(tests, start_server, stop_server);
}
