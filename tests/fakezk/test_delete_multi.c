/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Deleting, setting, and several at once: F16, F41, F56, F59 to F65. */
#include "support/fakezk_bench.h"

#include "fakezk/internal.h"

#define OPS_MAX 16

static zoo_op_t ops[OPS_MAX + 1];
static zoo_op_result_t results[OPS_MAX + 1];
static int count;

static void begin(void)
{
    memset(ops, 0, sizeof ops);
    memset(results, 0x55, sizeof results);
    count = 0;
}

static void op_create(const char *path, int mode, char *buffer, int size)
{
    zoo_create_op_init(&ops[count++], path, NULL, -1, &ZOO_OPEN_ACL_UNSAFE, mode, buffer, size);
}

static void op_delete(const char *path, int version)
{
    zoo_delete_op_init(&ops[count++], path, version);
}

static void op_set(const char *path, const char *data, int version, struct Stat *stat)
{
    zoo_set_op_init(&ops[count++], path, data, (int)strlen(data), version, stat);
}

static void op_check(const char *path, int version)
{
    zoo_check_op_init(&ops[count++], path, version);
}

static void run_multi(zhandle_t *zh, const char *seen)
{
    assert_int_equal(bench_multi(zh, "m", count, ops, results), ZOK);
    bench_run();
    bench_saw(seen);
}

static void test_the_order_of_checks_in_delete(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    bench_node("/p/n/child");
    assert_int_equal(bench_delete(zh, "1", "/none/n", 5), ZOK);
    assert_int_equal(bench_delete(zh, "2", "/p/none", 5), ZOK);
    assert_int_equal(bench_delete(zh, "3", "/p/n", 5), ZOK);
    assert_int_equal(bench_delete(zh, "4", "/p/n", 0), ZOK);
    assert_int_equal(bench_delete(zh, "5", "/p/n", -2), ZOK);
    assert_int_equal(bench_delete(zh, "6", "/p/n/child", 0), ZOK);
    assert_int_equal(bench_delete(zh, "7", "/p/n", -1), ZOK);
    bench_run();
    bench_saw("1 -101 | 2 -101 | 3 -103 | 4 -111 | 5 -103 | 6 0 | 7 0");
    assert_false(fakezk_exists("/p/n"));
}

static void test_some_nodes_stay(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(bench_delete(zh, "1", "/", -1), ZOK);
    assert_int_equal(bench_delete(zh, "2", "/zookeeper", -1), ZOK);
    bench_run();
    bench_saw("1 -8 | 2 -8");
    assert_true(fakezk_exists("/"));
    assert_false(fakezk_operator_remove("/"));
    assert_false(fakezk_operator_remove("/none"));
}

static void test_versions(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    bench_node("/n");
    assert_int_equal(bench_set(zh, "1", "/n", "a", 0), ZOK);
    assert_int_equal(bench_set(zh, "2", "/n", "b", 0), ZOK);
    assert_int_equal(bench_set(zh, "3", "/n", "c", -1), ZOK);
    assert_int_equal(bench_set(zh, "4", "/n", "d", -2), ZOK);
    assert_int_equal(bench_set(zh, "5", "/none", "e", -1), ZOK);
    bench_run();
    bench_saw("1 0 | 2 -103 | 3 0 | 4 -103 | 5 -101");
    /* Nobody writes two thousand million times: the version is put to its end by hand. */
    server_mark(0);
    tree_find(0, "/n")->stat.version = INT32_MAX;
    assert_int_equal(bench_set(zh, "6", "/n", "f", INT32_MAX), ZOK);
    bench_run();
    bench_saw("6 0");
    assert_int_equal(bench.stat.version, INT32_MIN);
    tree_find(0, "/n")->stat.version = -2;
    assert_int_equal(bench_set(zh, "7", "/n", "g", -2), ZOK);
    bench_run();
    bench_saw("7 0");
    assert_int_equal(bench.stat.version, -1);
}

static void test_a_node_created_again_starts_at_version_zero(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    bench_node("/n");
    int32_t czxid = fakezk_czxid("/n");
    assert_int_equal(bench_set(zh, "s", "/n", "a", 0), ZOK);
    assert_int_equal(bench_delete(zh, "d", "/n", 1), ZOK);
    assert_int_equal(bench_create2(zh, "c", "/n", ZOO_PERSISTENT), ZOK);
    bench_run();
    bench_saw("s 0 | d 0 | c 0 /n");
    assert_int_equal(bench.stat.version, 0);
    assert_true(fakezk_czxid("/n") > czxid);
    assert_int_equal(bench_set(zh, "s", "/n", "b", 0), ZOK); /* the version of another life */
    bench_run();
    bench_saw("s 0");
}

static void test_each_operation_sees_those_before_it(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    bench_node("/p");
    char first[64];
    char second[64];
    struct Stat stat;
    begin();
    op_create("/p/a", ZOO_PERSISTENT, NULL, 0);
    op_set("/p/a", "x", 0, &stat);
    op_check("/p/a", 1);
    op_delete("/p/a", 1);
    op_create("/p/s-", ZOO_EPHEMERAL_SEQUENTIAL, first, sizeof first);
    op_create("/p/s-", ZOO_EPHEMERAL_SEQUENTIAL, second, sizeof second);
    run_multi(zh, "m 0");
    for (int i = 0; i < count; i++) {
        assert_int_equal(results[i].err, ZOK);
    }
    assert_string_equal(first, "/p/s-0000000001");
    assert_string_equal(second, "/p/s-0000000002");
    assert_ptr_equal(results[4].value, first);
    assert_int_equal(results[4].valuelen, sizeof first);
    assert_ptr_equal(results[1].stat, &stat);
    assert_int_equal(stat.version, 1);
    assert_int_equal(fakezk_czxid(first), fakezk_czxid(second));
    assert_int_equal(stat.mzxid, FAKEZK_EPOCH + fakezk_czxid(first));
    assert_false(fakezk_exists("/p/a"));
    assert_int_equal(bench.events[FAKEZK_EFFECT], 1);
    assert_int_equal(bench.event[FAKEZK_EFFECT].code, 1);
}

/* The check of a node that the client may not read says nothing about the node: no effect was refused by it. */
static void test_a_check_without_a_permission(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    bench_node("/old");
    bench_node("/none");
    bench_run();
    for (int permitted = 0; permitted < 2; permitted++) {
        assert_true(fakezk_operator_set_perms("/none", permitted ? ZOO_PERM_ALL : ZOO_PERM_WRITE));
        begin();
        op_check("/none", permitted ? 7 : -1);
        op_set("/old", "new", -1, NULL);
        run_multi(zh, permitted ? "m -103" : "m -102");
        assert_int_equal(bench.event[FAKEZK_EFFECT].code, 0);
        assert_int_equal(bench.event[FAKEZK_EFFECT].cause, permitted);
    }
}

static void test_a_failed_multi_changes_nothing(void **state)
{
    (void)state;
    for (int servers = 1; servers <= 2; servers++) {
        bench_reopen(servers, 0);
        zhandle_t *zh = bench_connected(1, "w");
        bench_node("/old");
        bench_run();
        char buffer[64] = "untouched";
        struct Stat stat = {.version = 77};
        begin();
        op_create("/a", ZOO_PERSISTENT, buffer, sizeof buffer);
        op_set("/old", "new", -1, &stat);
        op_delete("/none", -1);
        op_delete("/old", -1);
        op_check("/none", -1);
        int32_t before = fakezk_last_zxid();
        run_multi(zh, "m -101");
        assert_int_equal(results[0].err, ZOK);
        assert_int_equal(results[1].err, ZOK);
        assert_int_equal(results[2].err, ZNONODE);
        assert_int_equal(results[3].err, ZRUNTIMEINCONSISTENCY);
        assert_int_equal(results[4].err, ZRUNTIMEINCONSISTENCY);
        assert_string_equal(buffer, "untouched");
        assert_int_equal(stat.version, 77);
        assert_false(fakezk_exists("/a"));
        assert_true(fakezk_exists("/old"));
        assert_int_equal(fakezk_last_zxid(), before + 1);
        assert_int_equal(bench.event[FAKEZK_EFFECT].code, 0);
        assert_int_equal(bench_get(zh, "g", "/old", NULL), ZOK);
        assert_int_equal(bench_exists(zh, "e", "/a", NULL), ZOK);
        bench_run();
        bench_saw("g 0 null | e -101");
        assert_int_equal(bench.events[FAKEZK_NODE_CREATED], 1);
        assert_int_equal(bench.events[FAKEZK_NODE_DELETED], 0);
    }
}

static void test_a_rolled_back_multi_gives_back_what_it_deleted(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    bench_node("/a");
    bench_node("/b");
    assert_int_equal(bench_set(zh, "s", "/a", "value", -1), ZOK);
    begin();
    op_delete("/a", 1);
    op_delete("/b", 0);
    op_check("/a", -1);
    run_multi(zh, "s 0 | m -101");
    assert_int_equal(bench_get(zh, "g", "/a", NULL), ZOK);
    assert_int_equal(bench_list(zh, "l", "/", NULL), ZOK);
    bench_run();
    bench_saw("g 0 {value} | l 0 [a b]");
    assert_int_equal(bench.events[FAKEZK_NODE_DELETED], 0);
}

static void test_check(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    bench_node("/n");
    begin();
    op_check("/none", -1);
    run_multi(zh, "m -101");
    assert_int_equal(results[0].err, ZNONODE);
    begin();
    op_check("/n", 3);
    run_multi(zh, "m -103");
    begin();
    op_check("/n", -1);
    op_check("/n", 0);
    run_multi(zh, "m 0");
    assert_int_equal(bench.event[FAKEZK_EFFECT].code, 1);
    assert_int_equal(bench.event[FAKEZK_EFFECT].zxid, fakezk_czxid("/n"));
    int32_t before = fakezk_last_zxid();
    begin();
    run_multi(zh, "m 0");
    assert_int_equal(fakezk_last_zxid(), before + 1);
}

static void test_what_a_multi_does_not_take(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    begin();
    op_check("/n", -1);
    ops[0].type = ZOO_CREATE2_OP;
    assert_int_equal(bench_multi(zh, "m", 1, ops, results), ZUNIMPLEMENTED);
    ops[0].type = ZOO_CREATE_TTL_OP;
    assert_int_equal(bench_multi(zh, "m", 1, ops, results), ZUNIMPLEMENTED);
    begin();
    op_delete("no/slash", -1);
    assert_int_equal(bench_multi(zh, "m", 1, ops, results), ZMARSHALLINGERROR);
    assert_int_equal(bench_delete(zh, "d", "no/slash", -1), ZBADARGUMENTS);
    bench_run();
    bench_saw("");
}

static void test_a_short_buffer_gets_a_short_path(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    char buffer[6] = "#####";
    char single[1] = "#";
    begin();
    op_create("/lock-", ZOO_PERSISTENT_SEQUENTIAL, buffer, sizeof buffer);
    op_create("/b", ZOO_PERSISTENT, single, sizeof single);
    op_create("/c", ZOO_PERSISTENT, single, 0);
    op_create("/d", ZOO_PERSISTENT, NULL, 0);
    run_multi(zh, "m 0");
    assert_int_equal(results[0].err, ZOK);
    assert_string_equal(buffer, "/lock");
    assert_string_equal(single, "");
    assert_true(fakezk_exists("/lock-0000000000"));
    assert_true(fakezk_exists("/d"));
}

static void test_events_of_a_multi_come_one_by_one(void **state)
{
    (void)state;
    zhandle_t *a = bench_connected(0, "w");
    zhandle_t *b = bench_connected(1, "v");
    bench_node("/p");
    assert_int_equal(bench_exists(a, "e", "/p/1", "x1"), ZOK);
    assert_int_equal(bench_list(a, "l", "/p", "xp"), ZOK);
    assert_int_equal(bench_exists(a, "e", "/p/2", "x2"), ZOK);
    bench_run();
    bench_forget();
    begin();
    op_create("/p/1", ZOO_PERSISTENT, NULL, 0);
    op_create("/p/2", ZOO_PERSISTENT, NULL, 0);
    assert_int_equal(bench_multi(b, "m", count, ops, results), ZOK);
    bench_step(FAKEZK_APPLY, 1);
    assert_int_equal(bench_list(a, "l", "/p", NULL), ZOK);
    bench_run();
    bench_saw("x1 created /p/1 | xp child /p | x2 created /p/2 | l 0 [1 2] | m 0");
}

static void test_a_refused_multi_shows_one_error(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    begin();
    op_create("/a", ZOO_PERSISTENT, NULL, 0);
    op_check("/a", -1);
    assert_int_equal(bench_multi(zh, "m", count, ops, results), ZOK);
    assert_true(fakezk_expire(fakezk_session(0, 0)));
    bench_step(FAKEZK_APPLY, 0);
    bench_step(FAKEZK_DELIVER, 0);
    bench_saw("m -112");
    assert_int_equal(results[0].err, ZSESSIONEXPIRED);
    assert_int_equal(results[1].err, ZSESSIONEXPIRED);
    assert_int_equal(bench_multi(zh, "n", 0, ops, NULL), ZOK);
    bench_run();
    bench_saw("n -112 | w connecting | w expired");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_setup, bench_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_order_of_checks_in_delete),
        TEST(test_some_nodes_stay),
        TEST(test_versions),
        TEST(test_a_node_created_again_starts_at_version_zero),
        TEST(test_each_operation_sees_those_before_it),
        TEST(test_a_failed_multi_changes_nothing),
        TEST(test_a_check_without_a_permission),
        TEST(test_a_rolled_back_multi_gives_back_what_it_deleted),
        TEST(test_check),
        TEST(test_what_a_multi_does_not_take),
        TEST(test_a_short_buffer_gets_a_short_path),
        TEST(test_events_of_a_multi_come_one_by_one),
        TEST(test_a_refused_multi_shows_one_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
