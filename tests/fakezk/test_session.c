/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The life of a session as its client sees it: F1 to F5, F9 to F26, F30 to F32, F95. */
#include "support/fakezk_bench.h"

static void test_states_of_a_handle(void **state)
{
    (void)state;
    zhandle_t *zh = bench_init(0, "w", "server:2181", NULL);
    assert_int_equal(bench_state(zh), ZOO_NOTCONNECTED_STATE);
    bench_run();
    assert_int_equal(bench_state(zh), ZOO_CONNECTED_STATE);
    bench_cut(zh, 0, 0, ZCONNECTIONLOSS);
    assert_int_equal(bench_state(zh), 0); /* not CONNECTING */
    bench_run();
    assert_int_equal(bench_state(zh), ZOO_CONNECTED_STATE);
    assert_true(fakezk_expire(fakezk_session(0, 0)));
    bench_run();
    assert_int_equal(bench_state(zh), ZOO_EXPIRED_SESSION_STATE);
    bench_enter(0);
    assert_int_equal(is_unrecoverable(zh), ZINVALIDSTATE);
    bench_leave();
    assert_true(fakezk_terminal(0, 0));
}

static void test_what_raises_a_session_event(void **state)
{
    (void)state;
    zhandle_t *zh = bench_init(0, "w", "server:2181", NULL);
    assert_true(fakezk_refuse(0, 0));
    assert_true(fakezk_refuse(0, 0));
    bench_run();
    bench_saw("w connected");
    bench_cut(zh, 0, 0, ZCONNECTIONLOSS);
    for (int i = 0; i < 3; i++) {
        assert_true(fakezk_refuse(0, 0));
    }
    bench_step(FAKEZK_DELIVER, 0);
    bench_saw("w connecting");
    assert_int_equal(fakezk_queued(0, 0), 0);
    bench_run();
    bench_saw("w connected");
    assert_int_equal(bench_close(zh), ZOK);
    bench_run();
    bench_saw("");
}

static void test_the_state_runs_ahead_of_the_events(void **state)
{
    (void)state;
    zhandle_t *zh = bench_init(0, "w", "server:2181", NULL);
    bench_step(FAKEZK_CONNECT, 0);
    bench_cut(zh, 0, 0, ZCONNECTIONLOSS);
    bench_step(FAKEZK_DELIVER, 0);
    bench_saw("w connected");
    assert_int_equal(bench.zoo_state, 0);
    bench_step(FAKEZK_CONNECT, 0);
    bench_step(FAKEZK_DELIVER, 0);
    bench_saw("w connecting");
    assert_int_equal(bench.zoo_state, ZOO_CONNECTED_STATE);
}

static void watch_three_tables(zhandle_t *zh)
{
    bench_node("/n");
    assert_int_equal(bench_get(zh, "g", "/n", "x"), ZOK);
    assert_int_equal(bench_exists(zh, "e", "/none", "x"), ZOK);
    assert_int_equal(bench_list(zh, "l", "/n", "y"), ZOK);
    bench_run();
    bench_forget();
    assert_int_equal(fakezk_watches(0), 3);
}

static void test_session_events_reach_every_watcher_once(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    watch_three_tables(zh);
    bench_cut(zh, 0, 0, ZCONNECTIONLOSS);
    bench_step(FAKEZK_DELIVER, 0);
    bench_saw("x connecting | y connecting | w connecting");
    assert_int_equal(fakezk_watches(0), 3);
    bench_run();
    bench_saw("x connected | y connected | w connected");
    assert_true(fakezk_expire(fakezk_session(0, 0)));
    bench_run();
    bench_saw("x connecting | y connecting | w connecting | x expired | y expired | w expired");
}

static void test_receivers_come_in_an_order_of_the_run(void **state)
{
    (void)state;
    struct fakezk_options options = bench.options;
    options.seed = 8;
    bench_reopen_with(&options);
    zhandle_t *zh = bench_connected(0, "w");
    watch_three_tables(zh);
    bench_cut(zh, 0, 0, ZCONNECTIONLOSS);
    bench_step(FAKEZK_DELIVER, 0);
    bench_saw("y connecting | x connecting | w connecting");
}

static void test_the_default_watcher_counts_once(void **state)
{
    (void)state;
    static const char tag[] = "w";
    zhandle_t *zh = bench_connected(0, tag);
    bench_node("/n");
    bench_enter(0);
    assert_int_equal(zoo_aexists(zh, "/n", 1, bench_stat_done, "e"), ZOK);
    assert_int_equal(zoo_aexists(zh, "/n", 0, bench_stat_done, "f"), ZOK);
    bench_leave();
    assert_int_equal(bench_get(zh, "g", "/n", tag), ZOK);
    bench_run();
    bench_saw("e 0 | f 0 | g 0 null");
    assert_int_equal(fakezk_watches(0), 1);
    bench_cut(zh, 0, 0, ZCONNECTIONLOSS);
    bench_run();
    bench_saw("w connecting | w connected");
    assert_true(fakezk_operator_remove("/n"));
    bench_run();
    bench_saw("w deleted /n");
}

static void ask_twice(zhandle_t *zh)
{
    assert_int_equal(bench_create(zh, "c", "/n", ZOO_PERSISTENT), ZOK);
    assert_int_equal(bench_delete(zh, "d", "/n", -1), ZOK);
}

static void test_half_a_link_looks_whole(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(bench_create(zh, "c", "/lock", ZOO_EPHEMERAL), ZOK);
    assert_int_equal(bench_exists(zh, "e", "/n", "x"), ZOK);
    bench_run();
    bench_forget();
    assert_int_equal(bench_delete(zh, "d", "/lock", -1), ZOK); /* no server ever reads it */
    bench_node("/n");
    bench_step(FAKEZK_DELIVER, 0);
    bench_saw("x created /n");
    assert_true(fakezk_expire(fakezk_session(0, 0)));
    bench_step(FAKEZK_BURY, 0);
    assert_false(fakezk_exists("/lock"));
    assert_int_equal(bench_state(zh), ZOO_CONNECTED_STATE);
    bench_run();
    bench_saw("w connecting | d -4 | w expired");
}

static void test_the_reason_of_a_loss(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    ask_twice(zh);
    bench_cut(zh, 0, 0, ZCONNECTIONLOSS);
    bench_run();
    bench_saw("w connecting | c -4 | d -4 | w connected");
    ask_twice(zh);
    assert_false(bench_can(FAKEZK_GIVE_UP, 0));
    fakezk_partition(0, true);
    assert_true(fakezk_is_partitioned(0));
    bench_step(FAKEZK_GIVE_UP, 0);
    fakezk_partition(0, false);
    bench_run();
    bench_saw("w connecting | c -7 | d -7 | w connected");
    bench_cut(zh, 0, 0, ZCONNECTIONLOSS);
    ask_twice(zh);
    assert_true(fakezk_expire(fakezk_session(0, 0)));
    bench_run();
    bench_saw("w connecting | w expired | c -112 | d -112");
    zh = bench_connected(1, "v");
    ask_twice(zh);
    assert_int_equal(bench_close(zh), ZOK);
    bench_saw("c -116 | d -116");
}

static void test_an_attempt_that_times_out(void **state)
{
    (void)state;
    zhandle_t *zh = bench_init(0, "w", "server:2181", NULL);
    fakezk_partition(0, true);
    assert_false(bench_can(FAKEZK_GIVE_UP, 0));
    ask_twice(zh);
    bench_step(FAKEZK_GIVE_UP, 0);
    bench_run();
    bench_saw("c -7 | d -7");
    assert_int_equal(bench_state(zh), 0);
}

static void test_a_loss_fails_the_whole_pipeline_in_order(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    bench_node("/n");
    assert_int_equal(bench_exists(zh, "1", "/n", NULL), ZOK);
    assert_int_equal(bench_create(zh, "2", "/n/2", ZOO_PERSISTENT), ZOK);
    assert_int_equal(bench_exists(zh, "3", "/n", NULL), ZOK);
    zoo_op_t op;
    zoo_op_result_t results[2] = {{.err = 77}, {.err = 77}};
    zoo_delete_op_init(&op, "/n/2", -1);
    assert_int_equal(bench_multi(zh, "4", 1, &op, results), ZOK);
    assert_int_equal(bench_exists(zh, "5", "/n", NULL), ZOK);
    bench_step(FAKEZK_APPLY, 0);
    bench_step(FAKEZK_APPLY, 0);
    bench_step(FAKEZK_APPLY, 0);
    assert_int_equal(fakezk_unreceived_messages(0, 0), 3);
    assert_int_equal(fakezk_unread_requests(0, 0), 2);
    bench_cut(zh, 1, 1, ZOPERATIONTIMEOUT);
    assert_int_equal(fakezk_outstanding(0, 0), 0);
    bench_run();
    bench_saw("1 0 | w connecting | 2 -7 | 3 -7 | 4 -7 | 5 -7 | w connected");
    assert_int_equal(results[0].err, ZOPERATIONTIMEOUT);
    assert_int_equal(results[1].err, 77);
    assert_false(fakezk_exists("/n/2"));
}

static void test_requests_issued_offline(void **state)
{
    (void)state;
    zhandle_t *zh = bench_init(0, "w", "server:2181", NULL);
    assert_int_equal(bench_create(zh, "c", "/x", ZOO_PERSISTENT), ZOK);
    assert_int_equal(fakezk_outstanding(0, 0), 1);
    assert_false(bench_can(FAKEZK_APPLY, 0));
    bench_run();
    bench_saw("w connected | c 0 /x");
    bench_cut(zh, 0, 0, ZCONNECTIONLOSS);
    assert_int_equal(bench_create(zh, "d", "/y", ZOO_PERSISTENT), ZOK);
    assert_true(fakezk_refuse(0, 0));
    bench_run();
    bench_saw("w connecting | d -4 | w connected");
    assert_false(fakezk_exists("/y"));
    assert_false(fakezk_refuse(0, 0));
}

static void test_only_a_server_ends_a_session(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    fakezk_partition(0, true);
    assert_true(fakezk_expire(fakezk_session(0, 0)));
    bench_step(FAKEZK_BURY, 0);
    bench_run();
    bench_saw("");
    assert_int_equal(bench_state(zh), ZOO_CONNECTED_STATE);
    bench_step(FAKEZK_GIVE_UP, 0);
    bench_run();
    bench_saw("w connecting");
    assert_int_equal(bench_state(zh), 0);
    fakezk_partition(0, false);
    bench_run();
    bench_saw("w expired");
}

static void test_expiry_is_the_end_of_a_handle(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    bench_node("/n");
    assert_int_equal(bench_exists(zh, "e", "/n", "x"), ZOK);
    bench_run();
    bench_saw("e 0");
    assert_true(fakezk_expire(fakezk_session(0, 0)));
    assert_false(fakezk_expire(fakezk_session(0, 0)));
    bench_run();
    bench_saw("x connecting | w connecting | x expired | w expired");
    assert_false(bench_can(FAKEZK_CONNECT, 0));
    assert_false(fakezk_refuse(0, 0));
    assert_true(fakezk_operator_remove("/n"));
    bench_run();
    bench_saw("");
    zoo_op_t op;
    zoo_op_result_t result;
    zoo_check_op_init(&op, "/n", -1);
    assert_int_equal(bench_create(zh, "c", "/x", ZOO_PERSISTENT), ZINVALIDSTATE);
    assert_int_equal(bench_exists(zh, "c", "/x", NULL), ZINVALIDSTATE);
    assert_int_equal(bench_sync(zh, "c", "/x"), ZINVALIDSTATE);
    assert_int_equal(bench_multi(zh, "c", 1, &op, &result), ZMARSHALLINGERROR);
    assert_int_equal(bench_unwatch(zh, "r", "/n", NULL, ZWATCHTYPE_ANY), ZINVALIDSTATE);
    bench_run();
    bench_saw("");
    assert_int_equal(bench_close(zh), ZOK);
    bench_saw("");
    assert_int_equal(fakezk_handles(0), 0);
}

static void test_reattaching(void **state)
{
    (void)state;
    zhandle_t *zh = bench_init(0, "w", "server:2181", NULL);
    assert_int_equal(bench_id(zh).client_id, 0);
    bench_run();
    bench_forget();
    assert_int_equal(bench_create(zh, "c", "/n", ZOO_EPHEMERAL), ZOK);
    bench_run();
    bench_saw("c 0 /n");
    clientid_t id = bench_id(zh);
    assert_true(id.client_id != 0);
    bench_enter(0);
    assert_int_equal(zoo_client_id(zh)->client_id, id.client_id);
    bench_leave();
    fakezk_crash(0);
    zh = bench_init(0, "v", "server:2181", &id);
    bench_run();
    bench_saw("v connected");
    assert_int_equal(bench_id(zh).client_id, id.client_id);
    assert_false(fakezk_orphans());
    assert_int_equal(bench_close(zh), ZOK);
    assert_false(fakezk_exists("/n"));
    bench_init(0, "u", "server:2181", &id);
    bench_run();
    bench_saw("u expired");
    clientid_t none = {0};
    zh = bench_init(1, "t", "server:2181", &none);
    bench_run();
    bench_saw("t connected");
    clientid_t wrong = bench_id(zh);
    wrong.client_id += 1ll << 40;
    bench_init(2, "s", "server:2181", &wrong);
    bench_run();
    bench_saw("s expired");
}

static void test_a_wrong_password_costs_the_owner_its_link(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    clientid_t id = bench_id(zh);
    id.passwd[0] ^= 1;
    zhandle_t *thief = bench_init(1, "v", "server:2181", &id);
    bench_run();
    bench_saw("w connecting | w connected | v expired");
    assert_int_equal(bench_state(zh), ZOO_CONNECTED_STATE);
    assert_int_equal(bench_state(thief), ZOO_EXPIRED_SESSION_STATE);
    assert_true(fakezk_session_live(fakezk_session(0, 0)));
}

static void test_callbacks_inside_init(void **state)
{
    (void)state;
    struct fakezk_options options = bench.options;
    options.callbacks_in_init = true;
    bench_reopen_with(&options);
    zhandle_t *zh = bench_init(0, "w", "server:2181", NULL);
    bench_saw("w connected");
    assert_int_equal(bench_state(zh), ZOO_CONNECTED_STATE);
    fakezk_freeze(0, true);
    zh = bench_init(1, "v", "server:2181", NULL);
    bench_saw("");
    assert_int_equal(bench_state(zh), ZOO_NOTCONNECTED_STATE);
}

static void test_close_flushes_what_is_queued(void **state)
{
    (void)state;
    for (int servers = 1; servers <= 2; servers++) {
        bench_reopen(servers, 0);
        zhandle_t *zh = bench_connected(servers - 1, "w"); /* client 1 of 2 starts with server 1 */
        assert_int_equal(bench_create(zh, "1", "/a", ZOO_PERSISTENT), ZOK);
        assert_int_equal(bench_exists(zh, "2", "/a", "x"), ZOK);
        assert_int_equal(bench_create(zh, "3", "/b", ZOO_PERSISTENT), ZOK);
        assert_int_equal(bench_create(zh, "4", "/c", ZOO_EPHEMERAL), ZOK);
        bench_step(FAKEZK_APPLY, BENCH_ANY);
        assert_int_equal(bench_close(zh), ZOK);
        bench_saw("1 -116 | 2 -116 | 3 -116 | 4 -116");
        assert_int_equal(fakezk_handles(servers - 1), 0);
        bench_run();
        bench_saw("");
        assert_true(fakezk_exists("/a"));
        assert_true(fakezk_exists("/b"));
        assert_false(fakezk_exists("/c"));
        assert_int_equal(bench.events[FAKEZK_NODE_CREATED], 3);
        assert_int_equal(bench.events[FAKEZK_SESSION_CLOSED], 1);
        assert_true(fakezk_quiet());
    }
}

static void test_close_hides_the_results_of_a_multi(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    zoo_op_t op;
    zoo_op_result_t result = {.err = 77};
    zoo_create_op_init(&op, "/m", NULL, -1, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT, NULL, 0);
    assert_int_equal(bench_multi(zh, "m", 1, &op, &result), ZOK);
    bench_step(FAKEZK_APPLY, 0);
    assert_int_equal(bench_close(zh), ZOK);
    bench_saw("m -116");
    assert_int_equal(result.err, ZCLOSING);
    assert_true(fakezk_exists("/m"));
}

static void test_what_was_received_before_the_close_is_told(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(bench_create(zh, "1", "/a", ZOO_PERSISTENT), ZOK);
    bench_step(FAKEZK_APPLY, 0);
    bench_cut(zh, 1, 0, ZCONNECTIONLOSS);
    assert_int_equal(bench_close(zh), ZOK);
    bench_saw("1 0 /a | w connecting");
}

static void test_completions_may_never_come_at_close(void **state)
{
    (void)state;
    bench_reopen(1, FAKEZK_DEFECT_DROP_AT_CLOSE);
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(bench_create(zh, "1", "/a", ZOO_PERSISTENT), ZOK);
    assert_int_equal(bench_close(zh), ZOK);
    bench_run();
    bench_saw("");
    assert_true(fakezk_exists("/a"));
}

static void test_close_without_a_link_tells_nobody(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(bench_create(zh, "1", "/a", ZOO_EPHEMERAL), ZOK);
    bench_run();
    bench_saw("1 0 /a");
    int32_t session = fakezk_session(0, 0);
    bench_cut(zh, 0, 0, ZCONNECTIONLOSS);
    assert_int_equal(bench_create(zh, "2", "/b", ZOO_PERSISTENT), ZOK);
    assert_int_equal(bench_close(zh), ZOK);
    bench_saw("w connecting | 2 -116");
    bench_run();
    assert_true(fakezk_exists("/a"));
    assert_false(fakezk_exists("/b"));
    assert_true(fakezk_session_live(session));
    assert_true(fakezk_expire(session));
    bench_run();
    assert_false(fakezk_exists("/a"));
}

static void test_close_across_a_partition_tells_nobody(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    int32_t session = fakezk_session(0, 0);
    assert_int_equal(bench_create(zh, "1", "/a", ZOO_PERSISTENT), ZOK);
    fakezk_partition(0, true);
    assert_int_equal(bench_close(zh), ZOK);
    bench_saw("1 -116");
    assert_false(fakezk_exists("/a"));
    assert_true(fakezk_session_live(session));
}

static int close_rc;
static int late_rc;
static int again_rc;

static void close_inside(zhandle_t *zh, const char *tag)
{
    if (strcmp(tag, "x") == 0) {
        close_rc = zookeeper_close(zh);
        again_rc = zookeeper_close(zh);
        late_rc = zoo_aexists(zh, "/n", 0, bench_stat_done, "late");
    }
}

static void test_close_inside_a_callback(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    bench_node("/n");
    assert_int_equal(bench_exists(zh, "e", "/n", "x"), ZOK);
    bench_run();
    bench_forget();
    assert_int_equal(bench_set(zh, "s", "/n", "1", -1), ZOK);
    bench_step(FAKEZK_APPLY, 0);
    assert_int_equal(bench_create(zh, "c", "/c", ZOO_PERSISTENT), ZOK);
    bench.hook = close_inside;
    bench_step(FAKEZK_DELIVER, 0);
    bench_saw("x changed /n | s -116 | c -116");
    assert_int_equal(close_rc, ZOK);
    assert_int_equal(again_rc, ZBADARGUMENTS);
    assert_int_equal(late_rc, ZMARSHALLINGERROR);
    assert_int_equal(bench.depth_max, 1); /* F36 */
    assert_true(fakezk_exists("/c"));
    assert_int_equal(fakezk_handles(0), 0);
    assert_int_equal(fakezk_watches(0), 0);
}

static void close_at_c(zhandle_t *zh, const char *tag)
{
    (void)zh;
    if (strcmp(tag, "c") == 0) {
        close_rc = zookeeper_close(bench.hook == NULL ? NULL : (zhandle_t *)bench.memory);
    }
}

static void test_close_of_a_closing_handle_is_refused(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(bench_delete(zh, "c", "/c", -1), ZOK);
    bench.hook = close_at_c;
    bench.memory = zh;
    assert_int_equal(bench_close(zh), ZOK);
    bench_saw("c -116");
    assert_int_equal(close_rc, ZBADARGUMENTS);
    bench_enter(0);
    assert_int_equal(zookeeper_close(NULL), ZBADARGUMENTS);
    assert_int_equal(zoo_state(NULL), 0);
    bench_leave();
}

static void test_the_timeout_is_negotiated(void **state)
{
    (void)state;
    struct fakezk_options options = bench.options;
    options.tick_ms = 200;
    bench_reopen_with(&options);
    static const struct {
        int wanted, given;
    } cases[] = {{100, 400}, {1000, 1000}, {100000, 4000}};
    for (int i = 0; i < 3; i++) {
        bench_enter(i);
        zhandle_t *zh = zookeeper_init2("h", bench_watcher, cases[i].wanted, NULL, bench_tag("w"), 0, NULL);
        assert_int_equal(zoo_recv_timeout(zh), cases[i].wanted);
        bench_leave();
        bench_run();
        bench_enter(i);
        assert_int_equal(zoo_recv_timeout(zh), cases[i].given);
        bench_leave();
    }
}

static void test_requests_of_a_closing_session(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    ask_twice(zh);
    assert_true(fakezk_expire(fakezk_session(0, 0)));
    bench_step(FAKEZK_APPLY, 0); /* in the pipeline already: an answer */
    assert_false(fakezk_exists("/n"));
    bench_step(FAKEZK_DELIVER, 0);
    bench_saw("c -112");
    assert_int_equal(bench_state(zh), ZOO_CONNECTED_STATE);
    bench_step(FAKEZK_BURY, 0);
    assert_false(bench_can(FAKEZK_APPLY, 0)); /* the other packet is dropped */
    bench_step(FAKEZK_HANG_UP, 0);
    bench_run();
    bench_saw("w connecting | d -4 | w expired");
}

static void test_the_steps_of_an_expiry(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(bench_create(zh, "c", "/n", ZOO_EPHEMERAL), ZOK);
    bench_run();
    bench_forget();
    int32_t session = fakezk_session(0, 0);
    assert_true(fakezk_expire(session));
    assert_true(fakezk_exists("/n"));
    assert_false(fakezk_session_live(session));
    int32_t closing[2];
    assert_int_equal(fakezk_sessions(0, true, closing, 2), 1);
    assert_int_equal(closing[0], session);
    assert_false(bench_can(FAKEZK_HANG_UP, 0));
    bench_step(FAKEZK_BURY, 0);
    assert_false(fakezk_exists("/n"));
    assert_int_equal(fakezk_sessions(0, true, closing, 2), 0);
    bench_saw("");
    assert_int_equal(bench_state(zh), ZOO_CONNECTED_STATE);
    bench_step(FAKEZK_HANG_UP, 0);
    bench_step(FAKEZK_DELIVER, 0);
    bench_saw("w connecting");
    bench_run();
    bench_saw("w expired");
}

static void test_a_closing_session_is_gone_for_the_client(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(bench_create(zh, "c", "/n", ZOO_EPHEMERAL), ZOK);
    bench_run();
    bench_forget();
    bench_cut(zh, 0, 0, ZCONNECTIONLOSS);
    assert_true(fakezk_expire(fakezk_session(0, 0)));
    bench_step(FAKEZK_CONNECT, 0);
    bench_step(FAKEZK_DELIVER, 0);
    bench_step(FAKEZK_DELIVER, 0);
    bench_saw("w connecting | w expired");
    assert_true(fakezk_exists("/n"));
    bench_step(FAKEZK_BURY, 0);
    assert_false(fakezk_exists("/n"));
}

static void test_two_handles_chase_each_other(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(bench_create(zh, "c", "/n", ZOO_EPHEMERAL), ZOK);
    bench_run();
    bench_forget();
    clientid_t id = bench_id(zh);
    zhandle_t *twin = bench_init(0, "v", "server:2181", &id);
    assert_ptr_not_equal(zh, twin);
    assert_int_equal(bench_exists(zh, "e", "/n", NULL), ZOK);
    bench_step(FAKEZK_CONNECT, 0);
    assert_false(fakezk_connected(0, 0));
    assert_true(fakezk_connected(0, 1));
    bench_step(FAKEZK_DELIVER, 0);
    bench_step(FAKEZK_DELIVER, 0);
    bench_saw("w connecting | e -4");
    bench_step(FAKEZK_CONNECT, 0); /* the victim comes back and steals the session */
    assert_true(fakezk_connected(0, 0));
    assert_false(fakezk_connected(0, 1));
    bench_step(FAKEZK_DELIVER, 0);
    bench_step(FAKEZK_DELIVER, 0);
    bench_step(FAKEZK_DELIVER, 0);
    bench_saw("w connected | v connected | v connecting");
}

static void test_the_duplicate_handle_forces_an_expiry(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(bench_create(zh, "c", "/n", ZOO_EPHEMERAL), ZOK);
    bench_run();
    bench_forget();
    clientid_t id = bench_id(zh);
    zhandle_t *twin = bench_init(1, "v", "server:2181", &id);
    bench_step(FAKEZK_CONNECT, 1);
    assert_int_equal(bench_close(twin), ZOK);
    assert_false(fakezk_exists("/n"));
    bench_run();
    bench_saw("v connected | w connecting | w expired");
    assert_int_equal(bench_state(zh), ZOO_EXPIRED_SESSION_STATE);
}

static void test_a_crash_leaves_the_session_behind(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(bench_create(zh, "c", "/n", ZOO_EPHEMERAL), ZOK);
    bench_run();
    int32_t session = fakezk_session(0, 0);
    fakezk_crash(0);
    assert_int_equal(fakezk_handles(0), 0);
    assert_true(fakezk_exists("/n"));
    assert_true(fakezk_session_live(session));
    assert_true(fakezk_orphans());
    assert_false(fakezk_busy());
    bench_step(FAKEZK_EXPIRE, 0);
    bench_step(FAKEZK_BURY, 0);
    assert_false(fakezk_exists("/n"));
    assert_false(fakezk_orphans());
}

static void test_contexts_and_watchers_can_be_changed(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    bench_enter(0);
    assert_string_equal(zoo_get_context(zh), "w");
    zoo_set_context(zh, bench_tag("v"));
    assert_true(zoo_set_watcher(zh, bench_watcher_too) == bench_watcher);
    assert_int_equal(is_unrecoverable(zh), ZOK);
    bench_leave();
    bench_cut(zh, 0, 0, ZCONNECTIONLOSS);
    bench_run();
    bench_saw("v* connecting | v* connected");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_setup, bench_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_states_of_a_handle),
        TEST(test_what_raises_a_session_event),
        TEST(test_the_state_runs_ahead_of_the_events),
        TEST(test_session_events_reach_every_watcher_once),
        TEST(test_receivers_come_in_an_order_of_the_run),
        TEST(test_the_default_watcher_counts_once),
        TEST(test_half_a_link_looks_whole),
        TEST(test_the_reason_of_a_loss),
        TEST(test_an_attempt_that_times_out),
        TEST(test_a_loss_fails_the_whole_pipeline_in_order),
        TEST(test_requests_issued_offline),
        TEST(test_only_a_server_ends_a_session),
        TEST(test_expiry_is_the_end_of_a_handle),
        TEST(test_reattaching),
        TEST(test_a_wrong_password_costs_the_owner_its_link),
        TEST(test_callbacks_inside_init),
        TEST(test_close_flushes_what_is_queued),
        TEST(test_close_hides_the_results_of_a_multi),
        TEST(test_what_was_received_before_the_close_is_told),
        TEST(test_completions_may_never_come_at_close),
        TEST(test_close_without_a_link_tells_nobody),
        TEST(test_close_across_a_partition_tells_nobody),
        TEST(test_close_inside_a_callback),
        TEST(test_close_of_a_closing_handle_is_refused),
        TEST(test_the_timeout_is_negotiated),
        TEST(test_requests_of_a_closing_session),
        TEST(test_the_steps_of_an_expiry),
        TEST(test_a_closing_session_is_gone_for_the_client),
        TEST(test_two_handles_chase_each_other),
        TEST(test_the_duplicate_handle_forces_an_expiry),
        TEST(test_a_crash_leaves_the_session_behind),
        TEST(test_contexts_and_watchers_can_be_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
