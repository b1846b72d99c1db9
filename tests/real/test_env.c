/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The environment of applications by itself (include/lockstep/env_pthread.h): what it answers when memory or threads are
 * short, and what waiters, threads and bytes are. It needs no server. */
#include "stage.h"

/* Counted from now on: the nth call fails; 0 = none does. */
static int fail_calloc, fail_create;
static int freed, destroyed;

/* The linker wants these names. NOLINTBEGIN(bugprone-reserved-identifier) */
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void __real_free(void *memory);
void __wrap_free(void *memory);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *ctx), void *ctx);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *ctx), void *ctx);
int __real_pthread_cond_destroy(pthread_cond_t *cond);
int __wrap_pthread_cond_destroy(pthread_cond_t *cond);
/* NOLINTEND(bugprone-reserved-identifier) */

void *__wrap_calloc(size_t count, size_t size)
{
    return fail_calloc > 0 && --fail_calloc == 0 ? NULL : __real_calloc(count, size);
}

void __wrap_free(void *memory)
{
    __atomic_add_fetch(&freed, 1, __ATOMIC_RELAXED);
    __real_free(memory);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *ctx), void *ctx)
{
    return fail_create > 0 && --fail_create == 0 ? EAGAIN : __real_pthread_create(thread, attr, run, ctx);
}

int __wrap_pthread_cond_destroy(pthread_cond_t *cond)
{
    destroyed++;
    return __real_pthread_cond_destroy(cond);
}

static void an_environment_that_cannot_be_made_says_so(void **state)
{
    (void)state;
    struct ls_env *env = NULL;
    for (int n = 1; n <= 3; n++) { /* its memory, its two threads' */
        fail_calloc = n;
        assert_int_equal(ls_env_pthread_open(&env), LS_ENOMEM);
        assert_null(env);
    }
    for (int n = 1; n <= 2; n++) {
        fail_create = n;
        assert_int_equal(ls_env_pthread_open(&env), LS_ENOMEM);
        assert_null(env);
    }
    fail_calloc = fail_create = 0;
    assert_int_equal(ls_env_pthread_open(&env), LS_OK);
    assert_int_equal(ls_env_pthread_close(env), LS_OK);
}

static void never(void *ctx)
{
    (void)ctx;
    abort();
}

static void a_timer_without_memory_is_not_armed(void **state)
{
    (void)state;
    struct ls_env *env;
    struct ls_timer timer = {.armed = 0};
    assert_int_equal(ls_env_pthread_open(&env), LS_OK);
    ls_env_lock(env);
    fail_calloc = 1;
    assert_int_equal(ls_env_timer_start(env, &timer, "some-timer", 0, never, NULL), LS_ENOMEM);
    assert_int_equal(timer.armed, 0);
    assert_int_equal(ls_env_timer_start(env, &timer, "some-timer", 60000, never, NULL), LS_OK);
    assert_int_not_equal(timer.armed, 0);
    ls_env_timer_stop(env, &timer);
    assert_int_equal(timer.armed, 0);
    ls_env_unlock(env);
    assert_int_equal(ls_env_pthread_close(env), LS_OK);
}

static void an_environment_is_not_closed_in_a_callback(void **state)
{
    (void)state;
    struct ls_env *env, *other;
    assert_int_equal(ls_env_pthread_open(&env), LS_OK);
    assert_int_equal(ls_env_pthread_open(&other), LS_OK);
    assert_false(ls_env_in_callback(env));
    ls_env_callback_enter(env);
    assert_true(ls_env_in_callback(env));
    assert_false(ls_env_in_callback(other));
    assert_int_equal(ls_env_pthread_close(env), LS_EDEADLK);
    assert_int_equal(ls_env_pthread_close(other), LS_OK);
    ls_env_callback_leave(env);
    assert_false(ls_env_in_callback(env));
    assert_int_equal(ls_env_pthread_close(env), LS_OK);
}

/* ---- threads ---- */

static struct {
    struct ls_env *env;
    struct ls_waiter waiter;
    bool asleep, woken;
    uint64_t self;
} other;

static void *sleep_until_woken(void *ctx)
{
    (void)ctx;
    ls_env_lock(other.env);
    other.self = ls_env_self(other.env);
    other.asleep = true;
    while (!other.woken)
        ls_env_wait(other.env, &other.waiter);
    ls_env_unlock(other.env);
    return NULL;
}

static bool other_sleeps(void)
{
    ls_env_lock(other.env);
    bool asleep = other.asleep;
    ls_env_unlock(other.env);
    return asleep;
}

static void a_thread_sleeps_until_it_is_woken(void **state)
{
    (void)state;
    pthread_t thread;
    assert_int_equal(ls_env_pthread_open(&other.env), LS_OK);
    memset(&other.waiter, 0xa5, sizeof other.waiter); /* no condition variable begins so */
    ls_env_waiter_init(other.env, &other.waiter);
    assert_int_equal(pthread_create(&thread, NULL, sleep_until_woken, NULL), 0);
    WAIT_UNTIL(other_sleeps());
    ls_env_lock(other.env);
    other.woken = true;
    ls_env_wake(other.env, &other.waiter);
    ls_env_unlock(other.env);
    assert_int_equal(pthread_join(thread, NULL), 0);
    destroyed = 0;
    ls_env_waiter_close(other.env, &other.waiter);
    assert_int_equal(destroyed, 1);
    uint64_t self = ls_env_self(other.env);
    assert_true((self & LS_ENV_THREAD) && (other.self & LS_ENV_THREAD));
    assert_true(self != other.self && self == ls_env_self(other.env));
    assert_int_equal(ls_env_pthread_close(other.env), LS_OK);
}

/* ---- time and bytes ---- */

static void stamps_count_up(void **state)
{
    (void)state;
    struct ls_env *env;
    struct ls_stamp stamp = {.opaque = 0};
    assert_int_equal(ls_env_pthread_open(&env), LS_OK);
    assert_true(ls_env_elapsed_ms(env, &stamp) == INT64_MAX);
    ls_env_stamp(env, &stamp);
    pause_ms(20);
    int64_t elapsed_ms = ls_env_elapsed_ms(env, &stamp);
    assert_true(elapsed_ms >= 20 && elapsed_ms < PATIENCE_MS);
    assert_int_equal(ls_env_pthread_close(env), LS_OK);
}

static bool is_zero(const uint8_t *bytes, size_t size)
{
    size_t zeros = 0;
    while (zeros < size && bytes[zeros] == 0)
        zeros++;
    return zeros == size;
}

static void bytes_are_random_ids_unique_and_memory_zeroed(void **state)
{
    (void)state;
    struct ls_env *env;
    uint8_t bytes[32] = {0}, id[2][16] = {{0}};
    assert_int_equal(ls_env_pthread_open(&env), LS_OK);
    ls_env_random(env, bytes, sizeof bytes);
    assert_false(is_zero(bytes, 16) || is_zero(bytes + 16, 16));
    for (int i = 0; i < 2; i++) {
        ls_env_unique_id(env, id[i]);
        assert_int_equal(id[i][6] >> 4, 4);
        assert_int_equal(id[i][8] >> 6, 2);
    }
    assert_memory_not_equal(id[0], id[1], 16);
    uint8_t *memory = ls_env_alloc(env, 100);
    assert_non_null(memory);
    assert_true(is_zero(memory, 100) && (uintptr_t)memory % 8 == 0);
    int before = __atomic_load_n(&freed, __ATOMIC_RELAXED);
    ls_env_free(env, memory);
    assert_int_equal(__atomic_load_n(&freed, __ATOMIC_RELAXED), before + 1);
    ls_env_free(env, NULL);
    assert_int_equal(ls_env_pthread_close(env), LS_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_environment_that_cannot_be_made_says_so),
        cmocka_unit_test(a_timer_without_memory_is_not_armed),
        cmocka_unit_test(an_environment_is_not_closed_in_a_callback),
        cmocka_unit_test(a_thread_sleeps_until_it_is_woken),
        cmocka_unit_test(stamps_count_up),
        cmocka_unit_test(bytes_are_random_ids_unique_and_memory_zeroed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
