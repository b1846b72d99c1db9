/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* What depends on the clock: F6, F7, F12, F13, F26 to F28, F35, F88, F94, F97, and the windows of messages.
 */
#include "support/fakezk_bench.h"

#define T BENCH_TIMEOUT_MS
#define TICK 200
#define LATENCY 10

static int setup(void **state)
{
    bench_setup(state);
    bench_reopen_timed(1, LATENCY, LATENCY, TICK);
    return 0;
}

/* Lets time pass until the observer has seen another event of this kind; says when. */
static int32_t await(int kind, int32_t patience_ms)
{
    int before = bench.events[kind];
    for (int32_t i = 0; i < patience_ms; i++) {
        if (bench.events[kind] > before) {
            return fakezk_now_ms();
        }
        bench_pass(1);
    }
    fail_msg("no event of kind %d within %d ms", kind, patience_ms);
    return 0;
}

static void test_a_session_ends_on_the_grid_of_ticks(void **state)
{
    (void)state;
    int32_t shortest = INT32_MAX;
    int32_t longest = 0;
    for (int32_t offset = 0; offset < TICK; offset += 7) {
        bench_reopen_timed(1, LATENCY, LATENCY, TICK);
        bench_pass(offset);
        bench_init(0, "w", "h", NULL);
        bench_pass(4 * LATENCY);
        int32_t touched = fakezk_now_ms();
        assert_true(fakezk_connected(0, 0));
        fakezk_crash(0);
        int32_t end = await(FAKEZK_SESSION_CLOSING, 2 * T);
        int32_t delay = end - touched;
        assert_int_equal(end % TICK, 0);
        assert_true(delay > T && delay <= T + TICK);
        shortest = delay < shortest ? delay : shortest;
        longest = delay > longest ? delay : longest;
        bench_pass(0);
        assert_int_equal(bench.events[FAKEZK_SESSION_CLOSED], 1); /* the leader does not wait */
    }
    assert_true(longest - shortest > TICK / 2);
}

static void test_pings_keep_an_idle_session(void **state)
{
    (void)state;
    bench_connected(0, "w");
    bench_pass(15 * T);
    bench_saw("");
    assert_true(fakezk_session_live(fakezk_session(0, 0)));
    int32_t cut = fakezk_now_ms();
    fakezk_partition(0, true);
    int32_t end = await(FAKEZK_SESSION_CLOSING, 2 * T);
    assert_int_equal(bench.event[FAKEZK_SESSION_CLOSING].code, 1); /* its time was up */
    assert_true(end - cut > T - T / 3 - LATENCY); /* the last ping was at most a third of the timeout ago */
    assert_true(end - cut <= T + TICK);
}

static void test_a_mute_link_is_dropped_after_two_thirds(void **state)
{
    (void)state;
    zhandle_t *zh = bench_init(0, "w", "h", NULL);
    bench_pass(4 * LATENCY);
    int32_t connected = fakezk_now_ms();
    bench_saw("w connected");
    assert_int_equal(bench_exists(zh, "e", "/", NULL), ZOK);
    fakezk_partition(0, true);
    bench_pass(T * 2 / 3 - 1);
    bench_saw("");
    bench_pass(1);
    bench_saw("w connecting | e -7");
    assert_int_equal(fakezk_now_ms(), connected + T * 2 / 3);
    assert_int_equal(bench_exists(zh, "f", "/", NULL), ZOK); /* an attempt that hangs ends in the same way */
    bench_pass(T);
    bench_saw("f -7");
}

static void test_the_pause_before_a_reconnect(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    bench_cut(zh, 0, 0, ZCONNECTIONLOSS);
    bench_pass(T / 60 + 4 * LATENCY - 1);
    bench_saw("w connecting");
    bench_pass(1);
    bench_saw("w connected");
    bench_cut(zh, 0, 0, ZCONNECTIONLOSS);
    assert_int_equal(bench_exists(zh, "e", "/", NULL), ZOK); /* a request ends the pause */
    bench_pass(4 * LATENCY);
    bench_saw("w connecting | w connected");
    bench_pass(2 * LATENCY);
    bench_saw("e 0");
    bench_reopen_timed(2, LATENCY, LATENCY, TICK);
    zh = bench_connected(0, "w");
    bench_cut(zh, 0, 0, ZCONNECTIONLOSS);
    bench_pass(4 * LATENCY); /* the list has not been walked through: no pause */
    bench_saw("w connecting | w connected");
}

static void test_messages_have_windows(void **state)
{
    (void)state;
    bench_reopen_timed(1, 10, 50, TICK);
    zhandle_t *zh = bench_connected(0, "w");
    int32_t start = fakezk_now_ms();
    int32_t limit;
    assert_int_equal(bench_exists(zh, "e", "/", NULL), ZOK);
    assert_false(bench_can(FAKEZK_APPLY, 0));
    assert_int_equal(fakezk_next_ms(&limit), start + 10);
    fakezk_advance(start + 10);
    assert_true(bench_can(FAKEZK_APPLY, 0));
    fakezk_next_ms(&limit);
    assert_int_equal(limit, start + 50);
    fakezk_advance(start + 30);
    bench_step(FAKEZK_APPLY, 0);
    assert_false(bench_can(FAKEZK_DELIVER, 0));
    assert_int_equal(fakezk_next_ms(&limit), start + 40);
    assert_int_equal(limit, start + 80);
    fakezk_advance(start + 35);
    assert_int_equal(bench_exists(zh, "f", "/", NULL), ZOK);
    fakezk_advance(start + 45);
    bench_step(FAKEZK_APPLY, 0);
    fakezk_next_ms(&limit);
    assert_int_equal(limit, start + 80);
    fakezk_advance(start + 80);
    bench_step(FAKEZK_DELIVER, 0);
    bench_step(FAKEZK_DELIVER, 0);
    bench_saw("e 0 | f 0");
}

static void test_requests_and_messages_do_not_overtake(void **state)
{
    (void)state;
    bench_reopen_timed(1, 10, 50, TICK);
    bench_node("/n");
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(bench_exists(zh, "1", "/n", NULL), ZOK);
    fakezk_advance(fakezk_now_ms() + 3);
    assert_int_equal(bench_exists(zh, "2", "/n", NULL), ZOK);
    fakezk_advance(fakezk_now_ms() + 7);
    bench_step(FAKEZK_APPLY, 0);
    assert_false(bench_can(FAKEZK_APPLY, 0));
    bench_pass(100);
    bench_saw("1 0 | 2 0");
}

static void test_a_short_partition_is_not_noticed(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(bench_create(zh, "c", "/n", ZOO_EPHEMERAL), ZOK);
    fakezk_partition(0, true);
    bench_pass(T / 2);
    fakezk_partition(0, false);
    bench_pass(2 * LATENCY);
    bench_saw("c 0 /n");
    bench_pass(10 * T);
    bench_saw("");
    assert_true(fakezk_exists("/n"));
}

static void test_a_long_partition_costs_the_session(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(bench_create(zh, "c", "/n", ZOO_EPHEMERAL), ZOK);
    bench_pass(100);
    fakezk_partition(0, true);
    bench_pass(T + TICK);
    assert_false(fakezk_exists("/n"));
    bench_saw("c 0 /n | w connecting");
    fakezk_partition(0, false);
    bench_pass(T);
    bench_saw("w expired");
    zh = bench_connected(0, "v");
    assert_int_equal(bench_exists(zh, "e", "/n", NULL), ZOK);
    bench_pass(100);
    bench_saw("e -101");
}

static void test_a_new_session_never_sees_the_old_node(void **state)
{
    (void)state;
    for (int32_t wait = 0; wait < 2 * TICK; wait += 50) {
        bench_reopen_timed(1, LATENCY, LATENCY, TICK);
        zhandle_t *zh = bench_connected(0, "w");
        assert_int_equal(bench_create(zh, "c", "/n", ZOO_EPHEMERAL), ZOK);
        bench_pass(100);
        fakezk_partition(0, true);
        bench_pass(T - TICK + wait);
        fakezk_partition(0, false);
        bench_forget();
        bench_pass(200);
        if (bench_state(zh) == ZOO_EXPIRED_SESSION_STATE) {
            zh = bench_connected(0, "v");
            assert_int_equal(bench_exists(zh, "e", "/n", NULL), ZOK);
            bench_pass(100);
            bench_saw("e -101");
        } else {
            assert_true(fakezk_exists("/n"));
        }
    }
}

static void test_a_pause_shorter_than_two_thirds(void **state)
{
    (void)state;
    bench_connected(0, "w");
    fakezk_pause(0, true);
    bench_pass(T * 2 / 3 - T / 10);
    fakezk_pause(0, false);
    bench_pass(10 * T);
    bench_saw("");
    assert_true(fakezk_session_live(fakezk_session(0, 0)));
}

static void test_a_longer_pause_costs_the_link(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    int32_t session = fakezk_session(0, 0);
    assert_int_equal(bench_create(zh, "c", "/n", ZOO_EPHEMERAL), ZOK);
    bench_pass(100);
    bench_forget();
    fakezk_pause(0, true);
    bench_pass(T * 3 / 4);
    fakezk_pause(0, false);
    bench_pass(200);
    bench_saw("w connecting | w connected");
    assert_int_equal(fakezk_session(0, 0), session);
    assert_true(fakezk_exists("/n"));
}

static void test_what_lies_in_the_socket_keeps_the_link(void **state)
{
    (void)state;
    bench_node("/n");
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(bench_exists(zh, "e", "/n", "x"), ZOK);
    bench_pass(100);
    fakezk_pause(0, true);
    assert_true(fakezk_operator_remove("/n"));
    bench_pass(T * 3 / 4);
    fakezk_pause(0, false);
    bench_pass(200);
    bench_saw("e 0 | x deleted /n");
    assert_true(fakezk_connected(0, 0));
}

static void test_a_stopped_process_wakes_up_dead(void **state)
{
    (void)state;
    bench_node("/n");
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(bench_exists(zh, "e", "/n", "x"), ZOK);
    bench_pass(100);
    bench_forget();
    fakezk_pause(0, true);
    assert_true(fakezk_operator_remove("/n"));
    bench_pass(2 * T);
    assert_int_equal(bench.events[FAKEZK_SESSION_CLOSED], 1);
    bench_saw("");
    fakezk_pause(0, false);
    bench_step(FAKEZK_DELIVER, 0);
    bench_saw("x deleted /n");
    assert_int_equal(bench.zoo_state, ZOO_CONNECTED_STATE);
    bench_pass(T);
    bench_saw("w connecting | w expired");
}

static void test_every_packet_touches_the_session(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(bench_exists(zh, "e", "/", NULL), ZOK);
    bench_pass(1000);
    assert_int_equal(bench_exists(zh, "f", "/", NULL), ZOK);
    int32_t sent = fakezk_now_ms();
    bench_pass(LATENCY);
    fakezk_crash(0);
    int32_t end = await(FAKEZK_SESSION_CLOSING, 2 * T);
    assert_int_equal(end, ((sent + LATENCY + T) / TICK + 1) * TICK);
}

static void test_reads_at_a_cut_off_follower_do_not(void **state)
{
    (void)state;
    bench_reopen_timed(2, LATENCY, LATENCY, TICK);
    zhandle_t *zh = bench_connected(1, "w");
    bench_pass(100);
    fakezk_freeze(1, true);
    int32_t frozen = fakezk_now_ms();
    while (bench.events[FAKEZK_SESSION_CLOSING] == 0 && fakezk_now_ms() < frozen + 2 * T) {
        assert_int_equal(bench_exists(zh, "e", "/", NULL), ZOK);
        bench_pass(500);
        bench_saw("e 0");
    }
    assert_int_equal(bench.events[FAKEZK_SESSION_CLOSING], 1);
    assert_true(fakezk_now_ms() - frozen <= T + TICK + 500);
    assert_true(fakezk_connected(1, 0));
}

static void test_a_pending_write_stops_the_pings(void **state)
{
    (void)state;
    bench_reopen_timed(2, LATENCY, LATENCY, TICK);
    zhandle_t *zh = bench_connected(1, "w");
    fakezk_freeze(1, true);
    bench_pass(T - T / 4); /* an idle link is held by pings, also to a server that is cut off */
    bench_saw("");
    int32_t asked = fakezk_now_ms();
    assert_int_equal(bench_create(zh, "c", "/n", ZOO_PERSISTENT), ZOK);
    bench_pass(T * 2 / 3 - 1);
    assert_true(fakezk_connected(1, 0));
    bench_pass(1);
    bench_saw("w connecting | c -7");
    assert_int_equal(fakezk_now_ms(), asked + T * 2 / 3);
}

static void test_a_restart_starts_all_timers_again(void **state)
{
    (void)state;
    for (int server = 0; server < 2; server++) {
        bench_reopen_timed(2, LATENCY, LATENCY, TICK);
        zhandle_t *zh = bench_connected(0, "w");
        assert_int_equal(bench_create(zh, "c", "/n", ZOO_EPHEMERAL), ZOK);
        bench_pass(100);
        int32_t died = fakezk_now_ms();
        fakezk_crash(0);
        bench_pass(T * 3 / 4);
        fakezk_restart_server(server);
        int32_t restarted = fakezk_now_ms();
        int32_t end = await(FAKEZK_SESSION_CLOSING, 2 * T);
        if (server == 0) {
            assert_true(end > restarted + T && end <= restarted + T + TICK);
        } else {
            assert_true(end <= died + T + TICK); /* a follower keeps no timers */
        }
    }
}

static void test_a_reattaching_handle_brings_its_own_timeout(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    clientid_t id = bench_id(zh);
    fakezk_crash(0);
    bench_pass(100);
    bench_enter(0);
    zhandle_t *again = zookeeper_init("h", bench_watcher, 1000, &id, bench_tag("v"), 0);
    bench_leave();
    bench_pass(4 * LATENCY);
    bench_saw("v connected");
    int32_t touched = fakezk_now_ms();
    bench_enter(0);
    assert_int_equal(zoo_recv_timeout(again), 1000);
    bench_leave();
    fakezk_crash(0);
    int32_t end = await(FAKEZK_SESSION_CLOSING, T);
    assert_true(end - touched > 1000 && end - touched <= 1000 + TICK);
}

static void test_a_session_in_another_process_is_kept_alive_there(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    clientid_t id = bench_id(zh);
    fakezk_partition(0, true);
    bench_init(1, "v", "h", &id);
    bench_pass(T / 3);
    assert_true(fakezk_connected(0, 0)); /* the server has closed this link, and nobody has heard */
    bench_saw("v connected");
    bench_pass(5 * T);
    assert_true(fakezk_session_live(fakezk_session(1, 0)));
    assert_int_equal(bench.events[FAKEZK_SESSION_CLOSING], 0);
    bench_saw("w connecting");
}

static void test_refused_attempts_pause(void **state)
{
    (void)state;
    bench_init(0, "w", "h", NULL);
    bench_pass(4 * LATENCY - 1);
    assert_true(fakezk_refuse(0, 0));
    int32_t refused = fakezk_now_ms();
    bench_pass(T / 60 + 4 * LATENCY - 1);
    assert_false(fakezk_connected(0, 0));
    bench_pass(1);
    assert_true(fakezk_connected(0, 0));
    assert_int_equal(fakezk_now_ms(), refused + T / 60 + 4 * LATENCY);
}

static void test_a_lagging_follower_may_stay_behind(void **state)
{
    (void)state;
    bench_reopen_timed(3, LATENCY, LATENCY, TICK);
    bench_node("/n");
    fakezk_lag(1, true);
    int32_t limit;
    bench_run();
    assert_int_equal(fakezk_next_ms(&limit), INT32_MAX);
    assert_int_equal(limit, INT32_MAX);
    fakezk_lag(1, false);
    fakezk_next_ms(&limit);
    assert_int_equal(limit, fakezk_now_ms());
    assert_true(fakezk_busy());
    bench_run();
    assert_true(fakezk_quiet());
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, bench_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_session_ends_on_the_grid_of_ticks),
        TEST(test_pings_keep_an_idle_session),
        TEST(test_a_mute_link_is_dropped_after_two_thirds),
        TEST(test_the_pause_before_a_reconnect),
        TEST(test_messages_have_windows),
        TEST(test_requests_and_messages_do_not_overtake),
        TEST(test_a_short_partition_is_not_noticed),
        TEST(test_a_long_partition_costs_the_session),
        TEST(test_a_new_session_never_sees_the_old_node),
        TEST(test_a_pause_shorter_than_two_thirds),
        TEST(test_a_longer_pause_costs_the_link),
        TEST(test_what_lies_in_the_socket_keeps_the_link),
        TEST(test_a_stopped_process_wakes_up_dead),
        TEST(test_every_packet_touches_the_session),
        TEST(test_reads_at_a_cut_off_follower_do_not),
        TEST(test_a_pending_write_stops_the_pings),
        TEST(test_a_restart_starts_all_timers_again),
        TEST(test_a_reattaching_handle_brings_its_own_timeout),
        TEST(test_a_session_in_another_process_is_kept_alive_there),
        TEST(test_refused_attempts_pause),
        TEST(test_a_lagging_follower_may_stay_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
