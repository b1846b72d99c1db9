/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The blocking calls of the semaphore on a real server: threads, deadlines, callbacks, a close, a shared count. */
#include "stage.h"

#include <lockstep/semaphore.h>

/* ---- a process with a semaphore ---- */

static struct {
    struct client client; /* its mutex is not used */
    struct ls_semaphore semaphore;
} now;

static void open_semaphore(const char *path, uint32_t capacity, const struct ls_mutex_options *options)
{
    client_open(&now.client, path, NULL);
    assert_int_equal(ls_semaphore_init(&now.semaphore, &now.client.session, path, capacity, options), LS_OK);
}

static void close_semaphore(void)
{
    assert_int_equal(ls_semaphore_close(&now.semaphore), LS_OK);
    client_close(&now.client);
}

/* ---- threads ---- */

static void *acquire_lease(void *context)
{
    struct caller *caller = context;
    caller->rc = ls_semaphore_acquire(&now.semaphore, 50, 1, caller->timeout_ms);
    __atomic_store_n(&caller->done, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

static void *release_lease(void *context)
{
    struct caller *caller = context;
    caller->rc = ls_semaphore_release(&now.semaphore, 1);
    __atomic_store_n(&caller->done, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

static void test_another_thread_releases(void **state)
{
    (void)state;
    struct caller waiter, other;
    open_semaphore("/real/semaphore", 2, NULL);
    assert_int_equal(ls_semaphore_acquire(&now.semaphore, 1, 2, -1), LS_OK);
    assert_int_equal(ls_semaphore_acquire(&now.semaphore, 50, 1, 0), LS_EBUSY);
    int64_t start_ms = now_ms();
    assert_int_equal(ls_semaphore_acquire(&now.semaphore, 50, 1, 300), LS_ETIMEDOUT);
    assert_in_range(now_ms() - start_ms, 299, 5000);
    caller_start(&waiter, &now.client, PATIENCE_MS, acquire_lease);
    pause_ms(100);
    assert_false(__atomic_load_n(&waiter.done, __ATOMIC_SEQ_CST));
    caller_start(&other, &now.client, 0, release_lease);
    assert_int_equal(caller_join(&other), LS_OK);
    assert_int_equal(caller_join(&waiter), LS_OK);
    assert_true(ls_mutex_held_by(&now.semaphore.leases, 2));
    assert_true(ls_mutex_held_by(&now.semaphore.leases, 50));
    assert_int_equal(ls_semaphore_release(&now.semaphore, 1), LS_ENOTOWNER);
    assert_int_equal(ls_semaphore_release(&now.semaphore, 2), LS_OK);
    assert_int_equal(ls_semaphore_release(&now.semaphore, 50), LS_OK);
    close_semaphore();
}

static void test_close_ends_the_wait(void **state)
{
    (void)state;
    struct caller waiter;
    open_semaphore("/real/semaphore_closed", 1, NULL);
    assert_int_equal(ls_semaphore_acquire(&now.semaphore, 1, 1, -1), LS_OK);
    caller_start(&waiter, &now.client, -1, acquire_lease);
    pause_ms(100);
    assert_false(__atomic_load_n(&waiter.done, __ATOMIC_SEQ_CST));
    assert_int_equal(ls_semaphore_close(&now.semaphore), LS_OK);
    assert_int_equal(caller_join(&waiter), LS_ECLOSED);
    assert_int_equal(ls_semaphore_acquire(&now.semaphore, 50, 1, -1), LS_ECLOSED);
    assert_int_equal(ls_semaphore_release(&now.semaphore, 1), LS_ECLOSED);
    close_semaphore();
}

/* ---- callbacks ---- */

static struct {
    int acquire, release, close;
    int answered;
} refused;

static void on_done(struct ls_mutex *leases, uint64_t lease, const struct ls_outcome *outcome)
{
    (void)leases;
    assert_int_equal(outcome->rc, LS_OK);
    refused.acquire = ls_semaphore_acquire(&now.semaphore, 50, 1, -1);
    refused.release = ls_semaphore_release(&now.semaphore, lease);
    refused.close = ls_semaphore_close(&now.semaphore);
    __atomic_store_n(&refused.answered, 1, __ATOMIC_SEQ_CST);
}

static void test_blocking_calls_in_callbacks(void **state)
{
    (void)state;
    static const struct ls_mutex_ops ops = {.on_done = on_done};
    static const struct ls_mutex_options options = {.ops = &ops};
    open_semaphore("/real/semaphore_callbacks", 1, &options);
    assert_int_equal(ls_semaphore_acquire_start(&now.semaphore, 1, 1, -1), LS_OK);
    WAIT_UNTIL(__atomic_load_n(&refused.answered, __ATOMIC_SEQ_CST));
    assert_int_equal(refused.acquire, LS_EDEADLK);
    assert_int_equal(refused.release, LS_EDEADLK);
    assert_int_equal(refused.close, LS_EDEADLK);
    assert_true(ls_mutex_held_by(&now.semaphore.leases, 1));
    assert_int_equal(ls_semaphore_release(&now.semaphore, 1), LS_OK);
    close_semaphore();
}

/* ---- the shared count ---- */

#define COUNT "/real/count"

static uint32_t told;

static void on_capacity(struct ls_semaphore *semaphore, void *user, uint32_t capacity)
{
    assert_ptr_equal(semaphore, &now.semaphore);
    assert_ptr_equal(user, &told);
    __atomic_store_n(&told, capacity, __ATOMIC_SEQ_CST);
}

static int answers;

static void on_created(int rc, const char *path, const void *data)
{
    (void)path;
    (void)data;
    assert_int_equal(rc, ZOK);
    __atomic_add_fetch(&answers, 1, __ATOMIC_SEQ_CST);
}

static void on_set(int rc, const struct Stat *stat, const void *data)
{
    (void)stat;
    (void)data;
    assert_int_equal(rc, ZOK);
    __atomic_add_fetch(&answers, 1, __ATOMIC_SEQ_CST);
}

static void on_deleted(int rc, const void *data)
{
    (void)data;
    assert_int_equal(rc, ZOK);
    __atomic_add_fetch(&answers, 1, __ATOMIC_SEQ_CST);
}

static void test_the_count_lets_waiters_in(void **state)
{
    (void)state;
    struct caller waiter;
    open_semaphore("/real/semaphore_count", 1, NULL);
    zhandle_t *zh = now.client.session.zh;
    assert_int_equal(ls_semaphore_acquire(&now.semaphore, 1, 1, -1), LS_OK);
    caller_start(&waiter, &now.client, PATIENCE_MS, acquire_lease);
    assert_int_equal(zoo_acreate(zh, COUNT, "\0\0\0\1", 4, &ZOO_OPEN_ACL_UNSAFE, 0, on_created, NULL), ZOK);
    assert_int_equal(ls_semaphore_follow(&now.semaphore, COUNT, on_capacity, &told), LS_OK);
    assert_int_equal(zoo_aset(zh, COUNT, "\0\0\0\2", 4, -1, on_set, NULL), ZOK);
    WAIT_UNTIL(__atomic_load_n(&told, __ATOMIC_SEQ_CST) == 2);
    assert_int_equal(caller_join(&waiter), LS_OK);
    assert_int_equal(ls_semaphore_release(&now.semaphore, 50), LS_OK);
    assert_int_equal(zoo_aset(zh, COUNT, "\0\0\0\1", 4, -1, on_set, NULL), ZOK);
    WAIT_UNTIL(__atomic_load_n(&told, __ATOMIC_SEQ_CST) == 1);
    assert_int_equal(ls_semaphore_acquire(&now.semaphore, 50, 1, 200), LS_ETIMEDOUT);
    assert_int_equal(ls_semaphore_release(&now.semaphore, 1), LS_OK);
    assert_int_equal(zoo_adelete(zh, COUNT, -1, on_deleted, NULL), ZOK);
    WAIT_UNTIL(__atomic_load_n(&answers, __ATOMIC_SEQ_CST) == 4);
    close_semaphore();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_another_thread_releases),
        cmocka_unit_test(test_close_ends_the_wait),
        cmocka_unit_test(test_blocking_calls_in_callbacks),
        cmocka_unit_test(test_the_count_lets_waiters_in),
    };
    zoo_set_debug_level((ZooLogLevel)0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
