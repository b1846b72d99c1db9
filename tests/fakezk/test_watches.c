/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Watches: F66 to F77. */
#include "support/fakezk_bench.h"

static zhandle_t *watcher_of_all(const char *path)
{
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(bench_exists(zh, "e", path, "data"), ZOK);
    assert_int_equal(bench_list(zh, "l", path, "child"), ZOK);
    bench_run();
    bench_forget();
    return zh;
}

static void test_which_read_leaves_which_watch(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(bench_get(zh, "1", "/n", "x"), ZOK);
    assert_int_equal(bench_list(zh, "2", "/n", "x"), ZOK);
    bench_run();
    bench_saw("1 -101 | 2 -101");
    assert_int_equal(fakezk_watches(0), 0);
    bench_node("/n");
    bench_run();
    bench_saw("");
    assert_true(fakezk_operator_remove("/n"));
    assert_int_equal(bench_exists(zh, "3", "/n", "x"), ZOK);
    bench_run();
    bench_saw("3 -101");
    assert_int_equal(fakezk_watches(0), 1);
    assert_int_equal(bench.event[FAKEZK_WATCH_SET].code, 1);
    assert_int_equal(bench.event[FAKEZK_WATCH_SET].zxid, 0);
    bench_node("/n");
    bench_run();
    bench_saw("x created /n");
    assert_int_equal(fakezk_watches(0), 0);
    assert_int_equal(bench_exists(zh, "4", "/n", "x"), ZOK);
    assert_int_equal(bench_get(zh, "5", "/n", "y"), ZOK);
    assert_int_equal(bench_list2(zh, "6", "/n", "z"), ZOK);
    bench_run();
    bench_saw("4 0 | 5 0 null | 6 0 []");
    assert_int_equal(fakezk_watches(0), 3);
    assert_int_equal(bench.event[FAKEZK_WATCH_SET].code, 2);
    assert_int_equal(bench.event[FAKEZK_WATCH_SET].zxid, fakezk_czxid("/n"));
}

static void test_what_triggers_what(void **state)
{
    (void)state;
    bench_node("/p/n");
    zhandle_t *zh = watcher_of_all("/p");
    assert_int_equal(bench_set(zh, "1", "/p/n", "x", -1), ZOK);                /* a child's data: nothing */
    assert_int_equal(bench_create(zh, "2", "/p/n/deep", ZOO_PERSISTENT), ZOK); /* a grandchild: nothing */
    bench_run();
    bench_saw("1 0 | 2 0 /p/n/deep");
    assert_int_equal(bench_create(zh, "3", "/p/m", ZOO_PERSISTENT), ZOK);
    bench_run();
    bench_saw("child child /p | 3 0 /p/m");
    assert_int_equal(bench.event[FAKEZK_WOKEN].zxid, 0); /* nothing was deleted */
    int32_t created = fakezk_czxid("/p/m");
    assert_int_equal(bench_set(zh, "4", "/p", "x", -1), ZOK);
    bench_run();
    bench_saw("data changed /p | 4 0");
    assert_int_equal(fakezk_watches(0), 0);
    assert_int_equal(bench_list(zh, "l", "/p", "child"), ZOK);
    assert_int_equal(bench_set(zh, "5", "/p", "y", -1), ZOK); /* set reaches no child watch */
    assert_int_equal(bench_delete(zh, "6", "/p/m", -1), ZOK);
    bench_run();
    bench_saw("l 0 [m n] | 5 0 | child child /p | 6 0");
    assert_int_equal(bench.event[FAKEZK_WOKEN].zxid, created);
}

static void test_the_order_of_events_of_one_change(void **state)
{
    (void)state;
    bench_node("/p/n");
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(bench_list(zh, "l", "/p", "parent"), ZOK);
    assert_int_equal(bench_exists(zh, "e", "/p/n", "same"), ZOK);
    assert_int_equal(bench_list(zh, "m", "/p/n", "same"), ZOK);
    assert_int_equal(bench_delete(zh, "d", "/p/n", -1), ZOK);
    bench_run();
    bench_saw("l 0 [n] | e 0 | m 0 [] | same deleted /p/n | parent child /p | d 0");
    assert_int_equal(bench_list(zh, "l", "/p", "parent"), ZOK);
    assert_int_equal(bench_exists(zh, "e", "/p/n", "same"), ZOK);
    assert_int_equal(bench_create(zh, "c", "/p/n", ZOO_PERSISTENT), ZOK);
    bench_run();
    bench_saw("l 0 [] | e -101 | same created /p/n | parent child /p | c 0 /p/n");
    assert_int_equal(fakezk_watches(0), 0);
}

static void test_a_pair_is_held_and_called_once(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(bench_exists(zh, "1", "/n", "x"), ZOK); /* exist table */
    bench_run();
    bench_forget();
    assert_int_equal(bench_exists(zh, "2", "/n", "x"), ZOK);
    bench_run();
    assert_int_equal(fakezk_watches(0), 1);
    assert_int_equal(bench_exists(zh, "3", "/n", "y"), ZOK);
    bench_enter(0);
    assert_int_equal(zoo_awexists(zh, "/n", bench_watcher_too, bench_tag("x"), bench_stat_done, "4"), ZOK);
    bench_leave();
    bench_run();
    bench_forget();
    assert_int_equal(fakezk_watches(0), 3);
    bench_node("/n");
    bench_run();
    bench_saw("x created /n | y created /n | x* created /n"); /* the oldest registration first */
    assert_int_equal(bench_get(zh, "5", "/n", "x"), ZOK);
    assert_int_equal(bench_exists(zh, "6", "/n", "x"), ZOK);
    assert_int_equal(bench_exists(zh, "7", "/n", "y"), ZOK);
    assert_int_equal(bench_list(zh, "8", "/n", "z"), ZOK);
    bench_run();
    bench_forget();
    assert_true(fakezk_operator_remove("/n"));
    bench_run();
    bench_saw("z deleted /n | x deleted /n | y deleted /n"); /* child table before data table */
}

static void test_an_event_takes_out_the_tables_it_concerns(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(bench_exists(zh, "1", "/n", "exist"), ZOK);
    bench_step(FAKEZK_APPLY, 0);
    bench_cut(zh, 1, 0, ZCONNECTIONLOSS); /* the exist watch stays in its table over the creation */
    bench_run();
    bench_forget();
    bench_node("/n");
    bench_step(FAKEZK_DELIVER, 0);
    bench_saw("exist created /n");
    assert_int_equal(bench_get(zh, "2", "/n", "data"), ZOK);
    assert_int_equal(bench_list(zh, "3", "/n", "child"), ZOK);
    bench_run();
    bench_forget();
    assert_int_equal(bench_set(zh, "4", "/n", "x", -1), ZOK);
    bench_run();
    bench_saw("data changed /n | 4 0");
    assert_int_equal(fakezk_watches(0), 1); /* the child watch has survived */
    assert_int_equal(bench_get(zh, "5", "/n", "data"), ZOK);
    bench_run();
    bench_forget();
    assert_int_equal(bench_delete(zh, "6", "/n", -1), ZOK);
    bench_run();
    bench_saw("child deleted /n | data deleted /n | 6 0");
    assert_int_equal(fakezk_watches(0), 0);
}

static void test_a_server_holds_one_watch_per_connection_path_and_kind(void **state)
{
    (void)state;
    bench_node("/n");
    zhandle_t *a = bench_connected(0, "w");
    zhandle_t *b = bench_connected(1, "v");
    assert_int_equal(bench_exists(a, "1", "/n", "x"), ZOK);
    assert_int_equal(bench_exists(a, "2", "/n", "y"), ZOK);
    bench_run();
    bench_forget();
    assert_int_equal(bench_set(b, "3", "/n", "1", -1), ZOK);
    assert_int_equal(bench_set(b, "4", "/n", "2", -1), ZOK);
    bench_step(FAKEZK_APPLY, 1);
    bench_step(FAKEZK_APPLY, 1);
    assert_int_equal(fakezk_queued(0, 0), 1); /* one packet for both watchers and both changes */
    bench_run();
    bench_saw("x changed /n | y changed /n | 3 0 | 4 0");
}

/* Registers all kinds while nothing is there or everything, then cuts the link. */
static zhandle_t *away(bool present)
{
    if (present) {
        bench_node("/n");
    }
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(bench_exists(zh, "e", "/n", "x"), ZOK);
    if (present) {
        assert_int_equal(bench_list(zh, "l", "/n", "y"), ZOK);
    }
    bench_run();
    assert_int_equal(fakezk_watches(0), present ? 2 : 1);
    bench_cut(zh, 0, 0, ZCONNECTIONLOSS);
    bench_step(FAKEZK_DELIVER, 0);
    bench_forget();
    return zh;
}

static void back(const char *seen)
{
    bench_step(FAKEZK_CONNECT, 0);
    bench_step(FAKEZK_DELIVER, 0);
    bench_forget();
    bench_run();
    bench_saw(seen);
}

static void test_watches_after_a_reconnect(void **state)
{
    (void)state;
    away(true);
    back("");
    bench_reopen(1, 0);
    away(true);
    assert_true(fakezk_operator_remove("/n"));
    back("y deleted /n | x deleted /n");
    bench_reopen(1, 0);
    zhandle_t *other = bench_connected(1, "v");
    away(true);
    assert_int_equal(bench_set(other, "s", "/n", "x", -1), ZOK);
    bench_step(FAKEZK_APPLY, 1);
    bench_step(FAKEZK_DELIVER, 1);
    back("x changed /n");
    assert_int_equal(fakezk_watches(0), 1);
    bench_reopen(1, 0);
    away(true);
    bench_node("/n/child");
    back("y child /n");
    assert_int_equal(fakezk_watches(0), 1);
    bench_reopen(1, 0);
    away(false);
    bench_node("/n");
    back("x created /n");
    bench_reopen(1, 0);
    away(false);
    back("");
    bench_node("/n"); /* armed again */
    bench_run();
    bench_saw("x created /n");
    assert_int_equal(fakezk_watches(0), 0);
}

static void test_deleted_and_created_again_is_a_change(void **state)
{
    (void)state;
    away(true);
    assert_true(fakezk_operator_remove("/n"));
    bench_node("/n");
    back("x changed /n | y child /n");
}

static void test_created_and_deleted_is_nothing(void **state)
{
    (void)state;
    away(false);
    bench_node("/n");
    assert_true(fakezk_operator_remove("/n"));
    back("");
    assert_int_equal(fakezk_watches(0), 1);
    bench_node("/n");
    bench_run();
    bench_saw("x created /n");
}

static void test_several_watches_on_one_path_come_back(void **state)
{
    (void)state;
    bench_node("/a");
    bench_node("/b");
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(bench_exists(zh, "1", "/a", "x"), ZOK);
    assert_int_equal(bench_exists(zh, "2", "/a", "y"), ZOK);
    assert_int_equal(bench_exists(zh, "3", "/b", "x"), ZOK);
    assert_int_equal(bench_list(zh, "4", "/b", "x"), ZOK);
    assert_int_equal(bench_exists(zh, "5", "/c", "z"), ZOK);
    bench_run();
    bench_cut(zh, 0, 0, ZCONNECTIONLOSS);
    assert_true(fakezk_operator_remove("/a"));
    bench_node("/b/n");
    bench_node("/c");
    bench_step(FAKEZK_CONNECT, 0);
    assert_int_equal(fakezk_unreceived_messages(0, 0), 3);
    bench_forget();
    bench_run();
    /* data, then exist, then child; session events first */
    bench_saw("x connecting | y connecting | z connecting | w connecting | x connected | y connected | z "
              "connected | "
              "w connected | x deleted /a | y deleted /a | z created /c | x child /b");
    assert_int_equal(fakezk_watches(0), 1);
    assert_true(fakezk_operator_remove("/b"));
    bench_run();
    bench_saw("x deleted /b");
}

static void test_an_event_kept_from_before_the_loss_is_not_told_twice(void **state)
{
    (void)state;
    bench_node("/n");
    zhandle_t *zh = watcher_of_all("/n");
    zhandle_t *other = bench_connected(1, "v");
    assert_int_equal(bench_set(other, "s", "/n", "1", -1), ZOK);
    bench_step(FAKEZK_APPLY, 1);
    bench_cut(zh, 1, 0, ZCONNECTIONLOSS); /* CHANGED is received, its watcher has not run */
    bench_step(FAKEZK_CONNECT, 0);
    assert_int_equal(fakezk_unreceived_messages(0, 0), 0); /* the watch is not sent to the server again */
    assert_true(fakezk_operator_remove("/n"));
    bench_run();
    bench_saw("data changed /n | child connecting | w connecting | child connected | w connected | child "
              "deleted /n | "
              "s 0");
}

static void test_a_kept_deletion_takes_all_tables(void **state)
{
    (void)state;
    bench_node("/n");
    zhandle_t *zh = watcher_of_all("/n");
    assert_true(fakezk_operator_remove("/n"));
    assert_int_equal(fakezk_unreceived_messages(0, 0), 1);
    bench_cut(zh, 1, 0, ZCONNECTIONLOSS);
    bench_node("/n");
    bench_step(FAKEZK_CONNECT, 0);
    assert_int_equal(fakezk_unreceived_messages(0, 0), 0); /* the watch is not sent to the server again */
    bench_run();
    bench_saw("child deleted /n | data deleted /n | w connecting | w connected");
    assert_true(fakezk_operator_remove("/n"));
    bench_run();
    bench_saw("");
}

static void test_an_event_lost_with_the_link_comes_back(void **state)
{
    (void)state;
    bench_node("/n");
    zhandle_t *zh = watcher_of_all("/n");
    bench_node("/n/child");
    bench_cut(zh, 0, 0, ZCONNECTIONLOSS);
    bench_run();
    bench_saw("data connecting | child connecting | w connecting | data connected | child connected | w "
              "connected | "
              "child child /n");
}

static void test_no_node_event_while_away(void **state)
{
    (void)state;
    zhandle_t *zh = away(true);
    assert_true(fakezk_operator_remove("/n"));
    bench_node("/n");
    assert_int_equal(fakezk_queued(0, 0), 0);
    assert_int_equal(bench_state(zh), 0);
    assert_false(bench_can(FAKEZK_DELIVER, 0));
}

static void test_nothing_is_carried_over_an_expiry(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(bench_create(zh, "c", "/own", ZOO_EPHEMERAL), ZOK);
    assert_int_equal(bench_exists(zh, "e", "/own", "x"), ZOK);
    assert_int_equal(bench_exists(zh, "f", "/other", "y"), ZOK);
    bench_run();
    bench_forget();
    assert_true(fakezk_expire(fakezk_session(0, 0)));
    bench_step(FAKEZK_BURY, 0);
    bench_run(); /* the link still carried the deletion of the session's own node */
    bench_saw("x deleted /own | y connecting | w connecting | y expired | w expired");
    bench_node("/other");
    assert_int_equal(bench_close(zh), ZOK);
    bench_connected(0, "v");
    assert_int_equal(fakezk_watches(0), 0);
    assert_true(fakezk_operator_remove("/other"));
    bench_run();
    bench_saw("");
}

/* An event takes its watches when it is received. One that is set behind it, while the event is still to be told, stands: after a
 * cut behind all messages, and after a server has hung up. */
static void test_an_event_that_is_received_has_taken_its_watches(void **state)
{
    (void)state;
    bench_node("/n");
    zhandle_t *zh = bench_connected(0, "w");
    for (int round = 0; round < 2; round++) {
        assert_int_equal(bench_exists(zh, "e", "/n", "x"), ZOK);
        bench_run();
        bench_forget();
        assert_int_equal(bench_set(zh, "s", "/n", "1", -1), ZOK);
        assert_int_equal(bench_get(zh, "g", "/n", "x"), ZOK);
        bench_step(FAKEZK_APPLY, 0);
        bench_step(FAKEZK_APPLY, 0);
        if (round == 0) {
            bench_cut(zh, 3, 0, ZCONNECTIONLOSS);
        } else {
            fakezk_restart_server(0);
        }
        assert_int_equal(fakezk_watches(0), 1);
        assert_int_equal(bench_unwatch(zh, "r", "/n", "y", ZWATCHTYPE_DATA), ZNOWATCHER);
        bench_run();
        bench_saw("x changed /n | s 0 | g 0 {1} | x connecting | w connecting | x connected | w connected");
        assert_int_equal(fakezk_watches(0), 1);
        assert_true(fakezk_operator_remove("/n"));
        bench_node("/n");
        bench_run();
        bench_saw("x deleted /n");
        assert_int_equal(fakezk_watches(0), 0);
    }
}

static void test_removing_watches(void **state)
{
    (void)state;
    bench_node("/n");
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(bench_unwatch(zh, "r", "/n", "x", ZWATCHTYPE_DATA), ZNOWATCHER);
    assert_int_equal(bench_unwatch(zh, "r", "n", "x", ZWATCHTYPE_DATA), ZBADARGUMENTS);
    assert_int_equal(bench_unwatch(zh, "a", "/n", NULL, ZWATCHTYPE_ANY),
                     ZOK); /* of all only the server says so */
    bench_run();
    bench_saw("a -121");
    assert_int_equal(bench_exists(zh, "1", "/n", "x"), ZOK);
    assert_int_equal(bench_exists(zh, "2", "/n", "y"), ZOK);
    assert_int_equal(bench_list(zh, "3", "/n", "x"), ZOK);
    bench_run();
    bench_forget();
    assert_int_equal(bench_unwatch(zh, "r", "/n", "z", ZWATCHTYPE_ANY), ZNOWATCHER);
    assert_int_equal(bench_unwatch(zh, "r", "/n", "y", ZWATCHTYPE_CHILD), ZNOWATCHER);
    assert_int_equal(bench_unwatch(zh, "r", "/n", "x", ZWATCHTYPE_DATA), ZOK);
    assert_int_equal(fakezk_watches(0), 3);
    bench_run();
    bench_saw("r 0");
    assert_int_equal(fakezk_watches(0), 2);
    assert_int_equal(bench_set(zh, "s", "/n", "1", -1), ZOK);
    bench_run();
    bench_saw("y changed /n | s 0");
    assert_int_equal(bench_get(zh, "4", "/n", "y"), ZOK);
    bench_run();
    bench_forget();
    assert_int_equal(bench_unwatch(zh, "r", "/n", NULL, ZWATCHTYPE_ANY), ZOK);
    bench_run();
    bench_saw("r 0");
    assert_int_equal(fakezk_watches(0), 0);
    assert_int_equal(bench_delete(zh, "d", "/n", -1), ZOK);
    bench_run();
    bench_saw("d 0");
}

static void test_the_server_may_know_of_no_watch(void **state)
{
    (void)state;
    bench_node("/n");
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(bench_exists(zh, "1", "/n", "x"), ZOK);
    bench_run();
    bench_forget();
    assert_true(fakezk_operator_remove("/n")); /* the event is on its way */
    assert_int_equal(bench_unwatch(zh, "r", "/n", "x", ZWATCHTYPE_DATA), ZOK);
    bench_run();
    bench_saw("x deleted /n | r -121");
    bench_node("/n");
    assert_int_equal(bench_exists(zh, "2", "/n", "x"), ZOK);
    assert_int_equal(bench_exists(zh, "3", "/n", "y"), ZOK);
    bench_run();
    bench_forget();
    assert_int_equal(bench_unwatch(zh, "r", "/n", NULL, ZWATCHTYPE_DATA), ZOK);
    bench_step(FAKEZK_APPLY, 0);
    assert_true(fakezk_operator_remove("/n")); /* removed at the server: nobody is told */
    bench_run();
    bench_saw("r 0");
}

static void test_removal_is_lost_with_the_link(void **state)
{
    (void)state;
    bench_node("/n");
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(bench_exists(zh, "1", "/n", "x"), ZOK);
    bench_run();
    bench_forget();
    assert_int_equal(bench_unwatch(zh, "r", "/n", NULL, ZWATCHTYPE_ANY), ZOK);
    bench_cut(zh, 0, 1, ZCONNECTIONLOSS);
    bench_run();
    bench_saw("x connecting | w connecting | r -4 | x connected | w connected");
    assert_true(fakezk_operator_remove("/n"));
    bench_run();
    bench_saw("x deleted /n");
}

/* What the library tells of the link finds the same watchers whenever it is delivered, unless a reply is to come that adds one. */
static void test_what_is_said_whenever_it_is_delivered(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    assert_false(fakezk_is_sure(0, 0)); /* there is nothing */
    bench_cut(zh, 0, 0, ZCONNECTIONLOSS);
    assert_true(fakezk_is_sure(0, 0));
    bench_step(FAKEZK_CONNECT, 0);
    assert_true(fakezk_is_sure(0, 0));
    assert_int_equal(bench_exists(zh, "e", "/n", "x"), ZOK);
    assert_false(fakezk_is_sure(0, 0)); /* asked, */
    bench_step(FAKEZK_APPLY, 0);
    assert_false(fakezk_is_sure(0, 0)); /* answered, */
    bench_cut(zh, 1, 0, ZCONNECTIONLOSS);
    assert_int_equal(fakezk_watches(0), 1);
    assert_true(fakezk_is_sure(0, 0)); /* and received */
    zhandle_t *other = bench_init(0, "o", "server:2181", NULL);
    assert_false(fakezk_is_sure(0, 0)); /* something may come on another handle before it */
    assert_int_equal(bench_close(other), ZOK);
    assert_true(fakezk_is_sure(0, 0));
    bench_run();
    bench_saw("x connecting | w connecting | x connected | w connected | e -101 | x connecting | "
              "w connecting | x connected | w connected");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_setup, bench_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_which_read_leaves_which_watch),
        TEST(test_what_triggers_what),
        TEST(test_the_order_of_events_of_one_change),
        TEST(test_a_pair_is_held_and_called_once),
        TEST(test_an_event_takes_out_the_tables_it_concerns),
        TEST(test_a_server_holds_one_watch_per_connection_path_and_kind),
        TEST(test_watches_after_a_reconnect),
        TEST(test_deleted_and_created_again_is_a_change),
        TEST(test_created_and_deleted_is_nothing),
        TEST(test_several_watches_on_one_path_come_back),
        TEST(test_an_event_kept_from_before_the_loss_is_not_told_twice),
        TEST(test_a_kept_deletion_takes_all_tables),
        TEST(test_an_event_lost_with_the_link_comes_back),
        TEST(test_no_node_event_while_away),
        TEST(test_nothing_is_carried_over_an_expiry),
        TEST(test_an_event_that_is_received_has_taken_its_watches),
        TEST(test_removing_watches),
        TEST(test_the_server_may_know_of_no_watch),
        TEST(test_removal_is_lost_with_the_link),
        TEST(test_what_is_said_whenever_it_is_delivered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
