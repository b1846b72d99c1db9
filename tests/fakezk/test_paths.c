/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Paths and chroots: F55, F58. */
#include "support/fakezk_bench.h"

#include <errno.h>

static void test_paths_that_the_client_refuses(void **state)
{
    (void)state;
    static const char *const bad[] = {"",      "x",      "/x/",     "//",     "/x//y",
                                      "/.",    "/..",    "/x/.",    "/x/..",  "/./x",
                                      "/../x", "/x/./y", "/x/../y", "/x\001", "/x\036y"};
    zhandle_t *zh = bench_connected(0, "w");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(bench_create(zh, "c", bad[i], ZOO_PERSISTENT), ZBADARGUMENTS);
        assert_int_equal(bench_exists(zh, "e", bad[i], NULL), ZBADARGUMENTS);
    }
    assert_int_equal(bench_exists(zh, "e", NULL, NULL), ZBADARGUMENTS);
    bench_run();
    bench_saw("");
}

static void test_paths_that_pass(void **state)
{
    (void)state;
    static const char *const good[] = {"/.x", "/..x", "/x.", "/x..", "/...", "/x y", "/\xc3\xa9"};
    zhandle_t *zh = bench_connected(0, "w");
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(bench_create(zh, "c", good[i], ZOO_PERSISTENT), ZOK);
        bench_run();
        bench_forget();
        assert_true(fakezk_exists(good[i]));
    }
    bench_node("/p");
    assert_int_equal(bench_create(zh, "c", "/p/", ZOO_PERSISTENT_SEQUENTIAL), ZOK);
    assert_int_equal(bench_create(zh, "c", "/p/.", ZOO_PERSISTENT_SEQUENTIAL), ZOK);
    assert_int_equal(bench_create(zh, "c", "/p/..", ZOO_PERSISTENT_SEQUENTIAL), ZOK);
    bench_run();
    bench_saw("c 0 /p/0000000000 | c 0 /p/.0000000001 | c 0 /p/..0000000002");
}

static void test_paths_that_the_server_refuses(void **state)
{
    (void)state;
    static const char *const bad[] = {"/x\037",        "/\177",         "/\xc2\x80",
                                      "/x\xc2\x9fy",   "/\xed\xa0\x81", "/\xee\x80\x80",
                                      "/\xef\xa3\xbe", "/\xef\xbf\xb1", "/\xf0\x9f\x98\x80"};
    static const char *const good[] = {"/\xc2\xa0", "/\xe2\x82\xac", "/\xef\xa4\x80"};
    zhandle_t *zh = bench_connected(0, "w");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(bench_create(zh, "c", bad[i], ZOO_PERSISTENT), ZOK);
        bench_run();
        bench_saw("c -8");
        assert_int_equal(bench_set(zh, "s", bad[i], "x", -1), ZOK);
        bench_run();
        bench_saw("s -8");
        zoo_op_t op;
        zoo_op_result_t result;
        zoo_check_op_init(&op, bad[i], -1);
        assert_int_equal(bench_multi(zh, "m", 1, &op, &result), ZOK);
        bench_enter(0);
        assert_int_equal(zoo_aset_acl(zh, bad[i], -1, &ZOO_OPEN_ACL_UNSAFE, bench_void_done, "a"), ZOK);
        bench_leave();
        bench_run();
        bench_saw("m -8 | a -8");
        assert_int_equal(bench_exists(zh, "e", bad[i], NULL), ZOK); /* a read just finds nothing */
        bench_run();
        bench_saw("e -101");
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(bench_create(zh, "c", good[i], ZOO_PERSISTENT), ZOK);
        bench_run();
        bench_forget();
        assert_true(fakezk_exists(good[i]));
    }
    assert_int_equal(bench_create(zh, "c", "/none/\177", ZOO_PERSISTENT), ZOK); /* the parent comes first */
    bench_run();
    bench_saw("c -101");
}

static void test_a_chroot_is_stripped(void **state)
{
    (void)state;
    bench_node("/app/one");
    zhandle_t *zh = bench_init(0, "w", "a:1,b:2/app/one", NULL);
    bench_run();
    bench_saw("w connected");
    assert_int_equal(bench_create(zh, "1", "/n", ZOO_PERSISTENT), ZOK);
    assert_int_equal(bench_create(zh, "2", "/n/s-", ZOO_PERSISTENT_SEQUENTIAL), ZOK);
    assert_int_equal(bench_create2(zh, "3", "/m", ZOO_PERSISTENT), ZOK);
    assert_int_equal(bench_sync(zh, "4", "/"), ZOK);
    assert_int_equal(bench_list(zh, "5", "/", "root"), ZOK);
    assert_int_equal(bench_exists(zh, "6", "/n", "node"), ZOK);
    bench_run();
    bench_saw("1 0 /n | 2 0 /n/s-0000000000 | 3 0 /m | 4 0 / | 5 0 [m n] | 6 0");
    assert_true(fakezk_exists("/app/one/n/s-0000000000"));
    char buffer[32];
    zoo_op_t op;
    zoo_op_result_t result;
    zoo_create_op_init(&op, "/multi", NULL, -1, &ZOO_OPEN_ACL_UNSAFE, 0, buffer, sizeof buffer);
    assert_int_equal(bench_multi(zh, "7", 1, &op, &result), ZOK);
    bench_run();
    bench_saw("root child / | 7 0");
    assert_string_equal(buffer, "/multi");
    assert_true(fakezk_operator_remove("/app/one/n"));
    bench_run();
    bench_saw("node deleted /n");
    assert_int_equal(bench_exists(zh, "8", "/", "x"), ZOK);
    bench_run();
    assert_true(fakezk_operator_remove("/app"));
    bench_run();
    bench_saw("8 0 | x deleted /");
    assert_int_equal(bench_create(zh, "9", "/n", ZOO_PERSISTENT), ZOK);
    bench_run();
    bench_saw("9 -101");
}

static void test_handles_with_different_chroots(void **state)
{
    (void)state;
    bench_node("/a/n");
    bench_node("/b");
    zhandle_t *a = bench_init(0, "w", "h:1/a", NULL);
    zhandle_t *b = bench_init(1, "v", "h:1/b", NULL);
    zhandle_t *c = bench_init(2, "u", "h:1/a", NULL);
    zhandle_t *d = bench_init(0, "t", "h:1/", NULL);
    bench_run();
    bench_forget();
    assert_int_equal(bench_exists(a, "a", "/n", NULL), ZOK);
    bench_run();
    assert_int_equal(bench_exists(b, "b", "/n", NULL), ZOK);
    bench_run();
    assert_int_equal(bench_exists(c, "c", "/n", NULL), ZOK);
    bench_run();
    assert_int_equal(bench_exists(d, "d", "/a/n", NULL), ZOK);
    bench_run();
    bench_saw("a 0 | b -101 | c 0 | d 0");
}

static void test_a_bad_chroot_is_no_handle(void **state)
{
    (void)state;
    errno = 0;
    assert_null(bench_init(0, "w", "h:1/a/", NULL));
    assert_int_equal(errno, EINVAL);
    assert_null(bench_init(0, "w", "h:1//a", NULL));
    assert_null(bench_init(0, "w", NULL, NULL));
    assert_int_equal(fakezk_handles(0), 0);
}

static void test_paths_of_the_operator(void **state)
{
    (void)state;
    assert_false(fakezk_operator_create("x", 0, false));
    assert_false(fakezk_operator_create("/", 0, false));
    assert_false(fakezk_operator_create("/x/", 0, false));
    assert_false(fakezk_operator_create("/x//y", 0, false));
    assert_true(fakezk_operator_create("/x/y/z", 0, false));
    assert_true(fakezk_exists("/x/y"));
    assert_false(fakezk_operator_create("/x/y", 0, false));
    assert_true(fakezk_operator_remove("/x"));
    assert_false(fakezk_exists("/x/y/z"));
    fakezk_operator_preset("/none", 7);
    assert_false(fakezk_exists("/none"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_setup, bench_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_paths_that_the_client_refuses),  TEST(test_paths_that_pass),
        TEST(test_paths_that_the_server_refuses),  TEST(test_a_chroot_is_stripped),
        TEST(test_handles_with_different_chroots), TEST(test_a_bad_chroot_is_no_handle),
        TEST(test_paths_of_the_operator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
