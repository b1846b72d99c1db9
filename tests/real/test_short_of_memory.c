/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* What the real client library does with a call for which it finds no memory (F108). Only calls whose first block is missing are
 * made: if a later one is, the library answers a request that it has refused, or accesses NULL. */
#include "stage.h"

#include <stdatomic.h>
#include <zookeeper/zookeeper.h>

/* The place of a sanitizer's own functions cannot be taken. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SANITIZED 1
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

#ifdef SANITIZED

int main(void)
{
    return 77; /* skipped */
}

#else

static _Thread_local bool fails; /* the next calloc() of this thread */

/* glibc names it so. NOLINTNEXTLINE(bugprone-reserved-identifier) */
extern void *__libc_calloc(size_t count, size_t size);

/* Stands before the C library's, for the client library too. */
void *calloc(size_t count, size_t size)
{
    if (fails) {
        fails = false;
        errno = ENOMEM;
        return NULL;
    }
    return __libc_calloc(count, size);
}

static atomic_int answers;

static void on_event(zhandle_t *zh, int type, int state, const char *path, void *ctx)
{
    (void)zh, (void)type, (void)state, (void)path, (void)ctx;
}

static void on_stat(int rc, const struct Stat *stat, const void *ctx)
{
    (void)rc, (void)stat, (void)ctx;
    atomic_fetch_add(&answers, 1);
}

static void on_void(int rc, const void *ctx)
{
    (void)rc, (void)ctx;
    atomic_fetch_add(&answers, 1);
}

static void test_a_request_without_memory_is_never_answered(void **state)
{
    (void)state;
    zhandle_t *zh = zookeeper_init(server(), on_event, 4000, NULL, NULL, 0);
    assert_non_null(zh);
    WAIT_UNTIL(zoo_state(zh) == ZOO_CONNECTED_STATE);
    fails = true;
    assert_int_equal(zoo_aexists(zh, "/", 0, on_stat, NULL), ZMARSHALLINGERROR);
    fails = true;
    assert_int_equal(zoo_adelete(zh, "/nothing", -1, on_void, NULL), ZMARSHALLINGERROR);
    assert_false(fails);
    assert_int_equal(zoo_aexists(zh, "/", 0, on_stat, NULL), ZOK);
    WAIT_UNTIL(atomic_load(&answers) > 0);
    assert_int_equal(zookeeper_close(zh), ZOK);
    assert_int_equal(atomic_load(&answers), 1);
}

static void test_a_handle_without_memory_is_null(void **state)
{
    (void)state;
    fails = true;
    errno = 0;
    assert_null(zookeeper_init(server(), on_event, 4000, NULL, NULL, 0));
    assert_int_equal(errno, ENOMEM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_request_without_memory_is_never_answered),
        cmocka_unit_test(test_a_handle_without_memory_is_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
