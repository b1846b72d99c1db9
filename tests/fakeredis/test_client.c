/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The client library: what hiredis 0.14 promises to its callers (R17), and what the end of a connection
 * does. */
#include "fakeredis/bench.h"

/* Commands are taken before the connection is up, and answered in their order. */
static void commands_wait_for_the_connection(void **state)
{
    (void)state;
    bench_open(true, NULL);
    redisAsyncContext *c = bench_connect(0);
    bench_send(0, c, "1", "SET k 1");
    bench_send(0, c, "2", "INCR k");
    assert_false(fakeredis_can_apply(0, 0));
    bench_run_client(0);
    bench_saw("up (wrote k) 1=OK (wrote k) 2=2 ");
}

static void nobody_answers_at_another_port(void **state)
{
    (void)state;
    bench_open(true, NULL);
    fakeredis_enter(0);
    redisAsyncContext *c = redisAsyncConnect("127.0.0.1", FAKEREDIS_PORT + 1);
    redisAsyncSetConnectCallback(c, bench_up);
    redisAsyncSetDisconnectCallback(c, bench_down);
    fakeredis_leave();
    bench_send(0, c, "1", "GET k");
    bench_run_client(0);
    bench_saw("refused 1=lost ");
    assert_false(fakeredis_is_open(0, 0));
}

/* Behind the end of a connection all callbacks that wait run once, without a reply, then the one of the
 * end. */
static void a_cut_answers_all_that_wait(void **state)
{
    (void)state;
    bench_open(true, NULL);
    redisAsyncContext *c = bench_connected(0);
    for (int i = 0; i < 4; i++) {
        static const char *const names[] = {"1", "2", "3", "4"};
        bench_send(0, c, names[i], "INCR k");
    }
    fakeredis_apply(0, 0);
    fakeredis_apply(0, 0);
    assert_int_equal(fakeredis_replies(0, 0), 2);
    assert_int_equal(fakeredis_requests(0, 0), 2);
    fakeredis_cut(0, 0, 1, 1, false);
    bench_saw("(wrote k) (wrote k) (wrote k) ");
    bench_send(0, c, "5", "INCR k"); /* the client has not noticed */
    bench_run_client(0);
    bench_saw("1=1 2=lost 3=lost 4=lost 5=lost down ");
    c = bench_connected(0);
    bench_ask(0, c, "get", "GET k");
    bench_saw("get='3' ");
}

/* What was sent before a connection broke may be done late, and stays possible. */
static void a_late_request_is_done_after_all(void **state)
{
    (void)state;
    bench_open(true, NULL);
    redisAsyncContext *c = bench_connected(0);
    bench_ask(0, c, "select", "SELECT 3");
    bench_send(0, c, "1", "SET k late");
    fakeredis_cut(0, 0, 0, 1, true);
    bench_run_client(0);
    c = bench_connect(0);
    bench_run_client(0);
    bench_ask(0, c, "get", "GET k");
    bench_saw("select=OK 1=lost down up get=nil ");
    assert_true(fakeredis_can_arrive(0));
    fakeredis_arrive(0);
    assert_false(fakeredis_can_arrive(0));
    bench_ask(0, c, "get", "GET k");
    bench_ask(0, c, "select", "SELECT 3");
    bench_ask(0, c, "get", "GET k");
    bench_saw("(wrote k) get=nil select=OK get='late' ");
}

/* redisAsyncFree(): waiting callbacks run at once; what was sent may still be done. */
static void free_answers_at_once(void **state)
{
    (void)state;
    bench_open(true, NULL);
    redisAsyncContext *c = bench_connected(0);
    bench_send(0, c, "1", "SET k 1");
    fakeredis_enter(0);
    redisAsyncFree(c);
    fakeredis_leave();
    bench_saw("1=lost closed ");
    assert_true(fakeredis_can_arrive(0));
}

static void free_in_callback(redisAsyncContext *context, void *reply, void *name)
{
    bench_done(context, reply, name);
    if (reply != NULL) {
        redisAsyncFree(context);
        assert_int_equal(redisAsyncCommand(context, bench_done, NULL, "PING"), REDIS_ERR);
    }
}

/* In a callback it takes effect when the callback is over. */
static void free_within_a_callback(void **state)
{
    (void)state;
    bench_open(true, NULL);
    redisAsyncContext *c = bench_connected(0);
    fakeredis_enter(0);
    redisAsyncCommand(c, free_in_callback, (void *)(uintptr_t) "1", "PING");
    fakeredis_leave();
    bench_send(0, c, "2", "PING");
    bench_run_client(0);
    bench_saw("1=PONG 2=lost closed ");
    assert_false(fakeredis_is_open(0, 0));
}

/* redisAsyncDisconnect(): the replies to come still come, nothing more is taken, then the connection ends. */
static void disconnect_waits_for_replies(void **state)
{
    (void)state;
    bench_open(true, NULL);
    redisAsyncContext *c = bench_connected(0);
    bench_send(0, c, "1", "PING");
    fakeredis_enter(0);
    redisAsyncDisconnect(c);
    assert_int_equal(redisAsyncCommand(c, bench_done, NULL, "PING"), REDIS_ERR);
    fakeredis_leave();
    bench_run_client(0);
    bench_saw("1=PONG closed ");
    assert_false(fakeredis_is_open(0, 0));
}

static void ask_again(redisAsyncContext *context, void *reply, void *name)
{
    bench_done(context, reply, name);
    redisAsyncCommand(context, bench_done, (void *)(uintptr_t) "again", "PING");
}

static void commands_within_a_callback(void **state)
{
    (void)state;
    bench_open(true, NULL);
    redisAsyncContext *c = bench_connected(0);
    fakeredis_enter(0);
    redisAsyncCommand(c, ask_again, (void *)(uintptr_t) "1", "PING");
    fakeredis_leave();
    bench_run_client(0);
    bench_saw("1=PONG again=PONG ");
}

/* A crash takes the connections; what was sent may still be done, of the life that has sent it. */
static void a_crash_leaves_requests(void **state)
{
    (void)state;
    bench_open(true, NULL);
    redisAsyncContext *c = bench_connected(0);
    bench_send(0, c, "1", "SET k 1");
    int lives = fakeredis_lives(0);
    fakeredis_crash(0);
    free(c);
    assert_int_equal(fakeredis_lives(0), lives + 1);
    assert_false(fakeredis_is_open(0, 0));
    assert_true(fakeredis_can_arrive(0));
    fakeredis_arrive(0);
    bench_saw("(wrote k) ");
}

/* Nothing passes to and from a client that is cut off. */
static void a_cut_off_client_gets_nothing(void **state)
{
    (void)state;
    bench_open(true, NULL);
    redisAsyncContext *c = bench_connected(0);
    bench_send(0, c, "1", "PING");
    fakeredis_apply(0, 0);
    bench_send(0, c, "2", "PING");
    fakeredis_set_cut_off(0, true);
    bench_run_client(0);
    bench_saw("");
    fakeredis_set_cut_off(0, false);
    bench_run_client(0);
    bench_saw("1=PONG 2=PONG ");
}

static void blocking_calls_are_refused_by_name(void **state)
{
    (void)state;
    bench_open(true, NULL);
    assert_null(redisConnect("127.0.0.1", FAKEREDIS_PORT));
    assert_non_null(strstr(fakeredis_trouble(), "redisConnect"));
    bench_open(true, NULL);
    assert_null(redisCommand(NULL, "PING"));
    assert_non_null(strstr(fakeredis_trouble(), "redisCommand"));
}

/* A request is about the keys that it names, and about no other one, until its reply has been delivered. */
static void a_request_is_about_its_keys(void **state)
{
    (void)state;
    bench_open(true, NULL);
    redisAsyncContext *c = bench_connected(0);
    struct bytes key = {"k", 1};
    bench_send(0, c, "get", "GET k");
    assert_true(fakeredis_asks_about(0, 0, key));
    assert_false(fakeredis_asks_about(0, 1, key)); /* it is not sent to that server */
    for (int letter = 'a'; letter <= 'z'; letter++) {
        char name[] = {'/', 'l', 'o', 'c', 'k', 's', '/', (char)letter};
        assert_false(fakeredis_asks_about(0, 0, (struct bytes){name, sizeof name}));
    }
    assert_false(fakeredis_asks_about(1, 0, key));
    fakeredis_apply(0, 0);
    assert_true(fakeredis_asks_about(0, 0, key));
    bench_run_client(0);
    assert_false(fakeredis_asks_about(0, 0, key));
    bench_saw("get=nil ");
}

/* Bytes that are no command end the run, and nothing else. */
static void bytes_that_are_no_command(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "PING\r\n",
                                        "*1\r\n",
                                        "*1\r\n$4\r\n",
                                        "*1\r\n$4\r\nPIN",
                                        "*1\r\n$4\r\nPING\r\nx",
                                        "*0\r\n",
                                        "*99\r\n",
                                        "*1\r\n$99999999999\r\nPING\r\n",
                                        "*-1\r\n",
                                        "*1\r\n$-1\r\n"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        bench_open(true, NULL);
        redisAsyncContext *c = bench_connected(0);
        fakeredis_enter(0);
        assert_int_equal(redisAsyncFormattedCommand(c, bench_done, NULL, texts[i], strlen(texts[i])),
                         REDIS_ERR);
        fakeredis_leave();
        assert_non_null(fakeredis_trouble());
        bench_close(NULL);
        bench_said[0] = 0;
    }
}

static void a_call_can_find_no_memory(void **state)
{
    (void)state;
    bench_open(true, NULL);
    redisAsyncContext *c = bench_connected(0);
    fakeredis_fail_call(0, 2);
    bench_send(0, c, "1", "PING");
    fakeredis_enter(0);
    assert_int_equal(redisAsyncCommand(c, bench_done, NULL, "PING"), REDIS_ERR);
    fakeredis_leave();
    assert_int_equal(fakeredis_failing_call(0), 0);
    bench_run_client(0);
    bench_saw("1=PONG ");
}

/* No callback waits for an error that answers a subscription: hiredis ends the connection. */
static void a_refused_subscription_ends_the_connection(void **state)
{
    (void)state;
    bench_open(true, NULL);
    redisAsyncContext *c = bench_connected(0);
    bench_send(0, c, "get", "GET k");
    bench_send(0, c, "sub", "SUBSCRIBE c");
    fakeredis_apply(0, 0);
    fakeredis_reject(0, 0, "LOADING soon");
    bench_run_client(0);
    bench_saw("get=nil sub=lost down ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(commands_wait_for_the_connection, bench_close),
        cmocka_unit_test_teardown(nobody_answers_at_another_port, bench_close),
        cmocka_unit_test_teardown(a_cut_answers_all_that_wait, bench_close),
        cmocka_unit_test_teardown(a_late_request_is_done_after_all, bench_close),
        cmocka_unit_test_teardown(free_answers_at_once, bench_close),
        cmocka_unit_test_teardown(free_within_a_callback, bench_close),
        cmocka_unit_test_teardown(disconnect_waits_for_replies, bench_close),
        cmocka_unit_test_teardown(commands_within_a_callback, bench_close),
        cmocka_unit_test_teardown(a_crash_leaves_requests, bench_close),
        cmocka_unit_test_teardown(a_cut_off_client_gets_nothing, bench_close),
        cmocka_unit_test_teardown(blocking_calls_are_refused_by_name, bench_close),
        cmocka_unit_test_teardown(a_request_is_about_its_keys, bench_close),
        cmocka_unit_test_teardown(bytes_that_are_no_command, bench_close),
        cmocka_unit_test_teardown(a_call_can_find_no_memory, bench_close),
        cmocka_unit_test_teardown(a_refused_subscription_ends_the_connection, bench_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
