/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Credentials and ACLs: who may do what with a node that is its maker's alone. */
#include "support/fakezk_bench.h"

static int add_auth(zhandle_t *zh, const char *cert, const char *tag)
{
    bench_enter(bench_client(zh));
    int rc = zoo_add_auth(zh, "digest", cert, (int)strlen(cert), tag ? bench_void_done : NULL, tag);
    bench_leave();
    return rc;
}

static void create(zhandle_t *zh, const char *path, const struct ACL_vector *acl)
{
    bench_enter(bench_client(zh));
    assert_int_equal(zoo_acreate(zh, path, "x", 1, acl, ZOO_PERSISTENT, bench_string_done, "c"), ZOK);
    bench_leave();
}

/* Client 0 has made /n, which is its own. */
static zhandle_t *owner_of_n(void)
{
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(add_auth(zh, "a:secret", NULL), ZOK);
    create(zh, "/n", &ZOO_CREATOR_ALL_ACL);
    bench_run();
    bench_saw("c 0 /n");
    return zh;
}

static void do_all(zhandle_t *zh)
{
    bench_exists(zh, "e", "/n", NULL);
    bench_get(zh, "g", "/n", NULL);
    bench_list(zh, "l", "/n", NULL);
    bench_set(zh, "s", "/n", "y", -1);
    bench_create(zh, "c", "/n/child", ZOO_PERSISTENT);
    bench_delete(zh, "d", "/n/child", -1);
    bench_enter(bench_client(zh));
    assert_int_equal(zoo_aset_acl(zh, "/n", -1, &ZOO_CREATOR_ALL_ACL, bench_void_done, "a"), ZOK);
    bench_leave();
    bench_run();
}

#define ALL_DONE "e 0 | g 0 {x} | l 0 [] | s 0 | c 0 /n/child | d 0 | a 0"
#define NOT_DONE "e 0 | g -102 | l -102 | s -102 | c -102 | d -102 | a -102"

static void test_a_node_is_its_makers(void **state)
{
    (void)state;
    do_all(owner_of_n());
    bench_saw(ALL_DONE);
}

static void test_others_may_only_see_that_it_exists(void **state)
{
    (void)state;
    owner_of_n();
    zhandle_t *zh = bench_connected(1, "v");
    assert_int_equal(add_auth(zh, "b:secret", NULL), ZOK);
    do_all(zh);
    bench_saw(NOT_DONE);
}

static void test_nobody_in_particular_may_no_more(void **state)
{
    (void)state;
    owner_of_n();
    zhandle_t *zh = bench_connected(1, "v");
    bench_exists(zh, "e", "/n", NULL);
    bench_get(zh, "g", "/n", NULL);
    bench_run();
    bench_saw("e 0 | g -102");
}

static void test_who_has_the_same_credentials_may_all(void **state)
{
    (void)state;
    owner_of_n();
    zhandle_t *zh = bench_connected(1, "v");
    assert_int_equal(add_auth(zh, "a:secret", NULL), ZOK);
    assert_int_equal(add_auth(zh, "a:secret", NULL), ZOK);
    do_all(zh);
    bench_saw(ALL_DONE);
}

/* The server reads in order: what was sent before has no part in the credentials. */
static void test_credentials_are_for_what_is_sent_after_them(void **state)
{
    (void)state;
    owner_of_n();
    zhandle_t *zh = bench_connected(1, "v");
    bench_get(zh, "g", "/n", NULL);
    assert_int_equal(add_auth(zh, "a:secret", NULL), ZOK);
    bench_get(zh, "h", "/n", NULL);
    bench_run();
    bench_saw("g -102 | h 0 {x}");
}

/* The client adds them to each new connection, before what was queued while there was none (F43). */
static void test_credentials_are_repeated_after_a_reconnect(void **state)
{
    (void)state;
    zhandle_t *zh = owner_of_n();
    bench_cut(zh, 0, 0, ZCONNECTIONLOSS);
    bench_get(zh, "g", "/n", NULL);
    bench_run();
    bench_get(zh, "h", "/n", NULL);
    bench_run();
    bench_saw("w connecting | w connected | g 0 {x} | h 0 {x}");
}

static void test_the_operations_of_a_multi_have_them_too(void **state)
{
    (void)state;
    static zoo_op_result_t results[2];
    zoo_op_t ops[2];
    zoo_check_op_init(&ops[0], "/n", 0);
    zoo_set_op_init(&ops[1], "/n", "y", 1, -1, NULL);
    zhandle_t *zh = owner_of_n();
    zhandle_t *other = bench_connected(1, "v");
    assert_int_equal(bench_multi(other, "m", 2, ops, results), ZOK);
    bench_run();
    bench_saw("m -102");
    assert_int_equal(bench_multi(zh, "m", 2, ops, results), ZOK);
    bench_run();
    bench_saw("m 0");
}

static void test_the_acl_reaches_all_servers(void **state)
{
    (void)state;
    bench_reopen(2, 0);
    owner_of_n();
    zhandle_t *zh = bench_init(1, "v", "h", NULL);
    bench_step_at(FAKEZK_CONNECT, 1, 1);
    bench_run();
    bench_forget();
    bench_get(zh, "g", "/n", NULL);
    bench_run();
    bench_saw("g -102");
}

/* What the ACL gives the world it gives whoever comes; set_acl may take it away. */
static void test_an_acl_may_have_both(void **state)
{
    (void)state;
    struct ACL both[] = {{ZOO_PERM_READ, ZOO_ANYONE_ID_UNSAFE}, {ZOO_PERM_ALL, ZOO_AUTH_IDS}};
    struct ACL_vector acl = {2, both};
    zhandle_t *zh = owner_of_n();
    zhandle_t *other = bench_connected(1, "v");
    create(zh, "/m", &acl);
    bench_get(other, "g", "/m", NULL);
    bench_set(other, "s", "/m", "y", -1);
    bench_run();
    bench_saw("c 0 /m | g 0 {x} | s -102");
    bench_enter(0);
    assert_int_equal(zoo_aset_acl(zh, "/m", -1, &ZOO_CREATOR_ALL_ACL, bench_void_done, "a"), ZOK);
    bench_leave();
    bench_run();
    bench_get(other, "g", "/m", NULL);
    bench_run();
    bench_saw("a 0 | g -102");
    bench_enter(0);
    assert_int_equal(zoo_aset_acl(zh, "/m", -1, &ZOO_READ_ACL_UNSAFE, bench_void_done, "a"), ZOK);
    bench_leave();
    bench_set(zh, "s", "/m", "y", -1); /* its maker has shut itself out */
    bench_get(other, "g", "/m", NULL);
    bench_run();
    bench_saw("a 0 | s -102 | g 0 {x}");
}

static void test_without_credentials_there_is_no_acl_of_ones_own(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    create(zh, "/n", &ZOO_CREATOR_ALL_ACL);
    bench_run();
    bench_saw("c -114");
}

/* ---- the call ---- */

static void test_the_answer_comes_in_its_turn(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(add_auth(zh, "a:secret", "auth"), ZOK);
    bench_exists(zh, "e", "/", NULL);
    bench_saw("");
    bench_run();
    bench_saw("auth 0 | e 0");
}

/* F16: between two connections it is refused. */
static void test_without_a_link_it_is_refused(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    bench_cut(zh, 0, 0, ZCONNECTIONLOSS);
    assert_int_equal(add_auth(zh, "a:secret", NULL), ZINVALIDSTATE);
    bench_enter(0);
    assert_int_equal(zoo_add_auth(NULL, "digest", "a:b", 3, NULL, NULL), ZBADARGUMENTS);
    assert_int_equal(zoo_add_auth(zh, NULL, "a:b", 3, NULL, NULL), ZBADARGUMENTS);
    bench_leave();
}

/* No server knows the scheme: the handle ends, and its session goes on until its timeout (F25). */
static void test_a_refusal_is_the_end_of_the_handle(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    int32_t session = fakezk_session(0, bench_slot(zh));
    bench_exists(zh, "e", "/", NULL);
    bench_enter(0);
    assert_int_equal(zoo_add_auth(zh, "unheard-of", "me", 2, bench_void_done, "auth"), ZOK);
    assert_int_equal(zoo_aexists(zh, "/", 0, bench_stat_done, "f"), ZINVALIDSTATE);
    bench_leave();
    bench_run();
    bench_saw("auth -115 | w auth-failed | e -115");
    assert_int_equal(bench_state(zh), ZOO_AUTH_FAILED_STATE);
    assert_true(fakezk_session_live(session));
}

static void test_what_is_not_modelled_says_so(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    bench_enter(0);
    assert_int_equal(zoo_add_auth(zh, "ip", NULL, 0, NULL, NULL), ZUNIMPLEMENTED);
    bench_leave();
    bench_trouble("unsupported: zoo_add_auth with scheme ip");
    zh = bench_connected(0, "w");
    assert_int_equal(add_auth(zh, "a:secret", NULL), ZOK);
    assert_int_equal(add_auth(zh, "b:secret", NULL), ZUNIMPLEMENTED);
    bench_trouble("unsupported: zoo_add_auth with a second identity");
    zh = owner_of_n();
    bench_enter(0);
    assert_int_equal(zoo_aget_acl(zh, "/n", bench_acl_done, "a"), ZOK);
    bench_leave();
    bench_run();
    bench_forget();
    bench_trouble("unsupported: zoo_aget_acl of a node that has more than the world in its ACL");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_setup, bench_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_node_is_its_makers),
        TEST(test_others_may_only_see_that_it_exists),
        TEST(test_nobody_in_particular_may_no_more),
        TEST(test_who_has_the_same_credentials_may_all),
        TEST(test_credentials_are_for_what_is_sent_after_them),
        TEST(test_credentials_are_repeated_after_a_reconnect),
        TEST(test_the_operations_of_a_multi_have_them_too),
        TEST(test_the_acl_reaches_all_servers),
        TEST(test_an_acl_may_have_both),
        TEST(test_without_credentials_there_is_no_acl_of_ones_own),
        TEST(test_the_answer_comes_in_its_turn),
        TEST(test_without_a_link_it_is_refused),
        TEST(test_a_refusal_is_the_end_of_the_handle),
        TEST(test_what_is_not_modelled_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
