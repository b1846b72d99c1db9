/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Networks that are cut in part: a client that one server does not hear, and a server that serves on beside
 * its successor (docs/fidelity-redis.md). */
#include "fakeredis/bench.h"

/* Requests to one server wait, and those to another one are answered. */
static void a_client_is_apart_from_one_server(void **state)
{
    (void)state;
    bench_open_as((struct fakeredis_options){.servers = 2});
    redisAsyncContext *first = bench_connected(0);
    redisAsyncContext *second = bench_connect_to(0, 1);
    bench_run_client(0);
    bench_saw("up ");
    fakeredis_set_apart(0, 1, true);
    assert_true(fakeredis_is_apart(0, 1) && !fakeredis_is_apart(0, 0) && !fakeredis_is_cut_off(0));
    bench_send(0, second, "far", "SET k 1");
    bench_ask(0, first, "near", "SET k 1");
    bench_saw("(wrote k) near=OK ");
    fakeredis_set_apart(0, 1, false);
    bench_run_client(0);
    bench_saw("(wrote k) far=OK ");
}

/* A reply that is on its way waits, too. A connection that is opened comes up later. */
static void replies_and_connections_wait(void **state)
{
    (void)state;
    bench_open_as((struct fakeredis_options){.servers = 2});
    redisAsyncContext *c = bench_connected(0);
    bench_send(0, c, "1", "PING");
    fakeredis_apply(0, 0);
    fakeredis_set_apart(0, 0, true);
    bench_connect(0);
    bench_run_client(0);
    bench_saw("");
    assert_false(fakeredis_can_deliver(0, 0) || fakeredis_can_connect(0, 1));
    fakeredis_set_apart(0, 0, false);
    bench_run_client(0);
    bench_saw("1=PONG up ");
}

/* The next life of a client begins with all servers. */
static void a_crash_ends_a_partition(void **state)
{
    (void)state;
    bench_open_as((struct fakeredis_options){.servers = 2});
    redisAsyncContext *lost = bench_connected(0);
    fakeredis_set_apart(0, 0, true);
    fakeredis_crash(0);
    free(lost); /* in the memory of the process, which is gone */
    assert_false(fakeredis_is_apart(0, 0));
    bench_connected(0);
}

/* R9: the former server has the write that its successor lacks, and serves the connections that it had. */
static void a_former_server_serves_on(void **state)
{
    (void)state;
    bench_open_as((struct fakeredis_options){.servers = 1, .replicas = 1, .lag = 1, .splits = true});
    redisAsyncContext *old = bench_connected(0);
    bench_ask(0, old, "1", "SET k 1");
    bench_ask(0, old, "2", "SET k 2");
    bench_said[0] = 0;
    assert_false(fakeredis_is_split(0));
    fakeredis_split(0);
    assert_true(fakeredis_is_split(0));
    bench_saw("(back k) ");
    redisAsyncContext *new = bench_connected(1);
    bench_ask(0, old, "old", "GET k");
    bench_ask(1, new, "new", "GET k");
    bench_saw("old='2' new='1' ");
    assert_true(fakeredis_is_linked(0, 1) && !fakeredis_is_linked(0, 0) && fakeredis_is_linked(1, 0));
}

/* R10: no replica hears a former server. */
static void a_former_server_confirms_nothing(void **state)
{
    (void)state;
    bench_open_as((struct fakeredis_options){.servers = 1, .replicas = 1, .lag = 1, .splits = true});
    redisAsyncContext *old = bench_connected(0);
    fakeredis_split(0);
    redisAsyncContext *new = bench_connected(1);
    bench_ask(0, old, "old", "WAIT 1 0");
    bench_ask(1, new, "new", "WAIT 1 0");
    bench_saw("old=0 new=1 ");
}

/* A former server that becomes a replica loses what it wrote. Its connections break, and the next ones are to
 * its successor. */
static void a_former_server_rejoins(void **state)
{
    (void)state;
    bench_open_as((struct fakeredis_options){.servers = 1, .replicas = 1, .lag = 1, .splits = true});
    redisAsyncContext *old = bench_connected(0);
    bench_ask(0, old, "load", "SCRIPT LOAD %s", "return 1");
    fakeredis_split(0);
    assert_true(fakeredis_has_scripts(1) && !fakeredis_has_scripts(0));
    bench_ask(0, old, "1", "SET k 1");
    bench_send(0, old, "2", "SET k 2");
    bench_said[0] = 0;
    fakeredis_rejoin(0);
    bench_run_client(0);
    bench_saw("2=lost down ");
    assert_null(fakeredis_key(1, 0));
    assert_false(fakeredis_has_scripts(1) || fakeredis_is_split(0));
    redisAsyncContext *new = bench_connected(0);
    bench_ask(0, new, "k", "GET k");
    bench_saw("k=nil ");
}

/* A request that was on its way when its connection ended gets to the former server, if to any. */
static void a_late_request_gets_to_the_former_server(void **state)
{
    (void)state;
    bench_open_as((struct fakeredis_options){.servers = 1, .replicas = 1, .lag = 1, .splits = true});
    redisAsyncContext *old = bench_connected(0);
    bench_send(0, old, "1", "SET k 1");
    fakeredis_cut(0, 0, 0, 1, true);
    fakeredis_split(0);
    assert_true(fakeredis_can_arrive(0));
    bench_run_client(0);
    bench_said[0] = 0;
    fakeredis_arrive(0);
    bench_saw("(wrote k) ");
    assert_non_null(fakeredis_key(1, 0));
    assert_null(fakeredis_key(0, 0));
}

/* A late request subscribes for a connection that has ended: no message is sent to it. */
static void a_late_subscription_hears_nothing(void **state)
{
    (void)state;
    bench_open_as((struct fakeredis_options){.servers = 1});
    redisAsyncContext *old = bench_connected(0);
    bench_send(0, old, "1", "SUBSCRIBE news");
    fakeredis_cut(0, 0, 0, 1, true);
    bench_run_client(0);
    bench_saw("1=lost down ");
    fakeredis_arrive(0);
    redisAsyncContext *other = bench_connected(1);
    bench_ask(1, other, "heard", "PUBLISH news x");
    bench_saw("heard=0 ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_client_is_apart_from_one_server, bench_close),
        cmocka_unit_test_teardown(replies_and_connections_wait, bench_close),
        cmocka_unit_test_teardown(a_crash_ends_a_partition, bench_close),
        cmocka_unit_test_teardown(a_former_server_serves_on, bench_close),
        cmocka_unit_test_teardown(a_former_server_confirms_nothing, bench_close),
        cmocka_unit_test_teardown(a_former_server_rejoins, bench_close),
        cmocka_unit_test_teardown(a_late_request_gets_to_the_former_server, bench_close),
        cmocka_unit_test_teardown(a_late_subscription_hears_nothing, bench_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
