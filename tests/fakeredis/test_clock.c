/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The clock of a world: messages arrive within their bounds, and leases end at their time (R1, R2). The bench
 * begins at 1000 ms; a message takes 10 to 30 ms. */
#include "fakeredis/bench.h"

static void open_timed(int drift)
{
    bench_open_as((struct fakeredis_options){
        .servers = 1, .timed = true, .latency_min_ms = 10, .latency_max_ms = 30, .drift = drift});
}

static void assert_moments(int32_t next, int32_t limit)
{
    int32_t found_limit, found_next = fakeredis_next_ms(&found_limit);
    assert_int_equal(found_next, next);
    assert_int_equal(found_limit, limit);
}

static void a_message_takes_its_time(void **state)
{
    (void)state;
    open_timed(0);
    redisAsyncContext *c = bench_connect(0);
    assert_moments(1020, 1040); /* two messages: there and back */
    assert_false(fakeredis_can_connect(0, 0));
    bench_now = 1020;
    assert_true(fakeredis_can_connect(0, 0));
    fakeredis_connect(0, 0);
    assert_moments(INT32_MAX, 1020); /* the client finds that at once */
    fakeredis_deliver(0, 0);
    bench_send(0, c, "1", "SET k 1");
    assert_moments(1030, 1050);
    bench_now = 1029;
    assert_false(fakeredis_can_apply(0, 0));
    bench_now = 1040;
    assert_true(fakeredis_can_apply(0, 0));
    assert_moments(1050, 1050);
    fakeredis_apply(0, 0);
    assert_moments(1050, 1070);
    assert_false(fakeredis_can_deliver(0, 0));
    bench_now = 1070;
    assert_moments(INT32_MAX, 1070); /* it has to arrive now */
    fakeredis_deliver(0, 0);
    assert_moments(INT32_MAX, INT32_MAX);
    bench_saw("up (wrote k) 1=OK ");
}

/* What cannot arrive does not hold up the time: the client is paused, or cut off. */
static void time_goes_on_without_those_who_cannot(void **state)
{
    (void)state;
    open_timed(0);
    bench_connect(0);
    fakeredis_set_cut_off(0, true);
    assert_moments(INT32_MAX, INT32_MAX);
    fakeredis_set_cut_off(0, false);
    fakeredis_pause(0, true);
    assert_moments(INT32_MAX, INT32_MAX);
}

/* Connects, and makes a key with a lease, at 1000 ms. */
static redisAsyncContext *make_lease(void)
{
    redisAsyncContext *c = bench_connect(0);
    bench_now = 1020;
    fakeredis_connect(0, 0);
    fakeredis_deliver(0, 0);
    bench_send(0, c, "1", "SET k 1 PX 100");
    bench_now = 1030;
    fakeredis_apply(0, 0);
    bench_now = 1060;
    fakeredis_deliver(0, 0);
    bench_saw("up (wrote k) (leased k) 1=OK ");
    return c;
}

static void a_lease_ends_at_its_time(void **state)
{
    (void)state;
    open_timed(0);
    make_lease();
    assert_moments(1131, 1131); /* it is there at 1130 */
    bench_now = 1130;
    assert_false(fakeredis_is_over(0, fakeredis_key(0, 0)));
    bench_now = 1131;
    assert_true(fakeredis_is_over(0, fakeredis_key(0, 0)));
}

/* 1030 ms of the world are 1133 of the server: the lease ends past 1233 there, which is 1122 here. */
static void a_fast_clock_ends_it_early(void **state)
{
    (void)state;
    open_timed(100);
    make_lease();
    assert_moments(1122, 1122);
    bench_now = 1121;
    assert_false(fakeredis_is_over(0, fakeredis_key(0, 0)));
    bench_now = 1122;
    assert_true(fakeredis_is_over(0, fakeredis_key(0, 0)));
}

static void a_jump_shortens_leases_that_run(void **state)
{
    (void)state;
    open_timed(0);
    make_lease();
    fakeredis_jump(0, 50);
    assert_true(fakeredis_key(0, 0)->shortened);
    assert_moments(1081, 1081);
    bench_now = 1081;
    assert_true(fakeredis_is_over(0, fakeredis_key(0, 0)));
}

/* A new value that keeps the lease keeps its history; a new lease has none. */
static void a_shortened_lease_stays_so_beside_a_new_value(void **state)
{
    (void)state;
    open_timed(0);
    redisAsyncContext *c = make_lease();
    fakeredis_jump(0, 20);
    bench_send(0, c, "2", "SET k 2 KEEPTTL");
    bench_send(0, c, "3", "PEXPIRE k 100");
    bench_now = 1090;
    fakeredis_apply(0, 0);
    assert_true(fakeredis_key(0, 0)->shortened);
    fakeredis_apply(0, 0);
    assert_false(fakeredis_key(0, 0)->shortened);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_message_takes_its_time, bench_close),
        cmocka_unit_test_teardown(time_goes_on_without_those_who_cannot, bench_close),
        cmocka_unit_test_teardown(a_lease_ends_at_its_time, bench_close),
        cmocka_unit_test_teardown(a_fast_clock_ends_it_early, bench_close),
        cmocka_unit_test_teardown(a_jump_shortens_leases_that_run, bench_close),
        cmocka_unit_test_teardown(a_shortened_lease_stays_so_beside_a_new_value, bench_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
