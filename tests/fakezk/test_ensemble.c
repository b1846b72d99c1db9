/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Several servers: F33 to F35, F42, F94, F97, and what followers forward. */
#include "support/fakezk_bench.h"

static bool reaches(int client, int server)
{
    struct fakezk_step step = {.kind = FAKEZK_CONNECT, .client = (uint8_t)client, .server = (uint8_t)server};
    return fakezk_can_step(&step);
}

static void test_a_follower_that_is_behind_refuses_the_client(void **state)
{
    (void)state;
    bench_reopen(2, 0);
    zhandle_t *zh = bench_connected(0, "w");
    fakezk_lag(1, true);
    assert_int_equal(bench_create(zh, "c", "/n", ZOO_PERSISTENT), ZOK);
    bench_run();
    bench_cut(zh, 0, 0, ZCONNECTIONLOSS);
    assert_false(reaches(0, 1));
    assert_true(reaches(0, 0));
    assert_true(fakezk_refuse(0, 0));
    bench_step_at(FAKEZK_CATCH_UP, BENCH_ANY, 1);
    assert_true(reaches(0, 1));
    bench_step_at(FAKEZK_CONNECT, 0, 1);
    assert_int_equal(bench_exists(zh, "e", "/n", NULL), ZOK);
    bench_run();
    bench_saw("c 0 /n | w connecting | w connected | e 0");
}

static void test_a_cut_off_follower_confirms_no_session(void **state)
{
    (void)state;
    bench_reopen(2, 0);
    zhandle_t *zh = bench_connected(1, "w");
    bench_cut(zh, 0, 0, ZCONNECTIONLOSS);
    fakezk_freeze(1, true);
    assert_true(fakezk_is_frozen(1));
    assert_false(reaches(1, 1));
    assert_true(reaches(1, 0));
    assert_int_equal(bench_exists(zh, "e", "/n", NULL), ZOK);
    assert_false(bench_can(FAKEZK_GIVE_UP, 1));
    fakezk_freeze(0, true);
    assert_false(reaches(1, 0));
    bench_step(FAKEZK_GIVE_UP, 1); /* no server answers the handshake */
    while (bench_can(FAKEZK_DELIVER, 1)) {
        bench_step(FAKEZK_DELIVER, 1);
    }
    bench_saw("w connecting | e -7");
    bench_init(2, "v", "h", NULL);
    assert_false(reaches(2, 0) || reaches(2, 1));
    fakezk_freeze(0, false);
    assert_true(reaches(2, 0));
}

static void test_a_cut_off_follower_serves_the_dead(void **state)
{
    (void)state;
    bench_reopen(2, 0);
    zhandle_t *zh = bench_connected(1, "w");
    assert_int_equal(bench_create(zh, "c", "/lock", ZOO_EPHEMERAL), ZOK);
    assert_int_equal(bench_exists(zh, "e", "/lock", "x"), ZOK);
    bench_run();
    bench_forget();
    fakezk_freeze(1, true);
    assert_true(fakezk_expire(fakezk_session(1, 0)));
    bench_step(FAKEZK_BURY, 1);
    assert_false(fakezk_exists("/lock"));
    assert_int_equal(bench_get(zh, "g", "/lock", NULL), ZOK);
    bench_run();
    bench_saw("g 0 null");
    assert_int_equal(bench_state(zh), ZOO_CONNECTED_STATE);
    assert_true(fakezk_connected(1, 0));
    assert_int_equal(fakezk_linked(1, 0), 0);
    assert_false(bench_can(FAKEZK_GIVE_UP, 1)); /* pings are answered */
    assert_false(bench_can(FAKEZK_CATCH_UP, BENCH_ANY));
    fakezk_freeze(1, false);
    bench_run();
    bench_saw("x deleted /lock | w connecting | w expired");
    assert_int_equal(fakezk_linked(1, 0), -1);
}

static void test_a_write_at_a_cut_off_follower_hangs(void **state)
{
    (void)state;
    bench_reopen(3, 0);
    zhandle_t *zh = bench_connected(1, "w");
    fakezk_freeze(1, true);
    assert_int_equal(bench_exists(zh, "1", "/", NULL), ZOK);
    assert_false(bench_can(FAKEZK_GIVE_UP, 1));
    assert_int_equal(bench_create(zh, "2", "/n", ZOO_PERSISTENT), ZOK);
    assert_int_equal(bench_exists(zh, "3", "/", NULL), ZOK);
    bench_run();
    bench_saw("1 0");
    assert_false(fakezk_busy());
    assert_false(fakezk_quiet());
    bench_step(FAKEZK_GIVE_UP, 1);
    bench_run();
    bench_saw("w connecting | 2 -7 | 3 -7 | w connected");
    assert_int_equal(bench_sync(zh, "4", "/"), ZOK);
    bench_run();
    bench_saw("4 0 /");
    assert_false(fakezk_exists("/n"));
}

static void test_a_write_that_waits_for_a_frozen_follower(void **state)
{
    (void)state;
    bench_reopen(2, 0);
    zhandle_t *zh = bench_connected(1, "w");
    assert_int_equal(bench_create(zh, "1", "/n", ZOO_PERSISTENT), ZOK);
    bench_step(FAKEZK_APPLY, 1);
    fakezk_freeze(1, true);
    assert_true(fakezk_exists("/n"));
    bench_step(FAKEZK_GIVE_UP, 1);
    bench_run();
    bench_saw("w connecting | 1 -7 | w connected");
    assert_int_equal(bench_exists(zh, "2", "/n", NULL), ZOK);
    bench_run();
    bench_saw("2 0");
    fakezk_freeze(1, false);
    bench_run();
    bench_saw(""); /* the reply went with the link */
    assert_true(fakezk_quiet());
}

static void test_followers_apply_everything_alike(void **state)
{
    (void)state;
    bench_reopen(3, 0);
    zhandle_t *a = bench_connected(1, "w");
    zhandle_t *b = bench_connected(2, "v");
    char buffer[32];
    struct Stat stat;
    zoo_op_t ops[2];
    zoo_op_result_t results[2];
    zoo_create_op_init(&ops[0], "/p/s-", "d", 1, &ZOO_OPEN_ACL_UNSAFE, ZOO_SEQUENCE, buffer, sizeof buffer);
    zoo_set_op_init(&ops[1], "/p", "data", 4, 0, &stat);
    assert_int_equal(bench_create(a, "1", "/p", ZOO_PERSISTENT), ZOK);
    assert_int_equal(bench_multi(a, "2", 2, ops, results), ZOK);
    assert_int_equal(bench_create(a, "3", "/p/n", ZOO_EPHEMERAL), ZOK);
    assert_int_equal(bench_delete(a, "4", "/p/s-0000000000", -1), ZOK);
    bench_enter(1);
    assert_int_equal(zoo_aset_acl(a, "/p", 0, &ZOO_READ_ACL_UNSAFE, bench_void_done, "5"), ZOK);
    bench_leave();
    bench_run();
    bench_saw("1 0 /p | 2 0 | 3 0 /p/n | 4 0 | 5 0");
    assert_string_equal(buffer, "/p/s-0000000000");
    assert_int_equal(stat.version, 1);
    assert_int_equal(bench_get(a, "g", "/p", NULL), ZOK);
    bench_run();
    struct Stat at_one = bench.stat;
    assert_int_equal(bench_get(b, "g", "/p", NULL), ZOK);
    bench_run();
    assert_memory_equal(&at_one, &bench.stat, sizeof at_one);
    assert_int_equal(bench_list(b, "l", "/p", NULL), ZOK);
    bench_enter(2);
    assert_int_equal(zoo_aget_acl(b, "/p", bench_acl_done, "acl"), ZOK);
    bench_leave();
    bench_run();
    bench_saw("g 0 {data} | g 0 {data} | l 0 [n] | acl 0 world:anyone:1");
    assert_int_equal(bench.stat.aversion, 1);
}

static void test_watches_fire_when_the_own_server_applies(void **state)
{
    (void)state;
    bench_reopen(2, 0);
    zhandle_t *a = bench_connected(0, "w");
    zhandle_t *b = bench_connected(1, "v");
    assert_int_equal(bench_exists(a, "e", "/n", "x"), ZOK);
    assert_int_equal(bench_exists(b, "f", "/n", "y"), ZOK);
    bench_run();
    bench_forget();
    fakezk_lag(1, true);
    bench_node("/n");
    bench_run();
    bench_saw("x created /n");
    bench_step_at(FAKEZK_CATCH_UP, BENCH_ANY, 1);
    bench_run();
    bench_saw("y created /n");
}

static void test_a_restart_keeps_sessions(void **state)
{
    (void)state;
    bench_reopen(2, 0);
    zhandle_t *a = bench_connected(0, "w");
    zhandle_t *b = bench_connected(1, "v");
    assert_int_equal(bench_create(a, "c", "/n", ZOO_EPHEMERAL), ZOK);
    bench_run();
    assert_int_equal(bench_exists(a, "e", "/n", "x"), ZOK);
    bench_run();
    bench_forget();
    int64_t id = bench_id(a).client_id;
    fakezk_restart_server(0);
    assert_false(fakezk_connected(0, 0));
    assert_true(fakezk_connected(1, 0));
    bench_run();
    bench_saw("x connecting | w connecting | x connected | w connected");
    assert_int_equal(bench_id(a).client_id, id);
    assert_int_equal(bench_delete(b, "d", "/n", -1), ZOK);
    bench_run();
    bench_saw("x deleted /n | d 0");
}

static void test_a_reply_owed_by_a_follower_goes_with_the_link(void **state)
{
    (void)state;
    bench_reopen(2, 0);
    zhandle_t *a = bench_connected(1, "w");
    fakezk_lag(1, true);
    assert_int_equal(bench_create(a, "1", "/a", ZOO_PERSISTENT), ZOK);
    bench_step(FAKEZK_APPLY, 1);
    zhandle_t *b = bench_init(2, "v", "h", NULL);
    bench_step_at(FAKEZK_CONNECT, 2, 0);
    assert_int_equal(bench_create(b, "2", "/b", ZOO_PERSISTENT), ZOK);
    bench_step(FAKEZK_APPLY, 2);
    bench_cut(a, 0, 0, ZCONNECTIONLOSS);
    bench_step_at(FAKEZK_CATCH_UP, BENCH_ANY, 1);
    bench_step_at(FAKEZK_CONNECT, 1, 1);
    assert_int_equal(bench_exists(a, "3", "/a", NULL), ZOK);
    bench_run();
    bench_saw("w connecting | 1 -4 | w connected | 3 0 | v connected | 2 0 /b");
}

static void test_the_closing_of_a_session_reaches_followers_later(void **state)
{
    (void)state;
    bench_reopen(2, 0);
    zhandle_t *zh = bench_connected(1, "w");
    assert_int_equal(bench_create(zh, "1", "/n", ZOO_EPHEMERAL), ZOK);
    bench_run();
    bench_forget();
    fakezk_lag(1, true);
    assert_int_equal(bench_exists(zh, "2", "/n", NULL), ZOK);
    assert_int_equal(bench_create(zh, "3", "/m", ZOO_EPHEMERAL), ZOK);
    assert_true(fakezk_expire(fakezk_session(1, 0)));
    bench_step(FAKEZK_BURY, 1);
    assert_false(bench_can(FAKEZK_HANG_UP, 1));
    bench_step(FAKEZK_APPLY, 1);              /* the read is served */
    assert_false(bench_can(FAKEZK_APPLY, 1)); /* the write is dropped */
    bench_step_at(FAKEZK_CATCH_UP, BENCH_ANY, 1);
    assert_false(bench_can(FAKEZK_APPLY, 1));
    bench_step(FAKEZK_HANG_UP, 1);
    bench_run();
    bench_saw("2 0 | w connecting | 3 -4 | w expired");
}

static void test_the_older_link_falls_on_any_server(void **state)
{
    (void)state;
    bench_reopen(3, 0);
    zhandle_t *zh = bench_connected(1, "w");
    clientid_t id = bench_id(zh);
    bench_init(2, "v", "h", &id);
    bench_step_at(FAKEZK_CONNECT, 2, 2);
    assert_false(fakezk_connected(1, 0));
    assert_true(fakezk_connected(2, 0));
    assert_int_equal(fakezk_session(1, 0), fakezk_session(2, 0));
}

static void test_who_is_cut_off_does_not_hear_of_a_restart(void **state)
{
    (void)state;
    zhandle_t *a = bench_connected(0, "w");
    zhandle_t *b = bench_connected(1, "v");
    assert_int_equal(bench_exists(a, "1", "/n", "x"), ZOK);
    bench_run();
    bench_forget();
    assert_int_equal(bench_create(a, "2", "/m", ZOO_PERSISTENT), ZOK);
    assert_int_equal(bench_exists(b, "3", "/n", NULL), ZOK);
    bench_step(FAKEZK_APPLY, 1);
    fakezk_partition(0, true);
    fakezk_pause(1, true);
    fakezk_restart_server(0);
    assert_true(fakezk_connected(0, 0) && fakezk_connected(1, 0));
    assert_int_equal(bench_state(a), ZOO_CONNECTED_STATE);
    bench_node("/n");
    bench_run();
    bench_saw("");
    assert_false(bench_can(FAKEZK_HANG_UP, BENCH_ANY));
    assert_true(bench_can(FAKEZK_GIVE_UP, 0));
    fakezk_partition(0, false);
    fakezk_pause(1, false);
    assert_false(bench_can(FAKEZK_APPLY, 0));
    assert_true(fakezk_busy());
    bench_run();
    bench_saw("x connecting | w connecting | 2 -4 | x connected | w connected | x created /n | 3 -101 | v "
              "connecting | "
              "v connected");
    assert_false(fakezk_exists("/m"));
    fakezk_partition(0, true);
    fakezk_restart_server(0);
    assert_int_equal(bench_close(a), ZOK); /* into a link that is closed at the other end */
    int32_t live;
    assert_int_equal(fakezk_sessions(0, false, &live, 1), 1);
}

static void test_the_dump_names_what_there_is(void **state)
{
    (void)state;
    bench_reopen(2, 0);
    zhandle_t *zh = bench_connected(0, "w");
    bench_node("/n");
    assert_int_equal(bench_exists(zh, "e", "/n", "x"), ZOK);
    bench_run();
    fakezk_freeze(1, true);
    char text[2048];
    fakezk_dump(text, sizeof text);
    assert_non_null(strstr(text, "server s2: zxid 2, frozen"));
    assert_non_null(strstr(text, "  /n: czxid 2\n"));
    assert_non_null(strstr(text, "client 0: connected, session 1, link up, 0 unanswered, 0 to deliver"));
    assert_non_null(strstr(text, "  watch on /n"));
    char little[8];
    fakezk_dump(little, sizeof little);
    assert_string_equal(little, "log: zx");
}

static void described(int kind, int client, const char *text, int32_t about)
{
    struct fakezk_step steps[32];
    int count = fakezk_steps(steps, 32);
    for (int i = 0; i < count; i++) {
        if (steps[i].kind == kind && (client == BENCH_ANY || steps[i].client == client)) {
            char label[64];
            int32_t owner;
            fakezk_describe_step(&steps[i], label, sizeof label, &owner);
            assert_string_equal(label, text);
            assert_int_equal(owner, about);
            fakezk_step(&steps[i]);
            return;
        }
    }
    fail_msg("no step to describe as %s", text);
}

static void enter_and_describe(int client, const char *text, int32_t about)
{
    fakezk_enter(client);
    described(FAKEZK_DELIVER, client, text, about);
    fakezk_leave();
}

static void test_steps_are_described_by_role(void **state)
{
    (void)state;
    bench_reopen(2, 0);
    zhandle_t *a = bench_connected(0, "w");
    zhandle_t *b = bench_connected(1, "v");
    assert_int_equal(bench_exists(b, "e", "/n", "x"), ZOK);
    described(FAKEZK_APPLY, 1, "exists", 0);
    enter_and_describe(1, "exists-reply", 0);
    assert_int_equal(bench_create(a, "c", "/n", ZOO_EPHEMERAL), ZOK);
    described(FAKEZK_APPLY, 0, "create", 0);
    described(FAKEZK_CATCH_UP, BENCH_ANY, "create", 0);
    enter_and_describe(1, "created", 1);
    enter_and_describe(0, "create-reply", 0);
    assert_int_equal(bench_get(b, "g", "/n", "x"), ZOK);
    assert_int_equal(bench_list(b, "l", "/n", "x"), ZOK);
    bench_run();
    assert_int_equal(bench_set(a, "s", "/n", "1", -1), ZOK);
    described(FAKEZK_APPLY, 0, "set", 0);
    described(FAKEZK_CATCH_UP, BENCH_ANY, "set", 0);
    enter_and_describe(1, "changed", 0);
    assert_true(fakezk_expire(fakezk_session(0, 0)));
    bench_step(FAKEZK_DELIVER, 0);
    assert_int_equal(bench_delete(a, "d", "/n", -1), ZOK);
    described(FAKEZK_APPLY, 0, "delete refused", 0);
    described(FAKEZK_BURY, 0, "", 0);
    described(FAKEZK_CATCH_UP, BENCH_ANY, "delete", 0);
    enter_and_describe(1, "deleted", 1);
    enter_and_describe(0, "delete-reply", 0);
    described(FAKEZK_HANG_UP, 0, "", 0);
    enter_and_describe(0, "session-connecting", 0);
    described(FAKEZK_CONNECT, 0, "", 0);
    enter_and_describe(0, "session-expired", 0);
    assert_int_equal(bench_create(b, "c", "/late", ZOO_PERSISTENT), ZOK);
    assert_true(fakezk_cut(1, 0, 0, 1, ZCONNECTIONLOSS, true));
    described(FAKEZK_COMMIT, 1, "create", 0);
    bench_step(FAKEZK_CONNECT, 1);
    bench_step(FAKEZK_DELIVER, 1);
    bench_step(FAKEZK_DELIVER, 1);
    enter_and_describe(1, "session-connected", 0);
    assert_int_equal(bench_list(b, "l", "/", "y"), ZOK);
    bench_run();
    bench_node("/other");
    bench_step(FAKEZK_CATCH_UP, BENCH_ANY);
    enter_and_describe(1, "child", 0);
    assert_string_equal(fakezk_op_name(0), "create");
}

static void test_steps_that_are_none(void **state)
{
    (void)state;
    bench_reopen(2, 0);
    bench_connected(0, "w");
    int32_t session = fakezk_session(0, 0);
    const struct fakezk_step none[] = {
        {.kind = FAKEZK_DELIVER, .client = 99},
        {.kind = FAKEZK_DELIVER, .client = 0, .handle = 9},
        {.kind = FAKEZK_DELIVER, .client = 1},
        {.kind = FAKEZK_DELIVER, .client = 0},
        {.kind = FAKEZK_APPLY, .client = 0},
        {.kind = FAKEZK_CONNECT, .client = 0, .server = 0},
        {.kind = FAKEZK_CONNECT, .client = 0, .server = 9},
        {.kind = FAKEZK_GIVE_UP, .client = 0},
        {.kind = FAKEZK_HANG_UP, .client = 0},
        {.kind = FAKEZK_CATCH_UP, .client = FAKEZK_NONE, .server = 0},
        {.kind = FAKEZK_CATCH_UP, .client = FAKEZK_NONE, .server = 1},
        {.kind = FAKEZK_CATCH_UP, .client = FAKEZK_NONE, .server = 9},
        {.kind = FAKEZK_COMMIT, .client = 0},
        {.kind = FAKEZK_BURY, .client = 0, .session = session},
        {.kind = FAKEZK_BURY, .client = 0, .session = 77},
        {.kind = FAKEZK_EXPIRE, .client = 0, .session = session},
        {.kind = FAKEZK_EXPIRE, .client = 0, .session = 77},
    };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        assert_false(fakezk_can_step(&none[i]));
    }
    assert_true(fakezk_quiet());
    assert_false(fakezk_busy());
    assert_false(fakezk_expire(77));
}

/* A zxid is epoch << 32 | counter. The counter begins again, and the order stays. */
static void test_a_new_leader_begins_an_epoch(void **state)
{
    (void)state;
    struct fakezk_options options = bench.options;
    options.servers = 3;
    options.epochs = true;
    bench_reopen_with(&options);
    zhandle_t *zh = bench_connected(0, "w");
    bench_create(zh, "c", "/a", ZOO_PERSISTENT);
    bench_run();
    int32_t last = fakezk_last_zxid();
    assert_true(fakezk_zxid(last) == last);
    fakezk_restart_server(1);
    fakezk_restart_server(0);
    fakezk_restart_server(0); /* nothing was written in between */
    bench_run();
    bench_create(zh, "d", "/b", ZOO_PERSISTENT);
    bench_run();
    bench_forget();
    bench_exists(zh, "e", "/b", NULL);
    bench_run();
    bench_saw("e 0");
    assert_true(bench.stat.czxid == (2ll << 32 | 1));
    bench_exists(zh, "e", "/a", NULL);
    bench_run();
    bench_saw("e 0");
    assert_true(bench.stat.czxid == FAKEZK_EPOCH + fakezk_czxid("/a"));
    assert_true(fakezk_czxid("/b") > last);
    assert_true(fakezk_zxid(last) == last);
    for (int32_t number = 0; number <= last; number++) {
        assert_int_equal(fakezk_number(fakezk_zxid(number)), number);
    }
    int32_t behind = fakezk_czxid("/b");
    assert_int_equal(fakezk_number(fakezk_zxid(behind)), behind);
    assert_int_equal(fakezk_number(-FAKEZK_EPOCH), 0); /* of a token that is none */
}

/* A server that has nobody to elect keeps its epoch, and so does one whose followers restart. */
static void test_a_restart_without_an_election_keeps_the_epoch(void **state)
{
    (void)state;
    for (int servers = 1; servers <= 2; servers++) {
        struct fakezk_options options = bench.options;
        options.servers = servers;
        options.epochs = servers > 1;
        bench_reopen_with(&options);
        zhandle_t *zh = bench_connected(0, "w");
        fakezk_restart_server(servers - 1);
        bench_run();
        bench_create(zh, "d", "/b", ZOO_PERSISTENT);
        bench_run();
        bench_forget();
        bench_exists(zh, "e", "/b", NULL);
        bench_run();
        bench_saw("e 0");
        assert_true(bench.stat.czxid == FAKEZK_EPOCH + fakezk_czxid("/b"));
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_setup, bench_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_follower_that_is_behind_refuses_the_client),
        TEST(test_a_cut_off_follower_confirms_no_session),
        TEST(test_a_cut_off_follower_serves_the_dead),
        TEST(test_a_write_at_a_cut_off_follower_hangs),
        TEST(test_a_write_that_waits_for_a_frozen_follower),
        TEST(test_followers_apply_everything_alike),
        TEST(test_watches_fire_when_the_own_server_applies),
        TEST(test_a_restart_keeps_sessions),
        TEST(test_a_reply_owed_by_a_follower_goes_with_the_link),
        TEST(test_the_closing_of_a_session_reaches_followers_later),
        TEST(test_the_older_link_falls_on_any_server),
        TEST(test_who_is_cut_off_does_not_hear_of_a_restart),
        TEST(test_the_dump_names_what_there_is),
        TEST(test_steps_are_described_by_role),
        TEST(test_steps_that_are_none),
        TEST(test_a_new_leader_begins_an_epoch),
        TEST(test_a_restart_without_an_election_keeps_the_epoch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
