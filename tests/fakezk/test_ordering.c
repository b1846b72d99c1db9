/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* In what order things are seen: F36, F38 to F46. */
#include "support/fakezk_bench.h"

#include <stdlib.h>

static void ask_inside(zhandle_t *zh, const char *tag)
{
    if (strcmp(tag, "x") == 0) {
        assert_int_equal(bench_exists(zh, "again", "/n", "y"), ZOK);
        assert_int_equal(bench.depth, 1);
    }
}

static void test_callbacks_come_one_at_a_time_and_in_order(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    bench_node("/n");
    bench.hook = ask_inside;
    assert_int_equal(bench_exists(zh, "1", "/n", "x"), ZOK);
    assert_int_equal(bench_set(zh, "2", "/n", "v", -1), ZOK);
    assert_int_equal(bench_get(zh, "3", "/n", NULL), ZOK);
    while (bench_can(FAKEZK_APPLY, 0)) {
        bench_step(FAKEZK_APPLY, 0);
    }
    assert_int_equal(fakezk_queued(0, 0), 4);
    assert_int_equal(fakezk_notices(0), 1); /* the event of the watch; the others are replies */
    bench_run();
    assert_int_equal(fakezk_notices(0), 0);
    bench_saw("1 0 | x changed /n | 2 0 | 3 0 {v} | again 0");
    assert_int_equal(bench.depth_max, 1);
}

static void test_a_watch_whose_reply_is_lost_is_none(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(bench_exists(zh, "e", "/n", "x"), ZOK);
    bench_step(FAKEZK_APPLY, 0);
    assert_int_equal(fakezk_watches(0), 0); /* it stands at the server, not yet in the client */
    bench_cut(zh, 0, 0, ZCONNECTIONLOSS);
    assert_int_equal(fakezk_watches(0), 0);
    bench_run();
    bench_saw("w connecting | e -4 | w connected");
    bench_node("/n");
    bench_run();
    bench_saw("");
}

static void test_a_watch_stands_once_its_reply_is_received(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(bench_exists(zh, "e", "/n", "x"), ZOK);
    bench_step(FAKEZK_APPLY, 0);
    bench_cut(zh, 1, 0, ZCONNECTIONLOSS); /* received, its completion has not run */
    assert_int_equal(fakezk_watches(0), 1);
    bench_run();
    bench_saw("e -101 | x connecting | w connecting | x connected | w connected");
    bench_node("/n");
    bench_run();
    bench_saw("x created /n");
}

static void test_the_event_comes_before_the_reply(void **state)
{
    (void)state;
    for (int servers = 1; servers <= 2; servers++) {
        bench_reopen(servers, 0);
        zhandle_t *zh = bench_connected(1, "w");
        bench_node("/p");
        bench_node("/p/n");
        bench_run();
        assert_int_equal(bench_exists(zh, "e", "/p/n", "n"), ZOK);
        assert_int_equal(bench_list(zh, "l", "/p", "p"), ZOK);
        bench_run();
        bench_saw("e 0 | l 0 [n]");
        assert_int_equal(bench_delete(zh, "d", "/p/n", -1), ZOK);
        assert_int_equal(bench_exists(zh, "f", "/p/n", NULL), ZOK);
        bench_run();
        bench_saw("n deleted /p/n | p child /p | d 0 | f -101");
    }
}

static void test_a_read_waits_behind_the_own_write(void **state)
{
    (void)state;
    bench_reopen(2, 0);
    zhandle_t *zh = bench_connected(1, "w");
    fakezk_lag(1, true);
    assert_true(fakezk_is_lagging(1));
    assert_int_equal(bench_create(zh, "c", "/n", ZOO_PERSISTENT), ZOK);
    assert_int_equal(bench_exists(zh, "e", "/n", NULL), ZOK);
    bench_step(FAKEZK_APPLY, 1);
    assert_true(fakezk_exists("/n"));
    assert_false(bench_can(FAKEZK_APPLY, 1));
    bench_run();
    bench_saw("");
    bench_step_at(FAKEZK_CATCH_UP, BENCH_ANY, 1);
    bench_run();
    bench_saw("c 0 /n | e 0");
}

static void test_a_failed_write_takes_a_zxid(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    int32_t before = fakezk_last_zxid();
    assert_int_equal(bench_create(zh, "1", "/a", ZOO_PERSISTENT), ZOK);
    assert_int_equal(bench_create(zh, "2", "/a", ZOO_PERSISTENT), ZOK);
    assert_int_equal(bench_delete(zh, "3", "/none", -1), ZOK);
    assert_int_equal(bench_create2(zh, "4", "/b", ZOO_PERSISTENT), ZOK);
    bench_run();
    bench_saw("1 0 /a | 2 -110 | 3 -101 | 4 0 /b");
    assert_int_equal(fakezk_czxid("/a"), before + 1);
    assert_int_equal(fakezk_czxid("/b"), before + 4);
    assert_int_equal(bench.stat.czxid, FAKEZK_EPOCH + before + 4);
    zoo_op_t ops[2];
    zoo_op_result_t results[2];
    zoo_create_op_init(&ops[0], "/c", NULL, -1, &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0);
    zoo_create_op_init(&ops[1], "/d", NULL, -1, &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0);
    assert_int_equal(bench_multi(zh, "5", 2, ops, results), ZOK);
    bench_run();
    bench_saw("5 0");
    assert_int_equal(fakezk_czxid("/c"), before + 5);
    assert_int_equal(fakezk_czxid("/d"), before + 5);
    assert_int_equal(fakezk_last_zxid(), before + 5);
    assert_int_equal(fakezk_czxid("/none"), 0);
}

static void test_reads_are_local_and_sync_makes_them_fresh(void **state)
{
    (void)state;
    bench_reopen(2, 0);
    zhandle_t *a = bench_connected(0, "w");
    zhandle_t *b = bench_connected(1, "v");
    fakezk_lag(1, true);
    assert_int_equal(bench_create(a, "c", "/n", ZOO_PERSISTENT), ZOK);
    bench_run();
    assert_int_equal(bench_exists(a, "ea", "/n", NULL), ZOK);
    assert_int_equal(bench_exists(b, "eb", "/n", NULL), ZOK);
    bench_run();
    bench_saw("c 0 /n | ea 0 | eb -101");
    assert_int_equal(bench_sync(b, "s", "/"), ZOK);
    assert_int_equal(bench_exists(b, "eb", "/n", NULL), ZOK);
    bench_step(FAKEZK_APPLY, 1);
    bench_step_at(FAKEZK_CATCH_UP, BENCH_ANY, 1);
    bench_step_at(FAKEZK_CATCH_UP, BENCH_ANY, 1);
    bench_run();
    bench_saw("s 0 / | eb 0");
    assert_int_equal(bench_sync(b, "s", "/n"),
                     ZOK); /* with nothing to catch up it is answered all the same */
    bench_step(FAKEZK_APPLY, 1);
    bench_step_at(FAKEZK_CATCH_UP, BENCH_ANY, 1);
    bench_run();
    bench_saw("s 0 /n");
}

static void test_the_sequence_of_a_reconnect(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    bench_node("/n");
    assert_int_equal(bench_exists(zh, "1", "/n", "x"), ZOK);
    assert_int_equal(bench_exists(zh, "2", "/n", NULL), ZOK);
    assert_int_equal(bench_exists(zh, "3", "/n", NULL), ZOK);
    bench_step(FAKEZK_APPLY, 0);
    bench_step(FAKEZK_DELIVER, 0);
    bench_step(FAKEZK_APPLY, 0);
    bench_cut(zh, 0, 0, ZCONNECTIONLOSS);
    assert_int_equal(bench_get(zh, "4", "/n", "y"), ZOK);
    assert_true(fakezk_operator_remove("/n"));
    bench_node("/n");
    bench_run();
    bench_saw("1 0 | x connecting | w connecting | 2 -4 | 3 -4 | x connected | w connected | x changed /n | "
              "4 0 null");
}

static void test_only_replies_move_the_zxid_of_a_client(void **state)
{
    (void)state;
    zhandle_t *a = bench_connected(0, "w");
    zhandle_t *b = bench_connected(1, "v");
    bench_node("/n");
    assert_int_equal(bench_exists(a, "e", "/n", "x"), ZOK);
    assert_int_equal(bench_get(a, "g", "/n", "y"), ZOK);
    bench_run();
    bench_forget();
    assert_int_equal(bench_set(b, "s", "/n", "1", -1), ZOK);
    bench_run();
    bench_saw("x changed /n | y changed /n | s 0");
    /* The event did not move the client's zxid: a watch set again by an older reply would see the change
     * again. */
    assert_int_equal(bench_exists(a, "e", "/n", "x"), ZOK);
    bench_step(FAKEZK_APPLY, 0);
    assert_int_equal(bench_set(b, "s", "/n", "2", -1), ZOK);
    bench_step(FAKEZK_APPLY, 1);
    bench_cut(a, 1, 0, ZCONNECTIONLOSS); /* the reply is received, the event is not */
    bench_run();
    bench_saw("e 0 | x connecting | w connecting | x connected | w connected | x changed /n | s 0");
}

static void test_a_zombie_hears_the_past_first(void **state)
{
    (void)state;
    zhandle_t *a = bench_connected(0, "w");
    zhandle_t *b = bench_connected(1, "v");
    assert_int_equal(bench_create(b, "c", "/lock-0", ZOO_EPHEMERAL), ZOK);
    bench_run();
    assert_int_equal(bench_create(a, "c", "/lock-1", ZOO_EPHEMERAL), ZOK);
    assert_int_equal(bench_exists(a, "e", "/lock-0", "x"), ZOK);
    bench_run();
    bench_forget();
    fakezk_pause(0, true);
    assert_true(fakezk_is_paused(0));
    assert_int_equal(bench_delete(b, "d", "/lock-0", -1), ZOK);
    bench_run();
    assert_true(fakezk_expire(fakezk_session(0, 0)));
    bench_run();
    bench_saw("d 0");
    assert_false(fakezk_exists("/lock-1"));
    fakezk_pause(0, false);
    bench_step(FAKEZK_DELIVER, 0);
    bench_saw("x deleted /lock-0");
    assert_int_equal(bench.zoo_state, ZOO_CONNECTED_STATE);
    bench_run();
    bench_saw("w connecting | w expired");
}

static void test_a_closed_session_hears_nothing_new(void **state)
{
    (void)state;
    zhandle_t *a = bench_connected(0, "w");
    bench_node("/n");
    assert_int_equal(bench_exists(a, "e", "/n", "x"), ZOK);
    bench_run();
    bench_forget();
    fakezk_pause(0, true);
    assert_true(fakezk_expire(fakezk_session(0, 0)));
    bench_run();
    assert_true(fakezk_operator_remove("/n"));
    assert_int_equal(fakezk_queued(0, 0), 0);
    fakezk_pause(0, false);
    bench_run();
    bench_saw("x connecting | w connecting | x expired | w expired");
}

static const unsigned char *seen_memory;
static char seen_text[64];

static void remember(zhandle_t *zh, const char *tag)
{
    (void)zh, (void)tag;
    seen_memory = bench.memory;
    snprintf(seen_text, sizeof seen_text, "%s", (const char *)bench.memory);
}

static void assert_poisoned(const char *was)
{
    assert_string_equal(seen_text, was);
    assert_int_equal(seen_memory[0], 0xa5);
    assert_int_equal(seen_memory[strlen(was) - 1], 0xa5);
}

static void test_what_a_callback_is_given_is_poisoned_after(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    bench.hook = remember;
    assert_int_equal(bench_create_data(zh, "c", "/node", "value", 5, ZOO_PERSISTENT), ZOK);
    bench_run();
    assert_poisoned("/node");
    assert_int_equal(bench_get(zh, "g", "/node", "x"), ZOK);
    bench_run();
    assert_poisoned("value");
    assert_int_equal(bench_list(zh, "l", "/", NULL), ZOK);
    bench_run();
    assert_poisoned("node");
    assert_true(fakezk_operator_remove("/node"));
    bench_run();
    assert_poisoned("/node");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_setup, bench_teardown)

/* Two creates and a look wait for their delivery: the first two are of one kind. */
static void test_equal_callbacks_are_of_one_kind(void **state)
{
    (void)state;
    uint32_t kinds[3];
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(bench_create(zh, "c", "/a", ZOO_PERSISTENT), ZOK);
    assert_int_equal(bench_create(zh, "d", "/b", ZOO_PERSISTENT), ZOK);
    assert_int_equal(bench_exists(zh, "e", "/a", NULL), ZOK);
    for (int i = 0; i < 3; i++) {
        bench_step(FAKEZK_APPLY, BENCH_ANY);
    }
    for (int i = 0; i < 3; i++) {
        kinds[i] = fakezk_next_kind(0, bench_slot(zh));
        bench_step(FAKEZK_DELIVER, BENCH_ANY);
    }
    assert_int_equal(kinds[0], kinds[1]);
    assert_int_not_equal(kinds[1], kinds[2]);
    bench_saw("c 0 /a | d 0 /b | e 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_equal_callbacks_are_of_one_kind),
        TEST(test_callbacks_come_one_at_a_time_and_in_order),
        TEST(test_a_watch_whose_reply_is_lost_is_none),
        TEST(test_a_watch_stands_once_its_reply_is_received),
        TEST(test_the_event_comes_before_the_reply),
        TEST(test_a_read_waits_behind_the_own_write),
        TEST(test_a_failed_write_takes_a_zxid),
        TEST(test_reads_are_local_and_sync_makes_them_fresh),
        TEST(test_the_sequence_of_a_reconnect),
        TEST(test_only_replies_move_the_zxid_of_a_client),
        TEST(test_a_zombie_hears_the_past_first),
        TEST(test_a_closed_session_hears_nothing_new),
        TEST(test_what_a_callback_is_given_is_poisoned_after),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
