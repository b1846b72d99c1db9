/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Settings of servers that refuse requests whatever they ask for (F102 to F106). */
#include "support/fakezk_bench.h"

#define THROTTLED "-127" /* ZTHROTTLEDOP, which older headers lack */

static void reopen(int servers, unsigned settings)
{
    struct fakezk_options options = bench.options;
    options.servers = servers;
    options.settings = settings;
    bench_reopen_with(&options);
}

static zhandle_t *open_read_only(int client, int flags)
{
    bench_enter(client);
    zhandle_t *zh = zookeeper_init("h", bench_watcher, BENCH_TIMEOUT_MS, NULL, bench_tag("w"), flags);
    bench_leave();
    bench_run();
    bench_forget();
    return zh;
}

/* Each third is not executed at all, and the client may send it again. */
static void test_a_throttled_request_is_not_executed(void **state)
{
    (void)state;
    reopen(1, FAKEZK_SETTING_THROTTLED);
    zhandle_t *zh = bench_connected(0, "w");
    bench_create(zh, "c", "/a", ZOO_PERSISTENT);
    bench_create(zh, "d", "/b", ZOO_PERSISTENT);
    bench_create(zh, "e", "/c", ZOO_PERSISTENT);
    bench_create(zh, "f", "/c", ZOO_PERSISTENT);
    bench_run();
    bench_saw("c 0 /a | d 0 /b | e " THROTTLED " | f 0 /c");
}

static void test_a_local_session_has_no_ephemeral_node(void **state)
{
    (void)state;
    reopen(3, FAKEZK_SETTING_LOCAL_SESSIONS);
    zhandle_t *zh = bench_connected(0, "w");
    bench_create(zh, "c", "/a", ZOO_EPHEMERAL);
    bench_create(zh, "d", "/b", ZOO_EPHEMERAL_SEQUENTIAL);
    bench_create(zh, "e", "/c", ZOO_PERSISTENT_SEQUENTIAL);
    bench_run();
    bench_saw("c -120 | d -120 | e 0 /c0000000000");
}

/* The server answers, and closes the link: what was sent behind is lost. */
static void test_a_server_that_requires_sasl_closes_the_link(void **state)
{
    (void)state;
    reopen(1, FAKEZK_SETTING_REQUIRES_SASL);
    zhandle_t *zh = bench_connected(0, "w");
    bench_exists(zh, "e", "/", NULL);
    bench_exists(zh, "f", "/", NULL);
    bench_run();
    bench_saw("e -124 | w connecting | f -4 | w connected");
}

/* A follower that is cut off from the leader serves whom asked for that, until it has found the leader again. */
static void test_a_read_only_server_refuses_writes(void **state)
{
    (void)state;
    reopen(2, FAKEZK_SETTING_READ_ONLY);
    zhandle_t *zh = open_read_only(0, ZOO_READONLY);
    fakezk_freeze(1, true);
    bench_cut(zh, 0, 0, ZCONNECTIONLOSS);
    bench_step_at(FAKEZK_CONNECT, 0, 1);
    bench_exists(zh, "e", "/zz", NULL);
    bench_create(zh, "c", "/a", ZOO_PERSISTENT);
    bench_sync(zh, "s", "/");
    bench_run();
    assert_int_equal(bench_state(zh), ZOO_READONLY_STATE);
    bench_saw("w connecting | w read-only | e -101 | c -119 | s -119");
    fakezk_freeze(1, false);
    bench_create(zh, "c", "/a", ZOO_PERSISTENT);
    bench_run();
    bench_saw("w connecting | w connected | c 0 /a");
}

static void test_a_read_only_server_takes_no_other(void **state)
{
    (void)state;
    reopen(2, FAKEZK_SETTING_READ_ONLY);
    zhandle_t *zh = open_read_only(0, 0);
    fakezk_freeze(1, true);
    bench_cut(zh, 0, 0, ZCONNECTIONLOSS);
    bench_run();
    assert_int_equal(bench_state(zh), ZOO_CONNECTED_STATE); /* at the leader */
    bench_forget();
}

static void test_a_failed_handshake_fails_what_waits(void **state)
{
    (void)state;
    reopen(1, FAKEZK_SETTING_TLS);
    zhandle_t *zh = bench_connected(0, "w");
    bench_cut(zh, 0, 0, ZCONNECTIONLOSS);
    bench_exists(zh, "e", "/", NULL);
    assert_true(fakezk_refuse(0, bench_slot(zh)));
    bench_run();
    bench_saw("w connecting | e -15 | w connected");
}

/* What was told is noted once, under the names of the header. */
static void test_what_was_told_has_names(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    (void)fakezk_take_told();
    bench_exists(zh, "e", "/zz", NULL);
    bench_run();
    bench_forget();
    uint64_t told = fakezk_take_told();
    int count = 0;
    for (int i = 0; fakezk_told_name(i) != NULL; i++) {
        bool no_node = strcmp(fakezk_told_name(i), "ZNONODE") == 0;
        bool ok = strcmp(fakezk_told_name(i), "ZOK") == 0;
        assert_int_equal(told >> i & 1, no_node || ok);
        count++;
    }
    assert_in_range(count, 40, 64);
    assert_null(fakezk_told_name(-1));
    assert_int_equal(fakezk_take_told(), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_setup, bench_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_throttled_request_is_not_executed),
        TEST(test_a_local_session_has_no_ephemeral_node),
        TEST(test_a_server_that_requires_sasl_closes_the_link),
        TEST(test_a_read_only_server_refuses_writes),
        TEST(test_a_read_only_server_takes_no_other),
        TEST(test_a_failed_handshake_fails_what_waits),
        TEST(test_what_was_told_has_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
