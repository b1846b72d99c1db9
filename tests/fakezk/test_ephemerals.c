/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Ephemerals when their session ends: F84 to F90. */
#include "support/fakezk_bench.h"

static zhandle_t *holder(int client, int nodes)
{
    static const char *const paths[] = {"/p/0", "/p/1", "/p/2"};
    zhandle_t *zh = bench_connected(client, "h");
    for (int i = 0; i < nodes; i++) {
        assert_int_equal(bench_create(zh, "c", paths[i], ZOO_EPHEMERAL), ZOK);
        bench_run();
    }
    bench_forget();
    return zh;
}

static void read_inside(zhandle_t *zh, const char *tag)
{
    if (tag[0] == '/' && bench_list(zh, "l", "/p", NULL) != ZOK) {
        fail_msg("cannot list");
    }
}

static void watch_siblings(uint64_t seed, const char *seen)
{
    struct fakezk_options options = bench.options;
    options.seed = seed;
    bench_reopen_with(&options);
    bench_node("/p");
    holder(0, 3);
    zhandle_t *zh = bench_connected(1, "w");
    assert_int_equal(bench_exists(zh, "e", "/p/0", "/0"), ZOK);
    assert_int_equal(bench_exists(zh, "e", "/p/1", "/1"), ZOK);
    assert_int_equal(bench_exists(zh, "e", "/p/2", "/2"), ZOK);
    assert_int_equal(bench_list(zh, "p", "/p", "parent"), ZOK);
    bench_run();
    bench_forget();
    int32_t before = fakezk_last_zxid();
    assert_true(fakezk_expire(fakezk_session(0, 0)));
    assert_int_equal(fakezk_last_zxid(), before);
    bench_step(FAKEZK_BURY, 0);
    assert_int_equal(fakezk_last_zxid(), before + 1); /* one transaction */
    bench.hook = read_inside;
    while (bench_can(FAKEZK_DELIVER, 1)) {
        bench_step(FAKEZK_DELIVER, 1);
    }
    bench.hook = NULL;
    bench_saw(seen);
    bench_step(FAKEZK_APPLY, 1);
    bench_step(FAKEZK_DELIVER, 1);
    bench_saw("l 0 []"); /* asked inside the first event, it sees all gone */
    assert_int_equal(bench_exists(zh, "x", "/p", NULL), ZOK);
    bench_run();
    assert_int_equal(bench.stat.pzxid, FAKEZK_EPOCH + before + 1);
    assert_int_equal(bench.stat.cversion, 6);
}

static void test_all_go_at_once_but_are_told_one_by_one(void **state)
{
    (void)state;
    watch_siblings(0, "/0 deleted /p/0 | parent child /p | /1 deleted /p/1 | /2 deleted /p/2");
    watch_siblings(4, "/2 deleted /p/2 | parent child /p | /1 deleted /p/1 | /0 deleted /p/0");
}

static void test_creates_in_flight_go_with_the_session(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    for (int i = 0; i < 20; i++) {
        assert_int_equal(bench_create(zh, "c", "/n-", ZOO_EPHEMERAL_SEQUENTIAL), ZOK);
    }
    assert_int_equal(bench_close(zh), ZOK);
    assert_int_equal(bench.events[FAKEZK_NODE_CREATED], 20);
    assert_int_equal(bench.events[FAKEZK_NODE_DELETED], 20);
    bench_run();
    assert_false(fakezk_exists("/n-0000000000"));
    assert_false(fakezk_exists("/n-0000000019"));
}

static void test_nothing_is_executed_after_the_close(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(bench_create(zh, "c", "/n", ZOO_EPHEMERAL), ZOK);
    assert_true(fakezk_expire(fakezk_session(0, 0)));
    bench_step(FAKEZK_BURY, 0);
    bench_run();
    bench_saw("w connecting | c -4 | w expired");
    assert_int_equal(bench.events[FAKEZK_NODE_CREATED], 0);
}

static void test_a_session_opened_before_the_expiry_sees_the_old_node(void **state)
{
    (void)state;
    bench_node("/p");
    zhandle_t *zh = holder(0, 1);
    fakezk_partition(0, true);
    bench_step(FAKEZK_GIVE_UP, 0);
    fakezk_partition(0, false);
    assert_int_equal(bench_close(zh), ZOK);
    zh = bench_connected(0, "w");
    assert_int_equal(bench_create(zh, "c", "/p/0", ZOO_EPHEMERAL), ZOK);
    bench_run();
    bench_saw("c -110");
    int32_t live[3];
    assert_int_equal(fakezk_sessions(0, false, live, 3), 2);
    assert_true(fakezk_expire(live[0]));
    bench_run();
    assert_false(fakezk_exists("/p/0"));
    assert_int_equal(bench_create(zh, "c", "/p/0", ZOO_EPHEMERAL), ZOK);
    bench_run();
    bench_saw("c 0 /p/0");
}

static void test_a_session_opened_after_the_end_does_not_see_it(void **state)
{
    (void)state;
    bench_reopen(2, 0);
    bench_node("/p");
    bench_run();
    zhandle_t *other = bench_connected(0, "o");
    zhandle_t *zh = holder(1, 1);
    fakezk_lag(1, true);
    assert_true(fakezk_expire(fakezk_session(1, 0)));
    bench_step(FAKEZK_BURY, 1);
    bench_cut(zh, 0, 0, ZCONNECTIONLOSS);
    bench_step_at(FAKEZK_CONNECT, 1, 1);
    assert_int_equal(bench_close(zh), ZOK);
    bench_cut(other, 0, 0, ZCONNECTIONLOSS);
    bench_step_at(FAKEZK_CONNECT, 0, 1); /* a session that is already open, on the follower that lags */
    bench_forget();
    assert_int_equal(bench_exists(other, "old", "/p/0", NULL), ZOK);
    bench_step(FAKEZK_APPLY, 0);
    zhandle_t *anew = bench_init(2, "w", "h", NULL);
    bench_step_at(FAKEZK_CONNECT, 2, 1); /* a new one: the follower has applied its creation */
    assert_int_equal(bench_exists(anew, "new", "/p/0", NULL), ZOK);
    bench_run();
    bench_saw("o connecting | o connected | old 0 | w connected | new -101");
}

static void test_sessions_of_one_moment_end_in_any_order(void **state)
{
    (void)state;
    for (int first = 0; first < 2; first++) {
        bench_reopen(1, 0);
        bench_connected(0, "a");
        bench_connected(1, "b");
        assert_true(fakezk_expire(fakezk_session(0, 0)));
        assert_true(fakezk_expire(fakezk_session(1, 0)));
        int32_t before = fakezk_last_zxid();
        bench_step(FAKEZK_BURY, first);
        assert_int_equal(bench.event[FAKEZK_SESSION_CLOSED].client, first);
        bench_step(FAKEZK_BURY, 1 - first);
        assert_int_equal(fakezk_last_zxid(), before + 2);
    }
}

static void test_close_ends_the_session_at_once(void **state)
{
    (void)state;
    bench_node("/p");
    zhandle_t *zh = holder(0, 2);
    zhandle_t *other = bench_connected(1, "w");
    assert_int_equal(bench_exists(other, "e", "/p/0", "x"), ZOK);
    bench_run();
    bench_forget();
    int32_t before = fakezk_last_zxid();
    assert_int_equal(bench_close(zh), ZOK);
    assert_int_equal(fakezk_last_zxid(), before + 1);
    assert_int_equal(bench.events[FAKEZK_SESSION_CLOSED], 1);
    bench_run();
    bench_saw("x deleted /p/0");
}

/* Of the last node that was deleted: 1 + the client whose request did it, while its session lived. */
static int actor(void)
{
    bench_run();
    return bench.event[FAKEZK_NODE_DELETED].actor;
}

static void test_a_delete_names_the_client_that_asked_for_it(void **state)
{
    (void)state;
    bench_node("/p");
    zhandle_t *zh = holder(0, 3);
    zhandle_t *other = bench_connected(1, "w");
    assert_int_equal(bench_delete(zh, "d", "/p/0", -1), ZOK);
    assert_int_equal(actor(), 1);
    assert_int_equal(bench_delete(other, "d", "/p/1", -1), ZOK);
    assert_int_equal(actor(), 2);
    assert_int_equal(bench.event[FAKEZK_NODE_DELETED].client, 0); /* whose node it was */
    assert_true(fakezk_operator_remove("/p/2"));
    assert_int_equal(actor(), 255); /* the operator */
    assert_int_equal(bench.events[FAKEZK_NODE_DELETED], 3);
}

static void test_the_oldest_ephemeral_of_a_client_is_found(void **state)
{
    (void)state;
    bench_node("/p");
    zhandle_t *first = bench_connected(0, "w");
    zhandle_t *second = bench_connected(1, "w");
    assert_null(fakezk_ephemeral_child("/p", 0));
    assert_int_equal(bench_create(second, "c", "/p/a", ZOO_EPHEMERAL), ZOK);
    bench_run();
    assert_int_equal(bench_create(first, "c", "/p/c", ZOO_EPHEMERAL), ZOK);
    bench_run();
    assert_int_equal(bench_create(first, "c", "/p/b", ZOO_EPHEMERAL), ZOK);
    bench_run();
    assert_string_equal(fakezk_ephemeral_child("/p", 0), "/p/c");
    assert_true(fakezk_operator_remove("/p/c"));
    assert_string_equal(fakezk_ephemeral_child("/p", 0), "/p/b");
    assert_string_equal(fakezk_ephemeral_child("/p", 1), "/p/a");
}

static void test_who_deletes_after_the_session_is_not_named(void **state)
{
    (void)state;
    bench_node("/p");
    holder(0, 2);
    zhandle_t *other = bench_connected(1, "w");
    assert_true(fakezk_expire(fakezk_session(0, 0)));
    assert_int_equal(bench.event[FAKEZK_SESSION_CLOSING].code, 0); /* before its time, if there is one */
    assert_int_equal(bench_delete(other, "d", "/p/0", -1), ZOK);
    bench_step(FAKEZK_APPLY, 1);
    assert_int_equal(bench.events[FAKEZK_NODE_DELETED], 1);
    assert_int_equal(bench.event[FAKEZK_NODE_DELETED].actor, 0);
    bench_step(FAKEZK_BURY, 0);
    assert_int_equal(bench.events[FAKEZK_NODE_DELETED], 2);
    assert_int_equal(bench.event[FAKEZK_NODE_DELETED].actor, 0); /* the server takes the rest */
    bench_run();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_setup, bench_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_all_go_at_once_but_are_told_one_by_one),
        TEST(test_creates_in_flight_go_with_the_session),
        TEST(test_nothing_is_executed_after_the_close),
        TEST(test_a_session_opened_before_the_expiry_sees_the_old_node),
        TEST(test_a_session_opened_after_the_end_does_not_see_it),
        TEST(test_sessions_of_one_moment_end_in_any_order),
        TEST(test_close_ends_the_session_at_once),
        TEST(test_a_delete_names_the_client_that_asked_for_it),
        TEST(test_the_oldest_ephemeral_of_a_client_is_found),
        TEST(test_who_deletes_after_the_session_is_not_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
