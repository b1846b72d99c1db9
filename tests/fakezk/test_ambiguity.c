/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Was it applied? F79 to F83: every fate of a write in flight. */
#include "support/fakezk_bench.h"

static void test_the_request_is_lost(void **state)
{
    (void)state;
    for (int servers = 1; servers <= 3; servers++) {
        bench_reopen(servers, 0);
        zhandle_t *zh = bench_connected(servers - 1, "w");
        assert_int_equal(bench_create(zh, "c", "/n", ZOO_PERSISTENT), ZOK);
        bench_cut(zh, 0, 0, ZCONNECTIONLOSS);
        bench_run();
        bench_saw("w connecting | c -4 | w connected");
        assert_false(fakezk_exists("/n"));
    }
}

static void test_the_request_is_applied_and_the_reply_lost(void **state)
{
    (void)state;
    static const int rcs[] = {ZCONNECTIONLOSS, ZOPERATIONTIMEOUT};
    static const char *const seen[] = {"w connecting | c -4 | w connected",
                                       "w connecting | c -7 | w connected"};
    for (int servers = 1; servers <= 3; servers++) {
        for (int i = 0; i < 2; i++) {
            bench_reopen(servers, 0);
            zhandle_t *zh = bench_connected(servers - 1, "w");
            assert_int_equal(bench_create(zh, "c", "/n", ZOO_EPHEMERAL), ZOK);
            bench_cut(zh, 0, 1, rcs[i]);
            bench_run();
            bench_saw(seen[i]);
            assert_true(fakezk_exists("/n"));
            assert_int_equal(bench_create(zh, "d", "/n", ZOO_EPHEMERAL), ZOK); /* F82 */
            bench_run();
            bench_saw("d -110");
        }
    }
}

static void test_any_cut_fails_in_order(void **state)
{
    (void)state;
    static const char *const tags[] = {"0", "1", "2", "3", "4"};
    for (int servers = 1; servers <= 3; servers++) {
        for (int applied = 0; applied <= 5; applied++) {
            for (int read = 0; applied + read <= 5; read++) {
                bench_reopen(servers, 0);
                zhandle_t *zh = bench_connected(servers - 1, "w");
                for (int i = 0; i < 5; i += 2) {
                    assert_int_equal(bench_exists(zh, tags[i], "/", NULL), ZOK);
                    if (i < 4) {
                        assert_int_equal(bench_create(zh, tags[i + 1], i == 0 ? "/a" : "/b", 0), ZOK);
                    }
                }
                for (int i = 0; i < applied && bench_can(FAKEZK_APPLY, BENCH_ANY); i++) {
                    bench_step(FAKEZK_APPLY, BENCH_ANY);
                }
                int unread = fakezk_unread_requests(servers - 1, 0);
                bench_cut(zh, 0, read < unread ? read : unread, ZCONNECTIONLOSS);
                bench_run();
                bench_saw("w connecting | 0 -4 | 1 -4 | 2 -4 | 3 -4 | 4 -4 | w connected");
                assert_int_equal(fakezk_exists("/a"), 5 - unread + (read < unread ? read : unread) >= 2);
                assert_int_equal(fakezk_exists("/b"), 5 - unread + (read < unread ? read : unread) >= 4);
            }
        }
    }
}

static void test_what_cannot_be_cut(void **state)
{
    (void)state;
    zhandle_t *zh = bench_init(0, "w", "server:2181", NULL);
    assert_false(fakezk_can_cut(0, 0, 0, 0, false)); /* no link */
    bench_run();
    assert_true(fakezk_can_cut(0, 0, 0, 0, false));
    assert_false(fakezk_can_cut(0, 1, 0, 0, false)); /* no handle */
    assert_false(fakezk_can_cut(0, 0, 1, 0, false));
    assert_false(fakezk_can_cut(0, 0, 0, 1, false));
    assert_false(fakezk_can_cut(0, 0, -1, 0, false));
    assert_false(fakezk_can_cut(0, 0, 0, -1, false));
    assert_int_equal(bench_create(zh, "c", "/n", ZOO_PERSISTENT), ZOK);
    assert_false(
        fakezk_cut(0, 0, 0, 1, ZCONNECTIONLOSS, true)); /* the leader's own client: nothing is forwarded */
    assert_true(fakezk_connected(0, 0));
}

/* A sequential create through follower 1 whose commit is late. */
static zhandle_t *late_create(void)
{
    bench_reopen(3, 0);
    zhandle_t *zh = bench_connected(1, "w");
    bench_node("/q");
    bench_run();
    assert_int_equal(bench_create(zh, "c", "/q/id-", ZOO_EPHEMERAL_SEQUENTIAL), ZOK);
    assert_int_equal(bench_exists(zh, "e", "/q", NULL), ZOK);
    assert_false(fakezk_can_cut(1, 0, 0, 2, true)); /* a read cannot be late */
    assert_false(fakezk_can_cut(1, 0, 0, 0, true));
    assert_true(fakezk_cut(1, 0, 0, 1, ZCONNECTIONLOSS, true));
    bench_step_at(FAKEZK_CONNECT, 1, 2);
    while (bench_can(FAKEZK_DELIVER, 1)) {
        bench_step(FAKEZK_DELIVER, 1);
    }
    bench_saw("w connecting | c -4 | e -4 | w connected");
    assert_false(fakezk_quiet());
    assert_false(fakezk_quiet());
    return zh;
}

static void test_a_late_write_is_missed_by_a_look_right_after_the_reconnect(void **state)
{
    (void)state;
    zhandle_t *zh = late_create();
    assert_int_equal(bench_list(zh, "l", "/q", NULL), ZOK);
    bench_step(FAKEZK_APPLY, 1);
    bench_step(FAKEZK_DELIVER, 1);
    bench_saw("l 0 []");
    bench_step(FAKEZK_COMMIT, 1);
    assert_false(bench_can(FAKEZK_COMMIT, BENCH_ANY));
    bench_run();
    assert_int_equal(bench_list(zh, "l", "/q", NULL), ZOK);
    bench_run();
    bench_saw("l 0 [id-0000000000]");
}

static void test_a_sync_closes_the_hole(void **state)
{
    (void)state;
    zhandle_t *zh = late_create();
    assert_int_equal(bench_sync(zh, "s", "/q"), ZOK);
    assert_int_equal(bench_list(zh, "l", "/q", NULL), ZOK);
    bench_step(FAKEZK_APPLY, 1);
    assert_false(bench_can(FAKEZK_COMMIT, BENCH_ANY));
    bench_run();
    bench_saw("s 0 /q | l 0 [id-0000000000]");
}

static void test_a_write_closes_the_hole(void **state)
{
    (void)state;
    zhandle_t *zh = late_create();
    assert_int_equal(bench_create(zh, "d", "/q/id-", ZOO_EPHEMERAL_SEQUENTIAL), ZOK);
    bench_run();
    bench_saw("d 0 /q/id-0000000001"); /* F80: the retry has made a second one */
}

static void test_a_late_write_of_a_dead_session_is_refused(void **state)
{
    (void)state;
    late_create();
    assert_true(fakezk_expire(fakezk_session(1, 0)));
    bench_step(FAKEZK_COMMIT, 1);
    assert_int_equal(bench.events[FAKEZK_NODE_CREATED], 1);
    bench_run();
    assert_true(fakezk_quiet());
}

static void test_the_operator_comes_after_late_writes(void **state)
{
    (void)state;
    late_create();
    assert_true(fakezk_operator_remove("/q"));
    assert_false(fakezk_exists("/q"));
    assert_int_equal(bench.events[FAKEZK_NODE_CREATED], 2);
    assert_int_equal(bench.events[FAKEZK_NODE_DELETED], 2);
    bench_run();
}

static void test_a_late_multi_may_fail_and_still_takes_a_zxid(void **state)
{
    (void)state;
    bench_reopen(2, 0);
    zhandle_t *zh = bench_connected(1, "w");
    zoo_op_t ops[2];
    zoo_op_result_t results[2];
    zoo_create_op_init(&ops[0], "/m", "data", 4, &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0);
    zoo_check_op_init(&ops[1], "/none", -1);
    assert_int_equal(bench_multi(zh, "m", 2, ops, results), ZOK);
    assert_true(fakezk_cut(1, 0, 0, 1, ZOPERATIONTIMEOUT, true));
    int32_t before = fakezk_last_zxid();
    bench_step(FAKEZK_COMMIT, BENCH_ANY);
    assert_int_equal(fakezk_last_zxid(), before + 1);
    assert_false(fakezk_exists("/m"));
    bench_run();
    bench_saw("w connecting | m -7 | w connected");
    assert_int_equal(results[1].err, ZOPERATIONTIMEOUT);
}

static void test_certainly_not_applied(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    bench_cut(zh, 0, 0, ZCONNECTIONLOSS);
    assert_int_equal(bench_create(zh, "c", "/n", ZOO_PERSISTENT), ZOK);
    assert_true(fakezk_expire(fakezk_session(0, 0)));
    bench_run();
    bench_saw("w connecting | w expired | c -112");
    assert_int_equal(bench_create(zh, "c", "/n", ZOO_PERSISTENT), ZINVALIDSTATE);
    assert_int_equal(bench_create(zh, "c", "n", ZOO_PERSISTENT), ZBADARGUMENTS);
    bench_run();
    assert_false(fakezk_exists("/n"));
}

static void test_retries_meet_their_own_first_try(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    bench_node("/n");
    bench_node("/p");
    assert_int_equal(bench_set(zh, "1", "/n", "x", 0), ZOK);
    bench_cut(zh, 0, 1, ZCONNECTIONLOSS);
    assert_int_equal(bench_set(zh, "2", "/n", "x", 0), ZOK);
    bench_run();
    bench_saw("w connecting | 1 -4 | w connected | 2 -103");
    assert_int_equal(bench_delete(zh, "1", "/n", -1), ZOK);
    bench_cut(zh, 0, 1, ZOPERATIONTIMEOUT);
    assert_int_equal(bench_delete(zh, "2", "/n", -1), ZOK);
    bench_run();
    bench_saw("w connecting | 1 -7 | w connected | 2 -101");
    assert_int_equal(bench_create(zh, "1", "/p/x-", ZOO_EPHEMERAL_SEQUENTIAL), ZOK);
    bench_cut(zh, 0, 1, ZOPERATIONTIMEOUT);
    assert_int_equal(bench_create(zh, "2", "/p/x-", ZOO_EPHEMERAL_SEQUENTIAL), ZOK);
    assert_int_equal(bench_list(zh, "l", "/p", NULL), ZOK);
    bench_run();
    bench_saw("w connecting | 1 -7 | w connected | 2 0 /p/x-0000000001 | l 0 [x-0000000000 x-0000000001]");
}

static void test_a_found_node_may_belong_to_the_former_session(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(bench_create(zh, "c", "/id", ZOO_EPHEMERAL), ZOK);
    bench_cut(zh, 0, 1, ZCONNECTIONLOSS);
    int64_t former = bench_id(zh).client_id;
    assert_int_equal(bench_close(zh), ZOK);
    zh = bench_connected(0, "v");
    assert_int_equal(bench_exists(zh, "e", "/id", NULL), ZOK);
    bench_run();
    bench_saw("e 0");
    assert_int_equal(bench.stat.ephemeralOwner, former);
    assert_int_not_equal(bench.stat.ephemeralOwner, bench_id(zh).client_id);
}

static void test_an_ambiguous_delete_may_leave_the_node(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(bench_create(zh, "c", "/lock", ZOO_EPHEMERAL), ZOK);
    bench_run();
    assert_int_equal(bench_delete(zh, "d", "/lock", -1), ZOK);
    bench_cut(zh, 0, 0, ZCONNECTIONLOSS);
    bench_run();
    bench_saw("c 0 /lock | w connecting | d -4 | w connected");
    assert_true(fakezk_exists("/lock")); /* held for as long as the session lives */
    assert_int_equal(bench_delete(zh, "d", "/lock", -1), ZOK);
    bench_run();
    bench_saw("d 0");
    assert_false(fakezk_exists("/lock"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_setup, bench_teardown)

/* What a loss would hide: a write that is applied, whose answer the client would not get. */
static void test_a_loss_hides_a_write_that_was_applied(void **state)
{
    (void)state;
    bench_reopen(1, 0);
    zhandle_t *zh = bench_connected(0, "w");
    assert_false(fakezk_hides_write(0, 0, 0, 1)); /* nothing is asked */
    assert_int_equal(bench_create(zh, "c", "/n", ZOO_PERSISTENT), ZOK);
    assert_false(fakezk_hides_write(0, 0, 0, 0)); /* lost, and not applied */
    assert_true(fakezk_hides_write(0, 0, 0, 1));
    bench_step(FAKEZK_APPLY, BENCH_ANY);
    assert_true(fakezk_hides_write(0, 0, 0, 0));
    assert_false(fakezk_hides_write(0, 0, 1, 0)); /* its answer is kept */
    bench_run();
    assert_int_equal(bench_exists(zh, "e", "/n", NULL), ZOK);
    assert_false(fakezk_hides_write(0, 0, 0, 1)); /* a read */
    bench_run();
    bench_saw("c 0 /n | e 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_loss_hides_a_write_that_was_applied),
        TEST(test_the_request_is_lost),
        TEST(test_the_request_is_applied_and_the_reply_lost),
        TEST(test_any_cut_fails_in_order),
        TEST(test_what_cannot_be_cut),
        TEST(test_a_late_write_is_missed_by_a_look_right_after_the_reconnect),
        TEST(test_a_sync_closes_the_hole),
        TEST(test_a_write_closes_the_hole),
        TEST(test_a_late_write_of_a_dead_session_is_refused),
        TEST(test_the_operator_comes_after_late_writes),
        TEST(test_a_late_multi_may_fail_and_still_takes_a_zxid),
        TEST(test_certainly_not_applied),
        TEST(test_retries_meet_their_own_first_try),
        TEST(test_a_found_node_may_belong_to_the_former_session),
        TEST(test_an_ambiguous_delete_may_leave_the_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
