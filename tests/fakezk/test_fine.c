/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Small steps: a connection is made in three, a message is received before its callback, what the server had not read
 * outlives the link. */
#include "support/fakezk_bench.h"

static void reopen(int servers)
{
    bench_reopen_with(
        &(struct fakezk_options){.clients = 3, .servers = servers, .tick_ms = 2000, .fine = true});
}

static void cut(int client)
{
    assert_true(fakezk_cut(client, 0, 0, 0, ZCONNECTIONLOSS, false));
}

static void test_a_connection_is_made_in_three_steps(void **state)
{
    (void)state;
    reopen(1);
    zhandle_t *zh = bench_init(0, "w", "server:2181", NULL);
    bench_step(FAKEZK_CONNECT, 0);
    assert_int_equal(bench_state(zh), ZOO_ASSOCIATING_STATE);
    assert_int_equal(bench_id(zh).client_id, 0);
    assert_false(fakezk_quiet());
    assert_int_equal(bench_exists(zh, "e", "/", NULL), ZOK); /* waits for the handshake */
    assert_false(bench_can(FAKEZK_APPLY, 0));
    assert_false(bench_can(FAKEZK_REARM, 0));
    bench_step(FAKEZK_HANDSHAKE, 0);
    assert_int_equal(bench_state(zh), ZOO_CONNECTED_STATE);
    assert_int_not_equal(bench_id(zh).client_id, 0);
    assert_false(bench_can(FAKEZK_APPLY, 0)); /* waits for SetWatches */
    bench_step(FAKEZK_REARM, 0);
    bench_step(FAKEZK_APPLY, 0);
    bench_run();
    bench_saw("w connected | e 0");
    assert_true(fakezk_quiet());
}

static void test_a_session_whose_handshake_is_lost_is_nobodys(void **state)
{
    (void)state;
    reopen(1);
    zhandle_t *zh = bench_init(0, "w", "server:2181", NULL);
    bench_step(FAKEZK_CONNECT, 0);
    cut(0);
    assert_true(fakezk_orphans());
    bench_step(FAKEZK_CONNECT, 0);
    bench_step(FAKEZK_HANDSHAKE, 0);
    bench_run();
    bench_saw("w connected");      /* and none before it: there was no connection to lose */
    int32_t first = 1, second = 4; /* of the first of three clients */
    assert_int_equal(bench_id(zh).client_id, fakezk_session_id(second));
    bench_step(FAKEZK_EXPIRE, 0); /* comes by itself */
    assert_false(fakezk_session_live(first));
    assert_true(fakezk_session_live(second));
}

static void test_a_session_goes_on_when_its_handshake_is_lost(void **state)
{
    (void)state;
    reopen(2);
    zhandle_t *zh = bench_connected(0, "w");
    clientid_t id = bench_id(zh);
    cut(0);
    bench_step_at(FAKEZK_CONNECT, 0, 1);
    cut(0);
    bench_run();
    bench_saw("w connecting | w connected");
    assert_int_equal(bench_id(zh).client_id, id.client_id);
    assert_false(fakezk_orphans());
}

static void test_the_end_of_a_session_is_heard_in_the_handshake(void **state)
{
    (void)state;
    reopen(1);
    zhandle_t *zh = bench_connected(0, "w");
    cut(0);
    assert_true(fakezk_expire(1));
    bench_step(FAKEZK_BURY, 0);
    bench_step(FAKEZK_CONNECT, 0);
    assert_false(bench_can(FAKEZK_HANG_UP, 0));
    assert_int_equal(bench_state(zh), ZOO_ASSOCIATING_STATE);
    cut(0); /* is not heard, and the next attempt hears it */
    bench_run();
    bench_saw("w connecting | w expired");
    assert_int_equal(bench_state(zh), ZOO_EXPIRED_SESSION_STATE);
}

static void test_what_is_received_survives_a_cut_and_the_rest_does_not(void **state)
{
    (void)state;
    reopen(1);
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(bench_exists(zh, "1", "/", NULL), ZOK);
    assert_int_equal(bench_exists(zh, "2", "/", NULL), ZOK);
    bench_step(FAKEZK_APPLY, 0);
    bench_step(FAKEZK_APPLY, 0);
    assert_false(bench_can(FAKEZK_DELIVER, 0));
    bench_step(FAKEZK_RECEIVE, 0);
    assert_true(bench_can(FAKEZK_DELIVER, 0));
    assert_false(fakezk_can_cut(0, 0, 1, 0, false));
    cut(0);
    bench_run();
    bench_saw("1 0 | w connecting | 2 -4 | w connected");
}

static void test_watches_are_compared_when_the_server_reads_them(void **state)
{
    (void)state;
    reopen(1);
    bench_node("/n");
    zhandle_t *zh = bench_connected(0, "w");
    zhandle_t *other = bench_connected(1, "o");
    assert_int_equal(bench_get(zh, "g", "/n", "x"), ZOK);
    bench_run();
    bench_forget();
    cut(0);
    bench_step(FAKEZK_CONNECT, 0);
    bench_step(FAKEZK_HANDSHAKE, 0);
    assert_int_equal(bench_delete(other, "d", "/n", -1), ZOK);
    bench_step(FAKEZK_APPLY, 1); /* between the handshake and SetWatches */
    bench_run();
    bench_saw("x connecting | w connecting | x connected | w connected | x deleted /n | d 0");
}

/* A create that the server has not read when its link breaks. */
static zhandle_t *leave_create(int servers)
{
    reopen(servers);
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(bench_exists(zh, "e", "/", NULL), ZOK);
    assert_int_equal(bench_create(zh, "c", "/n", ZOO_EPHEMERAL), ZOK);
    cut(0);
    while (bench_can(FAKEZK_DELIVER, 0)) {
        bench_step(FAKEZK_DELIVER, 0);
    }
    bench_saw("w connecting | e -4 | c -4");
    assert_false(fakezk_exists("/n"));
    return zh;
}

static void test_a_write_is_read_behind_its_link(void **state)
{
    (void)state;
    leave_create(1);
    bench_step(FAKEZK_LINGER, 0);
    assert_true(fakezk_exists("/n"));
    assert_false(bench_can(FAKEZK_LINGER, 0));
    bench_run();
    bench_saw("w connected");
}

static void test_it_is_never_read_once_there_is_another_link(void **state)
{
    (void)state;
    for (int servers = 1; servers <= 2; servers++) {
        leave_create(servers);
        bench_step_at(FAKEZK_CONNECT, 0, servers - 1);
        assert_false(bench_can(FAKEZK_LINGER, 0));
        bench_run();
        assert_false(fakezk_exists("/n"));
        bench_saw("w connected");
    }
}

static void test_it_is_never_read_when_the_session_is_over(void **state)
{
    (void)state;
    leave_create(1);
    assert_true(fakezk_expire(1));
    bench_step(FAKEZK_BURY, 0);
    assert_false(bench_can(FAKEZK_LINGER, 0));
    bench_run();
    bench_saw("w expired");
}

static void test_a_handle_is_closed_before_its_handshake(void **state)
{
    (void)state;
    reopen(1);
    zhandle_t *zh = bench_init(0, "w", "server:2181", NULL);
    bench_step(FAKEZK_CONNECT, 0);
    assert_int_equal(bench_close(zh), ZOK);
    assert_true(fakezk_session_live(1)); /* nobody told the server */
    assert_true(fakezk_orphans());
    bench_saw("");
}

/* What the server has answered stays true: it was no read-only server then (F105). */
static void test_a_server_is_cut_off_before_its_answer_is_heard(void **state)
{
    (void)state;
    reopen(2);
    zhandle_t *zh = bench_init(0, "w", "server:2181", NULL);
    bench_step_at(FAKEZK_CONNECT, 0, 1);
    fakezk_freeze(1, true);
    bench_step(FAKEZK_HANDSHAKE, 0);
    bench_step(FAKEZK_DELIVER, 0);
    bench_saw("w connected");
    assert_int_equal(bench_state(zh), ZOO_CONNECTED_STATE);
}

static void test_a_read_only_server_finds_its_leader_before_its_answer_is_heard(void **state)
{
    (void)state;
    bench_reopen_with(&(struct fakezk_options){
        .clients = 3, .servers = 2, .tick_ms = 2000, .fine = true, .settings = FAKEZK_SETTING_READ_ONLY});
    bench_enter(0);
    zhandle_t *zh =
        zookeeper_init("server:2181", bench_watcher, BENCH_TIMEOUT_MS, NULL, bench_tag("w"), ZOO_READONLY);
    bench_leave();
    bench_run();
    fakezk_freeze(1, true);
    cut(0);
    bench_step_at(FAKEZK_CONNECT, 0, 1);
    fakezk_freeze(1, false);
    bench_forget();
    bench_run(); /* the server has ended that link */
    assert_int_equal(bench_state(zh), ZOO_CONNECTED_STATE);
    bench_forget();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_setup, bench_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_connection_is_made_in_three_steps),
        TEST(test_a_session_whose_handshake_is_lost_is_nobodys),
        TEST(test_a_session_goes_on_when_its_handshake_is_lost),
        TEST(test_the_end_of_a_session_is_heard_in_the_handshake),
        TEST(test_what_is_received_survives_a_cut_and_the_rest_does_not),
        TEST(test_watches_are_compared_when_the_server_reads_them),
        TEST(test_a_write_is_read_behind_its_link),
        TEST(test_it_is_never_read_once_there_is_another_link),
        TEST(test_it_is_never_read_when_the_session_is_over),
        TEST(test_a_handle_is_closed_before_its_handshake),
        TEST(test_a_server_is_cut_off_before_its_answer_is_heard),
        TEST(test_a_read_only_server_finds_its_leader_before_its_answer_is_heard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
