/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Calls for which the client library finds no memory: F108. tests/real/test_short_of_memory.c makes them with the real one. */
#include "support/fakezk_bench.h"

#include <errno.h>

static void test_a_request_without_memory_is_never_sent(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    fakezk_fail_call(0, 2);
    assert_int_equal(bench_create(zh, "c", "/n", ZOO_PERSISTENT), ZOK);
    assert_int_equal(bench_exists(zh, "e", "/n", "v"), ZMARSHALLINGERROR);
    assert_int_equal(fakezk_failing_call(0), 0);
    assert_int_equal(bench_get(zh, "g", "/n", NULL), ZOK);
    assert_int_equal(bench_delete(zh, "d", "/n", -1), ZOK);
    bench_run();
    bench_saw("c 0 /n | g 0 null | d 0"); /* and no watch has heard of the delete */
    assert_int_equal(bench.events[FAKEZK_CALL_FAILED], 1);
}

static void test_each_request_may_lack_memory(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    bench_node("/n");
    assert_int_equal(bench_get(zh, "g", "/n", "v"), ZOK);
    bench_run();
    bench_forget();
    zoo_op_t op;
    zoo_op_result_t result;
    zoo_delete_op_init(&op, "/n", -1);
    for (int call = 0; call < 7; call++) {
        fakezk_fail_call(0, 1);
        int rc = call == 0   ? bench_create2(zh, "c", "/m", 0)
                 : call == 1 ? bench_set(zh, "s", "/n", "x", -1)
                 : call == 2 ? bench_delete(zh, "d", "/n", -1)
                 : call == 3 ? bench_sync(zh, "y", "/n")
                 : call == 4 ? bench_list2(zh, "l", "/", NULL)
                 : call == 5 ? bench_multi(zh, "m", 1, &op, &result)
                             : bench_unwatch(zh, "u", "/n", "v", ZWATCHTYPE_DATA);
        assert_int_equal(rc, ZMARSHALLINGERROR);
    }
    bench_run();
    bench_saw("");
    assert_true(fakezk_exists("/n"));
    assert_int_equal(bench_delete(zh, "d", "/n", -1), ZOK);
    bench_run();
    bench_saw("v deleted /n | d 0"); /* the watch stands */
}

/* What is wrong with a call comes before what it needs. */
static void test_a_call_that_is_refused_anyway_needs_no_memory(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    fakezk_fail_call(0, 1);
    assert_int_equal(bench_delete(zh, "d", "no-path", -1), ZBADARGUMENTS);
    assert_int_equal(bench_unwatch(zh, "u", "/n", "v", ZWATCHTYPE_DATA), ZNOWATCHER);
    assert_int_equal(fakezk_failing_call(0), 1);
    assert_true(fakezk_expire(fakezk_session(0, 0)));
    bench_run();
    bench_forget();
    assert_int_equal(bench_delete(zh, "d", "/n", -1), ZINVALIDSTATE);
    assert_int_equal(fakezk_failing_call(0), 1);
    fakezk_fail_call(0, 0);
    assert_int_equal(fakezk_failing_call(0), 0);
}

static void test_a_handle_without_memory_is_null(void **state)
{
    (void)state;
    fakezk_fail_call(0, 1);
    bench_enter(0);
    errno = 0;
    assert_null(zookeeper_init("server:2181", bench_watcher, BENCH_TIMEOUT_MS, NULL, bench_tag("w"), 0));
    assert_int_equal(errno, ENOMEM);
    bench_leave();
    bench_run();
    bench_saw("");
    bench_init(0, "w", "server:2181", NULL);
    bench_run();
    bench_saw("w connected");
}

static void test_credentials_without_memory_are_not_added(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    fakezk_fail_call(0, 1);
    bench_enter(0);
    assert_int_equal(zoo_add_auth(zh, "digest", "a:secret", 8, bench_void_done, "a"), ZSYSTEMERROR);
    assert_int_equal(zoo_acreate(zh, "/n", "x", 1, &ZOO_CREATOR_ALL_ACL, 0, bench_string_done, "c"), ZOK);
    bench_leave();
    bench_run();
    bench_saw("c -114"); /* nobody's: ZINVALIDACL */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_setup, bench_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_request_without_memory_is_never_sent),        TEST(test_each_request_may_lack_memory),
        TEST(test_a_call_that_is_refused_anyway_needs_no_memory), TEST(test_a_handle_without_memory_is_null),
        TEST(test_credentials_without_memory_are_not_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
