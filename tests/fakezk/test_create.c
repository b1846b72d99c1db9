/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Creating nodes, and what their stat shows: F47 to F54, F56, F57. */
#include "support/fakezk_bench.h"

static void must_create(zhandle_t *zh, const char *path, int mode, const char *seen)
{
    assert_int_equal(bench_create(zh, "c", path, mode), ZOK);
    bench_run();
    bench_saw(seen);
}

static void test_the_suffix_counts_children_ever_created(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    must_create(zh, "/p", ZOO_PERSISTENT, "c 0 /p");
    must_create(zh, "/p/s-", ZOO_PERSISTENT_SEQUENTIAL, "c 0 /p/s-0000000000");
    must_create(zh, "/p/s-", ZOO_EPHEMERAL_SEQUENTIAL, "c 0 /p/s-0000000001");
    assert_int_equal(bench_delete(zh, "d", "/p/s-0000000001", -1), ZOK);
    bench_run();
    bench_saw("d 0");
    must_create(zh, "/p/s-", ZOO_PERSISTENT_SEQUENTIAL, "c 0 /p/s-0000000002");
    must_create(zh, "/p/plain", ZOO_PERSISTENT, "c 0 /p/plain");
    must_create(zh, "/p/t-", ZOO_PERSISTENT_SEQUENTIAL, "c 0 /p/t-0000000004");
    must_create(zh, "/p/plain", ZOO_PERSISTENT, "c -110");
    assert_int_equal(bench_set(zh, "s", "/p", "x", -1), ZOK);
    bench_run();
    bench_saw("s 0");
    must_create(zh, "/p/", ZOO_PERSISTENT_SEQUENTIAL, "c 0 /p/0000000005");
    assert_true(fakezk_operator_remove("/p"));
    must_create(zh, "/p", ZOO_PERSISTENT, "c 0 /p");
    must_create(zh, "/p/s-", ZOO_PERSISTENT_SEQUENTIAL, "c 0 /p/s-0000000000");
}

static void test_cversion_counts_creates_and_deletes(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    must_create(zh, "/p", ZOO_PERSISTENT, "c 0 /p");
    must_create(zh, "/p/s-", ZOO_PERSISTENT_SEQUENTIAL, "c 0 /p/s-0000000000");
    must_create(zh, "/p/s-", ZOO_PERSISTENT_SEQUENTIAL, "c 0 /p/s-0000000001");
    assert_int_equal(bench_delete(zh, "d", "/p/s-0000000000", -1), ZOK);
    assert_int_equal(bench_exists(zh, "e", "/p", NULL), ZOK);
    bench_run();
    bench_saw("d 0 | e 0");
    assert_int_equal(bench.stat.cversion, 3);
    assert_int_equal(bench.stat.numChildren, 1);
    must_create(zh, "/p/s-", ZOO_PERSISTENT_SEQUENTIAL, "c 0 /p/s-0000000002");
}

static void test_the_counter_sticks_at_its_end(void **state)
{
    (void)state;
    bench_reopen(2, 0);
    zhandle_t *zh = bench_connected(0, "w");
    must_create(zh, "/p", ZOO_PERSISTENT, "c 0 /p");
    fakezk_operator_preset("/p", INT32_MAX - 1);
    must_create(zh, "/p/a-", ZOO_PERSISTENT_SEQUENTIAL, "c 0 /p/a-2147483646");
    must_create(zh, "/p/a-", ZOO_PERSISTENT_SEQUENTIAL, "c 0 /p/a-2147483647");
    int32_t frozen = fakezk_czxid("/p/a-2147483646");
    must_create(zh, "/p/a-", ZOO_PERSISTENT_SEQUENTIAL, "c -110");
    must_create(zh, "/p/b-", ZOO_PERSISTENT_SEQUENTIAL, "c 0 /p/b-2147483647");
    assert_int_equal(bench_exists(zh, "e", "/p", NULL), ZOK);
    bench_run();
    bench_saw("e 0");
    assert_int_equal(bench.stat.pzxid, FAKEZK_EPOCH + frozen);
    assert_int_equal(bench.stat.numChildren, 3);
    assert_int_equal(bench_delete(zh, "d", "/p/a-2147483647", -1), ZOK);
    assert_int_equal(bench_exists(zh, "e", "/p", NULL), ZOK);
    bench_run();
    bench_saw("d 0 | e 0");
    assert_int_equal(bench.stat.pzxid, FAKEZK_EPOCH + fakezk_last_zxid());
    must_create(zh, "/p/a-", ZOO_PERSISTENT_SEQUENTIAL, "c 0 /p/a-2147483647");
}

static void test_the_older_counter_wraps(void **state)
{
    (void)state;
    bench_reopen(1, FAKEZK_DEFECT_WRAP);
    zhandle_t *zh = bench_connected(0, "w");
    must_create(zh, "/p", ZOO_PERSISTENT, "c 0 /p");
    fakezk_operator_preset("/p", INT32_MAX);
    must_create(zh, "/p/a-", ZOO_PERSISTENT_SEQUENTIAL, "c 0 /p/a-2147483647");
    must_create(zh, "/p/a-", ZOO_PERSISTENT_SEQUENTIAL, "c 0 /p/a--2147483648");
    must_create(zh, "/p/a-", ZOO_PERSISTENT_SEQUENTIAL, "c 0 /p/a--2147483647");
}

static void test_what_changes_in_a_stat(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(bench_create2(zh, "c", "/p", ZOO_PERSISTENT), ZOK);
    bench_run();
    bench_saw("c 0 /p");
    struct Stat born = bench.stat;
    int64_t zxid = FAKEZK_EPOCH + fakezk_czxid("/p");
    assert_int_equal(born.czxid, zxid);
    assert_int_equal(born.mzxid, zxid);
    assert_int_equal(born.pzxid, zxid);
    assert_int_equal(born.version + born.cversion + born.aversion + born.numChildren, 0);
    assert_int_equal(born.ephemeralOwner, 0);
    must_create(zh, "/p/n", ZOO_PERSISTENT, "c 0 /p/n");
    assert_int_equal(bench_exists(zh, "e", "/p", NULL), ZOK);
    bench_run();
    bench_saw("e 0");
    assert_int_equal(bench.stat.version, 0);
    assert_int_equal(bench.stat.mzxid, born.mzxid);
    assert_int_equal(bench.stat.mtime, born.mtime);
    assert_int_equal(bench.stat.cversion, 1);
    assert_int_equal(bench.stat.pzxid, FAKEZK_EPOCH + fakezk_czxid("/p/n"));
    assert_int_equal(bench.stat.numChildren, 1);
    struct Stat parent = bench.stat;
    assert_int_equal(bench_set(zh, "s", "/p", "value", 0), ZOK);
    bench_run();
    bench_saw("s 0");
    assert_int_equal(bench.stat.version, 1);
    assert_int_equal(bench.stat.mzxid, FAKEZK_EPOCH + fakezk_last_zxid());
    assert_int_equal(bench.stat.pzxid, parent.pzxid);
    assert_int_equal(bench.stat.dataLength, 5);
    assert_int_equal(bench.stat.czxid, born.czxid);
}

static void set_acl(zhandle_t *zh, const char *path, int version, int perms)
{
    struct ACL acl = {perms, {ZOO_ANYONE_ID_UNSAFE.scheme, ZOO_ANYONE_ID_UNSAFE.id}};
    struct ACL_vector vector = {perms != 0 ? 1 : 0, &acl};
    bench_enter(bench_client(zh));
    assert_int_equal(zoo_aset_acl(zh, path, version, &vector, bench_void_done, "a"), ZOK);
    bench_leave();
}

static void get_acl(zhandle_t *zh, const char *path)
{
    bench_enter(bench_client(zh));
    assert_int_equal(zoo_aget_acl(zh, path, bench_acl_done, "g"), ZOK);
    bench_leave();
}

static void test_acls_have_a_version_of_their_own(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    must_create(zh, "/p", ZOO_PERSISTENT, "c 0 /p");
    assert_int_equal(bench_get(zh, "x", "/p", "watch"), ZOK);
    set_acl(zh, "/p", 0, ZOO_PERM_READ | ZOO_PERM_ADMIN);
    get_acl(zh, "/p");
    bench_run();
    bench_saw("x 0 null | a 0 | g 0 world:anyone:17"); /* no event (F67) */
    assert_int_equal(bench.stat.aversion, 1);
    assert_int_equal(bench.stat.version, 0);
    assert_int_equal(bench.stat.mzxid, bench.stat.czxid);
    set_acl(zh, "/p", 0, ZOO_PERM_ALL);
    set_acl(zh, "/none", -1, ZOO_PERM_ALL);
    set_acl(zh, "/p", -1, 0);
    get_acl(zh, "/none");
    bench_run();
    bench_saw("a -103 | a -101 | a -114 | g -101");
    set_acl(zh, "/p", -1, ZOO_PERM_WRITE);
    set_acl(zh, "/p", -1, ZOO_PERM_ALL);
    get_acl(zh, "/p");
    bench_run();
    bench_saw("a 0 | a -102 | g -102");
}

static void test_the_order_of_checks_in_create(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    struct ACL_vector empty = {0, NULL};
    bench_enter(0);
    assert_int_equal(zoo_acreate(zh, "/x/y", NULL, -1, NULL, 0, bench_string_done, "1"), ZOK);
    assert_int_equal(zoo_acreate(zh, "/x/y", NULL, -1, &empty, 0, bench_string_done, "2"), ZOK);
    assert_int_equal(zoo_acreate(zh, "/x/y", NULL, -1, &ZOO_CREATOR_ALL_ACL, 0, bench_string_done, "3"), ZOK);
    assert_int_equal(zoo_acreate(zh, "/x/y", NULL, -1, &empty, 7, bench_string_done, "4"), ZOK);
    bench_leave();
    bench_run();
    bench_saw("1 -114 | 2 -114 | 3 -114 | 4 -8");
    assert_int_equal(bench_create(zh, "5", "/x/y", ZOO_PERSISTENT), ZOK);
    bench_run();
    bench_saw("5 -101");
    assert_true(fakezk_operator_create("/shut", ZOO_PERM_READ | ZOO_PERM_WRITE | ZOO_PERM_DELETE, false));
    bench_node("/shut/n");
    must_create(zh, "/shut/n", ZOO_PERSISTENT, "c -102"); /* before the name is looked at */
    must_create(zh, "/e", ZOO_EPHEMERAL, "c 0 /e");
    must_create(zh, "/e", ZOO_EPHEMERAL, "c -110");
    must_create(zh, "/e/n", ZOO_PERSISTENT, "c -108");
    must_create(zh, "/", ZOO_PERSISTENT, "c -110");
}

static void test_what_permissions_forbid(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    assert_true(fakezk_operator_create("/shut", ZOO_PERM_CREATE, false));
    bench_node("/shut/n");
    assert_int_equal(bench_delete(zh, "d", "/shut/n", -1), ZOK);
    assert_int_equal(bench_set(zh, "s", "/shut", "x", -1), ZOK);
    assert_int_equal(bench_get(zh, "g", "/shut", "x"), ZOK);
    assert_int_equal(bench_list(zh, "l", "/shut", "x"), ZOK);
    assert_int_equal(bench_exists(zh, "e", "/shut", NULL), ZOK);
    bench_run();
    bench_saw("d -102 | s -102 | g -102 | l -102 | e 0");
    assert_int_equal(fakezk_watches(0), 0);
    zoo_op_t op;
    zoo_op_result_t result;
    zoo_check_op_init(&op, "/shut", -1);
    assert_int_equal(bench_multi(zh, "m", 1, &op, &result), ZOK);
    bench_run();
    bench_saw("m -102");
}

static void test_ephemerals_name_their_session(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(bench_create2(zh, "c", "/e", ZOO_EPHEMERAL), ZOK);
    bench_run();
    assert_int_equal(bench.stat.ephemeralOwner, bench_id(zh).client_id);
    assert_int_equal(bench.stat.ephemeralOwner, fakezk_session_id(fakezk_session(0, 0)));
    assert_int_equal(bench_create2(zh, "c", "/k", ZOO_CONTAINER), ZOK);
    bench_run();
    assert_int_equal(bench.stat.ephemeralOwner, 0);
    bench_saw("c 0 /e | c 0 /k");
    assert_false(fakezk_operator_create("/e/x", 0, false));
    assert_false(fakezk_operator_create("/e/x/y", 0, false));
}

static void test_session_ids_differ_and_are_not_sorted_by_age(void **state)
{
    (void)state;
    bool risen = false;
    bool fallen = false;
    int negative = 0;
    for (uint64_t seed = 0; seed < 8; seed++) {
        struct fakezk_options options = bench.options;
        options.seed = seed;
        bench_reopen_with(&options);
        assert_int_equal(fakezk_session_id(0), 0);
        risen |= fakezk_session_id(1) < fakezk_session_id(2);
        fallen |= fakezk_session_id(1) > fakezk_session_id(2);
        negative += fakezk_session_id(1) < 0;
    }
    assert_true(risen && fallen);
    assert_in_range(negative, 1, 7);
}

static void test_containers_are_swept_when_empty(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    must_create(zh, "/k", ZOO_CONTAINER, "c 0 /k");
    assert_false(fakezk_can_sweep("/k")); /* never used */
    must_create(zh, "/k/n-", ZOO_EPHEMERAL_SEQUENTIAL, "c 0 /k/n-0000000000");
    assert_false(fakezk_sweep("/k"));
    assert_int_equal(bench_delete(zh, "d", "/k/n-0000000000", -1), ZOK);
    assert_int_equal(bench_exists(zh, "e", "/k", "x"), ZOK);
    bench_run();
    bench_saw("d 0 | e 0");
    assert_true(fakezk_sweep("/k"));
    bench_run();
    bench_saw("x deleted /k");
    assert_false(fakezk_sweep("/k"));
    must_create(zh, "/k/n-", ZOO_EPHEMERAL_SEQUENTIAL, "c -101");
    must_create(zh, "/k", ZOO_CONTAINER, "c 0 /k");
    must_create(zh, "/k/n-", ZOO_EPHEMERAL_SEQUENTIAL, "c 0 /k/n-0000000000");
    must_create(zh, "/p", ZOO_PERSISTENT, "c 0 /p");
    assert_false(fakezk_can_sweep("/p"));
}

static void test_an_operator_sets_data(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    must_create(zh, "/p", ZOO_PERSISTENT, "c 0 /p");
    assert_false(fakezk_operator_set("/q", "data"));
    assert_false(fakezk_operator_set("p", "data"));
    assert_int_equal(bench_exists(zh, "e", "/p", "x"), ZOK);
    bench_run();
    bench_saw("e 0");
    assert_int_equal(bench.stat.version, 0);
    assert_true(fakezk_operator_set("/p", "data"));
    bench_run();
    bench_saw("x changed /p");
    assert_int_equal(bench_exists(zh, "e", "/p", NULL), ZOK);
    bench_run();
    bench_saw("e 0");
    assert_int_equal(bench.stat.version, 1);
    assert_int_equal(bench.stat.dataLength, 4);
}

/* No watch hears of it (F67), and an exists needs no permission. */
static void test_an_operator_sets_permissions(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    must_create(zh, "/p", ZOO_PERSISTENT, "c 0 /p");
    assert_false(fakezk_operator_set_perms("/q", ZOO_PERM_READ));
    assert_false(fakezk_operator_set_perms("p", ZOO_PERM_READ));
    assert_int_equal(bench_get(zh, "g", "/p", "x"), ZOK);
    bench_run();
    bench_saw("g 0 null");
    assert_true(fakezk_operator_set_perms("/p", ZOO_PERM_ALL & ~ZOO_PERM_READ));
    assert_int_equal(bench_get(zh, "g", "/p", NULL), ZOK);
    assert_int_equal(bench_exists(zh, "e", "/p", NULL), ZOK);
    bench_run();
    bench_saw("g -102 | e 0");
    assert_int_equal(bench.stat.aversion, 1);
    assert_int_equal(bench.stat.version, 0);
    assert_true(fakezk_operator_set_perms("/p", ZOO_PERM_READ));
    assert_int_equal(bench_get(zh, "g", "/p", NULL), ZOK);
    assert_int_equal(bench_delete(zh, "d", "/p", -1), ZOK);
    bench_run();
    bench_saw("g 0 null | x deleted /p | d 0");
}

static void test_an_operator_removes_what_is_empty(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    must_create(zh, "/p", ZOO_PERSISTENT, "c 0 /p");
    must_create(zh, "/p/k", ZOO_CONTAINER, "c 0 /p/k");
    assert_false(fakezk_operator_rmdir("/p")); /* it has a child */
    assert_false(fakezk_operator_rmdir("/q"));
    assert_int_equal(bench_exists(zh, "e", "/p/k", "x"), ZOK);
    bench_run();
    bench_saw("e 0");
    assert_true(fakezk_operator_rmdir("/p/k")); /* no sweep would take it: it never had a child */
    bench_run();
    bench_saw("x deleted /p/k");
    assert_true(fakezk_can_rmdir("/p"));
    assert_true(fakezk_operator_rmdir("/p"));
    assert_false(fakezk_exists("/p"));
}

static void test_servers_without_containers(void **state)
{
    (void)state;
    struct fakezk_options options = bench.options;
    options.no_containers = true;
    bench_reopen_with(&options);
    zhandle_t *zh = bench_connected(0, "w");
    must_create(zh, "/k", ZOO_CONTAINER, "c -6");
    assert_true(fakezk_operator_create("/k", 0, true));
}

static void test_modes(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(bench_create2(zh, "c", "/n-", ZOO_PERSISTENT_SEQUENTIAL), ZOK);
    bench_run();
    bench_saw("c 0 /n-0000000000");
    assert_int_equal(bench.stat.czxid, FAKEZK_EPOCH + fakezk_last_zxid());
    assert_int_equal(bench_create2(zh, "c", "/n-0000000000", ZOO_PERSISTENT), ZOK);
    bench_run();
    bench_saw("c -110");
    assert_int_equal(bench_create(zh, "c", "/t", ZOO_PERSISTENT_WITH_TTL), ZBADARGUMENTS);
    assert_int_equal(bench_create(zh, "c", "/t", ZOO_PERSISTENT_SEQUENTIAL_WITH_TTL), ZBADARGUMENTS);
    must_create(zh, "/t", 7, "c -8");
    must_create(zh, "/t", -1, "c -8");
    must_create(zh, "/t", 256, "c -8");
    zoo_op_t op;
    zoo_op_result_t result;
    zoo_create_op_init(&op, "/t", NULL, -1, &ZOO_OPEN_ACL_UNSAFE, 256, NULL, 0);
    assert_int_equal(bench_multi(zh, "m", 1, &op, &result), ZOK);
    bench_run();
    bench_saw("m -8");
}

static void test_no_data_is_not_empty_data(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(bench_create_data(zh, "1", "/a", NULL, -1, 0), ZOK);
    assert_int_equal(bench_create_data(zh, "2", "/b", "", 0, 0), ZOK);
    assert_int_equal(bench_create_data(zh, "3", "/c", "abc", 3, 0), ZOK);
    assert_int_equal(bench_get(zh, "4", "/a", NULL), ZOK);
    assert_int_equal(bench_get(zh, "5", "/b", NULL), ZOK);
    assert_int_equal(bench_get(zh, "6", "/c", NULL), ZOK);
    bench_run();
    bench_saw("1 0 /a | 2 0 /b | 3 0 /c | 4 0 null | 5 0 {} | 6 0 {abc}");
    assert_int_equal(bench_set(zh, "7", "/c", NULL, -1), ZOK);
    assert_int_equal(bench_get(zh, "8", "/c", NULL), ZOK);
    bench_run();
    bench_saw("7 0 | 8 0 null");
    assert_int_equal(bench.stat.dataLength, 0);
}

static void list_of_four(uint64_t seed, const char *seen)
{
    struct fakezk_options options = bench.options;
    options.seed = seed;
    bench_reopen_with(&options);
    zhandle_t *zh = bench_connected(0, "w");
    bench_node("/p/b");
    bench_node("/p/d");
    bench_node("/p/a");
    bench_node("/p/c");
    bench_node("/p/c/deep");
    bench_node("/pp");
    assert_int_equal(bench_list2(zh, "l", "/p", NULL), ZOK);
    bench_run();
    bench_saw(seen);
    assert_int_equal(bench.stat.numChildren, 4);
}

static void test_lists_have_no_promised_order(void **state)
{
    (void)state;
    list_of_four(0, "l 0 [a b c d]");
    list_of_four(1, "l 0 [d c b a]");
    list_of_four(2, "l 0 [c a d b]");
    list_of_four(3, "l 0 [d a c b]");
    list_of_four(32, "l 0 [c b d a]");
    list_of_four(33, "l 0 [b c a d]");
    list_of_four(34, "l 0 [d b c a]");
    list_of_four(35, "l 0 [b a d c]");
    zhandle_t *zh = bench_connected(1, "v");
    assert_int_equal(bench_list(zh, "l", "/pp", NULL), ZOK);
    assert_int_equal(bench_list(zh, "m", "/none", NULL), ZOK);
    bench_run();
    bench_saw("l 0 [] | m -101");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_setup, bench_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_suffix_counts_children_ever_created),
        TEST(test_cversion_counts_creates_and_deletes),
        TEST(test_the_counter_sticks_at_its_end),
        TEST(test_the_older_counter_wraps),
        TEST(test_what_changes_in_a_stat),
        TEST(test_acls_have_a_version_of_their_own),
        TEST(test_the_order_of_checks_in_create),
        TEST(test_what_permissions_forbid),
        TEST(test_ephemerals_name_their_session),
        TEST(test_session_ids_differ_and_are_not_sorted_by_age),
        TEST(test_containers_are_swept_when_empty),
        TEST(test_an_operator_sets_data),
        TEST(test_an_operator_sets_permissions),
        TEST(test_an_operator_removes_what_is_empty),
        TEST(test_servers_without_containers),
        TEST(test_modes),
        TEST(test_no_data_is_not_empty_data),
        TEST(test_lists_have_no_promised_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
