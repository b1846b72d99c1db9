/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The ends of the fake: capacities and misuse become trouble with a text, and calls that it does not have say
 * their name (F24, F25, F37, F56, F92). */
#define THREADED 1
#include "support/fakezk_bench.h"

#include <stdlib.h>

#define BIG 20000

static char big[BIG + 1];

static zhandle_t *small_world(size_t client_bytes, size_t server_bytes, int servers)
{
    struct fakezk_options options = bench.options;
    options.client_bytes_max = client_bytes;
    options.server_bytes_max = server_bytes;
    options.servers = servers;
    bench_reopen_with(&options);
    memset(big, 'x', BIG);
    return bench_connected(0, "w");
}

static void create_many(zhandle_t *zh, int count, int size, const char *trouble)
{
    for (int i = 0; i < count && fakezk_trouble() == NULL; i++) {
        assert_int_equal(bench_create_data(zh, "c", "/n-", big, size, ZOO_PERSISTENT_SEQUENTIAL), ZOK);
        while (fakezk_trouble() == NULL && (bench_can(FAKEZK_APPLY, 0) || bench_can(FAKEZK_DELIVER, 0))) {
            bench_step(bench_can(FAKEZK_APPLY, 0) ? FAKEZK_APPLY : FAKEZK_DELIVER, 0);
        }
        bench_forget();
    }
    bench_trouble(trouble);
}

static void test_calls_outside_a_process(void **state)
{
    (void)state;
    assert_null(zookeeper_init("h", bench_watcher, 1000, NULL, NULL, 0));
    bench_trouble("zookeeper_init: called while no process runs");
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(zoo_adelete(zh, "/n", -1, bench_void_done, "d"), ZBADARGUMENTS);
    bench_trouble("zoo_adelete: called while no process runs");
    zh = bench_connected(0, "w");
    bench_enter(1);
    assert_int_equal(fakezk_entered(), 1);
    assert_int_equal(zoo_aexists(zh, "/n", 1, bench_stat_done, "d"), ZBADARGUMENTS);
    bench_leave();
    assert_int_equal(fakezk_entered(), -1);
    assert_int_equal(bench.events[FAKEZK_MISUSED], 1);
    assert_int_equal(bench.event[FAKEZK_MISUSED].client, 1);
    assert_int_equal(bench_close(zh), ZOK);
    bench_enter(0);
    assert_int_equal(zookeeper_close(zh), ZBADARGUMENTS);
    assert_null(zoo_client_id(zh));
    assert_int_equal(zoo_recv_timeout(zh), 0);
    assert_null(zoo_get_context(zh));
    zoo_set_context(zh, big);
    assert_true(zoo_set_watcher(zh, bench_watcher) == NULL);
    assert_int_equal(is_unrecoverable(zh), ZOK);
    assert_int_equal(zoo_state(zh), 0);
    assert_int_equal(zoo_amulti(zh, 0, NULL, NULL, bench_void_done, "m"), ZBADARGUMENTS);
    bench_leave();
    assert_int_equal(bench.events[FAKEZK_MISUSED], 10);
}

static void test_the_first_trouble_counts(void **state)
{
    (void)state;
    assert_null(zookeeper_init("h", bench_watcher, 1000, NULL, NULL, 0));
    assert_int_equal(zoo_set_servers(NULL, "h"), ZUNIMPLEMENTED);
    bench_trouble("zookeeper_init");
}

static void test_too_many_handles(void **state)
{
    (void)state;
    for (int i = 0; i < FAKEZK_HANDLES_MAX; i++) {
        assert_non_null(bench_init(0, "w", "h", NULL));
    }
    assert_null(bench_init(0, "w", "h", NULL));
    bench_trouble("handles in one process");
}

static void test_too_many_chroots(void **state)
{
    (void)state;
    char host[16];
    for (int i = 0; i < 9 && fakezk_trouble() == NULL; i++) {
        snprintf(host, sizeof host, "h/%d", i);
        zhandle_t *zh = bench_init(0, "w", host, NULL);
        assert_int_equal(bench_close(zh), ZOK);
    }
    bench_trouble("chroots");
}

static void test_paths_that_are_too_long(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    char path[FAKEZK_PATH_MAX + 2];
    memset(path, 'x', sizeof path);
    path[0] = '/';
    path[FAKEZK_PATH_MAX] = 0;
    assert_int_equal(bench_create(zh, "c", path, ZOO_PERSISTENT), ZBADARGUMENTS);
    bench_trouble("path is longer than 255 bytes");
    zh = bench_connected(0, "w");
    path[FAKEZK_PATH_MAX - 1] = 0;
    assert_int_equal(bench_create(zh, "c", path, ZOO_PERSISTENT), ZOK);
    bench_run();
    assert_true(fakezk_exists(path));
    path[FAKEZK_PATH_MAX - 5] = 0;
    assert_int_equal(bench_create(zh, "c", path, ZOO_PERSISTENT_SEQUENTIAL), ZOK);
    bench_step(FAKEZK_APPLY, 0);
    bench_trouble("path is longer than 255 bytes");
}

static void test_values_that_are_too_large(void **state)
{
    (void)state;
    zhandle_t *zh = small_world(0, 0, 1);
    assert_int_equal(bench_create_data(zh, "c", "/n", big, BIG, ZOO_PERSISTENT), ZSYSTEMERROR);
    bench_trouble("requests of a client do not fit");
    zh = small_world(0, 0, 1);
    assert_int_equal(bench_create_data(zh, "c", "/n", big, 100000, ZOO_PERSISTENT), ZSYSTEMERROR);
    bench_trouble("requests of a client do not fit");
}

static void test_too_many_requests(void **state)
{
    (void)state;
    zhandle_t *zh = small_world(4096, 0, 1);
    int rc = ZOK;
    for (int i = 0; i < 1000 && rc == ZOK; i++) {
        rc = bench_exists(zh, "e", "/n", NULL);
    }
    assert_int_equal(rc, ZSYSTEMERROR);
    bench_trouble("requests of a client do not fit");
}

static void test_too_many_messages(void **state)
{
    (void)state;
    zhandle_t *zh = small_world(4096, 0, 1);
    assert_int_equal(bench_create_data(zh, "c", "/n", big, 1500, ZOO_PERSISTENT), ZOK);
    bench_run();
    for (int i = 0; i < 20 && fakezk_trouble() == NULL; i++) {
        assert_int_equal(bench_get(zh, "g", "/n", NULL), ZOK);
        bench_step(FAKEZK_APPLY, 0);
    }
    bench_trouble("messages of a client do not fit");
}

static void test_failures_that_do_not_fit(void **state)
{
    (void)state;
    zhandle_t *zh = small_world(4096, 0, 1);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(bench_exists(zh, "g", "/n", NULL), ZOK);
    }
    for (int i = 0; i < 1000 && fakezk_trouble() == NULL; i++) {
        assert_true(fakezk_cut(0, 0, 0, 0, ZCONNECTIONLOSS, false));
        bench_step(FAKEZK_CONNECT, 0);
    }
    bench_trouble("messages of a client do not fit");
}

static void test_a_full_server(void **state)
{
    (void)state;
    create_many(small_world(0, 4096, 1), 1000, 10, "a server's block is full (creating");
    zhandle_t *zh = small_world(0, 4096, 1);
    big[3000] = 0;
    bench_node("/n");
    assert_int_equal(bench_set(zh, "s", "/n", big, -1), ZOK);
    bench_run();
    assert_int_equal(bench_set(zh, "s", "/n", big, -1), ZOK);
    bench_step(FAKEZK_APPLY, 0);
    bench_step(FAKEZK_DELIVER, 0);
    bench_saw("s 0 | s -1");
    bench_trouble("a server's block is full (setting");
}

static void test_a_full_backlog(void **state)
{
    (void)state;
    zhandle_t *zh = small_world(0, 0, 2);
    fakezk_lag(1, true);
    for (int i = 0; i < 1000 && fakezk_trouble() == NULL; i++) {
        assert_int_equal(bench_create_data(zh, "c", "/n", big, 500, ZOO_PERSISTENT), ZOK);
        assert_int_equal(bench_delete(zh, "d", "/n", -1), ZOK);
        bench_run();
        bench_saw("c 0 /n | d 0");
    }
    bench_trouble("the backlog of s2 is full");
    zh = small_world(0, 8192, 2);
    bench_cut(zh, 0, 0, ZCONNECTIONLOSS);
    bench_step_at(FAKEZK_CONNECT, 0, 1);
    for (int i = 0; i < 100 && fakezk_trouble() == NULL; i++) {
        assert_int_equal(bench_sync(zh, "s", "/"), ZOK);
        assert_int_equal(bench_create_data(zh, "c", "/n-", big, 1000, ZOO_PERSISTENT_SEQUENTIAL), ZOK);
        bench_step(FAKEZK_APPLY, 0);
        fakezk_cut(0, 0, 0, 1, ZCONNECTIONLOSS, false);
        while (bench_can(FAKEZK_DELIVER, 0)) {
            bench_step(FAKEZK_DELIVER, 0);
        }
        bench_forget();
        if (fakezk_trouble() == NULL) {
            bench_step_at(FAKEZK_CONNECT, 0, 1);
        }
    }
    bench_trouble("full");
}

static void test_too_many_watches(void **state)
{
    (void)state;
    static char tags[100][12];
    zhandle_t *zh = small_world(0, 0, 1);
    bench_node("/n");
    for (int i = 0; i < 65; i++) {
        snprintf(tags[i], sizeof tags[i], "%d", i);
        assert_int_equal(bench_exists(zh, "e", "/n", tags[i]), ZOK);
        bench_run();
        bench_forget();
    }
    assert_true(fakezk_operator_remove("/n"));
    bench_step(FAKEZK_DELIVER, 0);
    bench_trouble("watchers for one event");
    zh = small_world(2048, 0, 1);
    for (int i = 0; i < 100 && fakezk_trouble() == NULL; i++) {
        snprintf(tags[i], sizeof tags[i], "%d", i);
        assert_int_equal(bench_exists(zh, "e", "/n", tags[i]), ZOK);
        bench_step(FAKEZK_APPLY, 0);
        if (fakezk_trouble() == NULL) {
            bench_step(FAKEZK_DELIVER, 0);
        }
        bench_forget();
    }
    bench_trouble("do not fit");
    zh = small_world(0, 1024, 1);
    for (int i = 0; i < 100 && fakezk_trouble() == NULL; i++) {
        char path[24];
        snprintf(path, sizeof path, "/n%d", i);
        assert_int_equal(bench_exists(zh, "e", path, "x"), ZOK);
        bench_step(FAKEZK_APPLY, 0);
        bench_step(FAKEZK_DELIVER, 0);
        bench_forget();
    }
    bench_trouble("s1 has too many watches");
}

static void test_too_many_sessions(void **state)
{
    (void)state;
    for (int i = 0; i < 2000 && fakezk_trouble() == NULL; i++) {
        zhandle_t *zh = bench_init(0, "w", "h", NULL);
        bench_step(FAKEZK_CONNECT, 0);
        if (fakezk_trouble() == NULL) {
            assert_true(fakezk_cut(0, bench_slot(zh), 0, 0, ZCONNECTIONLOSS, false));
        }
        assert_int_equal(bench_close(zh), ZOK);
        bench_forget();
    }
    bench_trouble("too many sessions");
}

static void test_too_many_late_writes(void **state)
{
    (void)state;
    zhandle_t *zh = small_world(0, 0, 2);
    for (int i = 0; i < 100 && fakezk_trouble() == NULL; i++) {
        if (fakezk_connected(0, 0)) {
            bench_cut(zh, 0, 0, ZCONNECTIONLOSS);
        }
        bench_step_at(FAKEZK_CONNECT, 0, 1);
        assert_int_equal(bench_create_data(zh, "c", "/n-", big, 1000, ZOO_PERSISTENT_SEQUENTIAL), ZOK);
        assert_true(fakezk_cut(0, 0, 0, 1, ZCONNECTIONLOSS, true));
        while (bench_can(FAKEZK_DELIVER, 0)) {
            bench_step(FAKEZK_DELIVER, 0);
        }
        bench_forget();
    }
    bench_trouble("too many late writes");
}

static void test_multis_that_are_too_large(void **state)
{
    (void)state;
    static zoo_op_t ops[17];
    static zoo_op_result_t results[17];
    zhandle_t *zh = small_world(0, 0, 1);
    for (int i = 0; i < 17; i++) {
        zoo_check_op_init(&ops[i], "/", -1);
    }
    assert_int_equal(bench_multi(zh, "m", 16, ops, results), ZOK);
    bench_run();
    bench_saw("m 0");
    assert_int_equal(bench_multi(zh, "m", 17, ops, results), ZSYSTEMERROR);
    bench_trouble("a multi of more than 16 operations");
    zh = small_world(0, 0, 1);
    for (int i = 0; i < 4; i++) {
        zoo_set_op_init(&ops[i], "/", big, 5000, -1, NULL);
    }
    assert_int_equal(bench_multi(zh, "m", 4, ops, results), ZSYSTEMERROR);
    bench_trouble("a multi is too large");
}

static void test_a_session_with_too_many_nodes(void **state)
{
    (void)state;
    zhandle_t *zh = small_world(0, 60000, 1);
    char path[204];
    memset(path, 'y', sizeof path);
    path[0] = '/';
    path[sizeof path - 1] = 0;
    for (int i = 0; i < 140; i++) {
        assert_int_equal(bench_create(zh, "c", path, ZOO_EPHEMERAL_SEQUENTIAL), ZOK);
        bench_run();
        bench_forget();
    }
    assert_null(fakezk_trouble());
    assert_int_equal(bench_close(zh), ZOK);
    bench_trouble("a transaction is too large");
}

static void test_long_lists(void **state)
{
    (void)state;
    zhandle_t *zh = small_world(0, 60000, 1);
    for (int i = 0; i < 257; i++) {
        assert_int_equal(bench_create(zh, "c", "/n-", ZOO_PERSISTENT_SEQUENTIAL), ZOK);
        bench_run();
        bench_forget();
    }
    assert_int_equal(bench_list(zh, "l", "/", NULL), ZOK);
    bench_step(FAKEZK_APPLY, 0);
    bench_trouble("more than 256 children");
    zh = small_world(60000, 64000, 1);
    char path[244];
    memset(path, 'y', sizeof path);
    path[0] = '/';
    path[sizeof path - 1] = 0;
    for (int i = 0; i < 150; i++) {
        assert_int_equal(bench_create(zh, "c", path, ZOO_PERSISTENT_SEQUENTIAL), ZOK);
        bench_run();
        bench_forget();
    }
    assert_null(fakezk_trouble());
    assert_int_equal(bench_list(zh, "l", "/", NULL), ZOK);
    bench_step(FAKEZK_APPLY, 0);
    bench_trouble("the list of children of / is too long");
}

static void test_too_many_steps(void **state)
{
    (void)state;
    bench_init(0, "w", "h", NULL);
    bench_init(1, "w", "h", NULL);
    struct fakezk_step steps[2];
    assert_int_equal(fakezk_steps(steps, 2), 2);
    assert_int_equal(fakezk_steps(steps, 1), 1);
    bench_trouble("more than 1 steps");
}

static void test_other_acls(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    char scheme[] = "digest";
    char id[] = "a:b";
    struct ACL acl = {ZOO_PERM_ALL, {scheme, id}};
    struct ACL_vector vector = {1, &acl};
    bench_enter(0);
    assert_int_equal(zoo_acreate(zh, "/n", NULL, -1, &vector, 0, bench_string_done, "c"), ZOK);
    bench_leave();
    bench_run();
    bench_saw("c -114");
    bench_trouble("unsupported: ACL scheme digest");
}

static void test_removing_a_watch_locally(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(bench_exists(zh, "e", "/n", "x"), ZOK);
    bench_run();
    bench_enter(0);
    assert_int_equal(zoo_aremove_all_watches(zh, "/n", ZWATCHTYPE_ANY, 1, NULL, "r"), ZUNIMPLEMENTED);
    bench_leave();
    bench_forget();
    bench_trouble("zoo_aremove_all_watches: local removal crashes the real client");
}

#define UNSUPPORTED(call, name)                                                                              \
    do {                                                                                                     \
        assert_int_equal(call, ZUNIMPLEMENTED);                                                              \
        bench_trouble("unsupported call: " name);                                                            \
    } while (0)

static void test_synchronous_calls_say_their_name(void **state)
{
    (void)state;
    zhandle_t *zh = NULL;
    UNSUPPORTED(zoo_create(zh, "/n", NULL, -1, NULL, 0, NULL, 0), "zoo_create");
    UNSUPPORTED(zoo_create2(zh, "/n", NULL, -1, NULL, 0, NULL, 0, NULL), "zoo_create2");
    UNSUPPORTED(zoo_delete(zh, "/n", -1), "zoo_delete");
    UNSUPPORTED(zoo_exists(zh, "/n", 0, NULL), "zoo_exists");
    UNSUPPORTED(zoo_wexists(zh, "/n", NULL, NULL, NULL), "zoo_wexists");
    UNSUPPORTED(zoo_get(zh, "/n", 0, NULL, NULL, NULL), "zoo_get");
    UNSUPPORTED(zoo_wget(zh, "/n", NULL, NULL, NULL, NULL, NULL), "zoo_wget");
    UNSUPPORTED(zoo_set(zh, "/n", NULL, -1, -1), "zoo_set");
    UNSUPPORTED(zoo_set2(zh, "/n", NULL, -1, -1, NULL), "zoo_set2");
    UNSUPPORTED(zoo_get_children(zh, "/n", 0, NULL), "zoo_get_children");
    UNSUPPORTED(zoo_wget_children(zh, "/n", NULL, NULL, NULL), "zoo_wget_children");
    UNSUPPORTED(zoo_get_children2(zh, "/n", 0, NULL, NULL), "zoo_get_children2");
    UNSUPPORTED(zoo_wget_children2(zh, "/n", NULL, NULL, NULL, NULL), "zoo_wget_children2");
    UNSUPPORTED(zoo_multi(zh, 0, NULL, NULL), "zoo_multi");
    UNSUPPORTED(zoo_remove_watches(zh, "/n", ZWATCHTYPE_ANY, NULL, NULL, 0), "zoo_remove_watches");
}

static void test_other_calls_say_their_name(void **state)
{
    (void)state;
    zhandle_t *zh = NULL;
    UNSUPPORTED(zoo_set_servers(zh, "h"), "zoo_set_servers");
    UNSUPPORTED(zoo_acreate_ttl(zh, "/n", NULL, -1, NULL, 5, 1, bench_string_done, NULL), "zoo_acreate_ttl");
    UNSUPPORTED(zoo_acreate2_ttl(zh, "/n", NULL, -1, NULL, 5, 1, NULL, NULL), "zoo_acreate2_ttl");
}

static void test_texts_vectors_and_hooks(void **state)
{
    (void)state;
    assert_string_equal(zerror(ZNONODE), "no node");
    assert_string_equal(zerror(ZOK), "ok");
    assert_string_equal(zerror(-9999), "unknown error");
    struct String_vector strings;
    assert_int_equal(allocate_String_vector(&strings, 2), 0);
    assert_int_equal(strings.count, 2);
    strings.data[0] = strdup("x");
    assert_null(strings.data[1]);
    assert_int_equal(deallocate_String_vector(&strings), 0);
    assert_null(strings.data);
    assert_int_equal(allocate_String_vector(&strings, 0), 0);
    assert_null(strings.data);
    assert_int_equal(deallocate_String_vector(&strings), 0);
    struct ACL_vector acls;
    assert_int_equal(allocate_ACL_vector(&acls, 1), 0);
    acls.data[0].id.scheme = strdup("world");
    acls.data[0].id.id = strdup("anyone");
    assert_int_equal(deallocate_ACL_vector(&acls), 0);
    assert_null(acls.data);
    assert_int_equal(allocate_ACL_vector(&acls, 0), 0);
    assert_int_equal(deallocate_ACL_vector(&acls), 0);
    zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
    zoo_set_log_stream(NULL);
    zoo_set_log_callback(NULL, NULL);
    zoo_deterministic_conn_order(1);
    assert_int_equal(zoo_set_servers_resolution_delay(NULL, -1), ZBADARGUMENTS);
    zhandle_t *zh = (zhandle_t *)(void *)&strings;
    assert_int_equal(zoo_set_servers_resolution_delay(zh, -2), ZBADARGUMENTS);
    assert_int_equal(zoo_set_servers_resolution_delay(zh, -1), ZOK);
    assert_int_equal(zoo_set_servers_resolution_delay(zh, 1000), ZOK);
    assert_true(zoo_get_log_callback(NULL) == NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_setup, bench_teardown)

/* Who says that it ignores children may list them, but not watch them. */
static void test_watches_on_children_that_are_ignored(void **state)
{
    (void)state;
    struct fakezk_options options = bench.options;
    options.ignores_children = true;
    bench_reopen_with(&options);
    zhandle_t *zh = bench_connected(0, "w");
    bench_enter(0);
    assert_int_equal(zoo_aget_children(zh, "/", 0, NULL, "l"), ZOK);
    assert_int_equal(zoo_awexists(zh, "/n", bench_watcher, NULL, bench_stat_done, "e"), ZOK);
    assert_null(fakezk_trouble());
    assert_int_equal(zoo_awget_children(zh, "/", bench_watcher, NULL, NULL, "l"), ZBADARGUMENTS);
    bench_leave();
    bench_trouble("a watch on children, of a recipe that says that it ignores them");
}

/* Who says that data is never set cannot set it, and no watch has missed that it was. */
static void test_data_that_is_never_set(void **state)
{
    (void)state;
    struct fakezk_options options = bench.options;
    options.ignores_children = options.sets_no_data = true;
    bench_reopen_with(&options);
    bench_node("/n");
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(bench_get(zh, "g", "/n", "data"), ZOK);
    bench_run();
    bench_saw("g 0 null");
    bench_cut(zh, 0, 0, ZCONNECTIONLOSS);
    bench_run();
    bench_saw("data connecting | w connecting | data connected | w connected");
    bench_cut(zh, 0, 0, ZCONNECTIONLOSS);
    assert_true(fakezk_operator_remove("/n"));
    bench_run();
    bench_saw("data connecting | w connecting | data connected | w connected | data deleted /n");
    bench_node("/n");
    bench_enter(0);
    assert_int_equal(zoo_aset(zh, "/n", "x", 1, -1, bench_stat_done, "s"), ZBADARGUMENTS);
    bench_leave();
    bench_trouble("zoo_aset: data is set, by a recipe that says that it never does that");
}

/* Of three names the client will not look at the second. */
static void unread(int client, void (*completion)(void), const struct String_vector *names, bool *list)
{
    assert_int_equal(client, 0);
    assert_true(completion != NULL);
    assert_int_equal(names->count, 3);
    assert_string_equal(names->data[1], "b");
    list[1] = true;
}

static void test_names_that_are_dropped(void **state)
{
    (void)state;
    struct fakezk_options options = bench.options;
    options.unread = unread;
    bench_reopen_with(&options);
    bench_node("/p/a");
    bench_node("/p/b");
    bench_node("/p/c");
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(bench_exists(zh, "e", "/p", NULL), ZOK);
    assert_int_equal(bench_list(zh, "l", "/p", NULL), ZOK);
    assert_int_equal(bench_exists(zh, "f", "/p", NULL), ZOK);
    for (int i = 0; i < 3; i++) {
        bench_step(FAKEZK_APPLY, 0);
    }
    assert_false(fakezk_drop_unread(0, 0)); /* that is not a list */
    bench_step(FAKEZK_DELIVER, 0);
    assert_true(fakezk_drop_unread(0, 0));
    bench_run();
    bench_saw("e 0 | l 0 [a c] | f 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_watches_on_children_that_are_ignored),
        TEST(test_data_that_is_never_set),
        TEST(test_names_that_are_dropped),
        TEST(test_calls_outside_a_process),
        TEST(test_the_first_trouble_counts),
        TEST(test_too_many_handles),
        TEST(test_too_many_chroots),
        TEST(test_paths_that_are_too_long),
        TEST(test_values_that_are_too_large),
        TEST(test_too_many_requests),
        TEST(test_too_many_messages),
        TEST(test_failures_that_do_not_fit),
        TEST(test_a_full_server),
        TEST(test_a_full_backlog),
        TEST(test_too_many_watches),
        TEST(test_too_many_sessions),
        TEST(test_too_many_late_writes),
        TEST(test_multis_that_are_too_large),
        TEST(test_a_session_with_too_many_nodes),
        TEST(test_long_lists),
        TEST(test_too_many_steps),
        TEST(test_other_acls),
        TEST(test_removing_a_watch_locally),
        TEST(test_synchronous_calls_say_their_name),
        TEST(test_other_calls_say_their_name),
        TEST(test_texts_vectors_and_hooks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
