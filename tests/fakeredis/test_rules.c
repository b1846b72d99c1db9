/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* How a Redis server behaves, rule by rule (docs/fidelity-redis.md). That the words are those of a real
 * server is what fakeredis.conformance compares. */
#include "fakeredis/bench.h"

/* R1, R2: a lease ends by the clock of the server; the key is there in its last millisecond, and gone in
 * the next one. */
static void a_lease_ends_behind_its_last_millisecond(void **state)
{
    (void)state;
    bench_open(true, NULL);
    redisAsyncContext *c = bench_connected(0);
    bench_ask(0, c, "set", "SET k v PX 30");
    bench_saw("(wrote k) (leased k) set=OK ");
    bench_now += 30;
    bench_ask(0, c, "get", "GET k");
    bench_ask(0, c, "pttl", "PTTL k");
    bench_saw("get='v' pttl=0 ");
    bench_now += 1;
    bench_ask(0, c, "get", "GET k");
    bench_saw("(expired k) get=nil ");
}

/* R2: PEXPIRE with a time that has passed deletes at once, and says 1. */
static void an_expire_in_the_past_deletes(void **state)
{
    (void)state;
    bench_open(true, NULL);
    redisAsyncContext *c = bench_connected(0);
    bench_ask(0, c, "set", "SET k v");
    bench_ask(0, c, "expire", "PEXPIRE k 0");
    bench_saw("(wrote k) set=OK (deleted k) expire=1 ");
}

/* R3: nobody is told of the end of a lease; R14: DEL and PEXPIRE of such a key answer 0. */
static void the_end_of_a_lease_is_found_by_looking(void **state)
{
    (void)state;
    bench_open(true, NULL);
    redisAsyncContext *c = bench_connected(0);
    bench_ask(0, c, "set", "SET k v PX 30");
    bench_now += 500;
    bench_run_client(0);
    bench_saw("(wrote k) (leased k) set=OK ");
    bench_ask(0, c, "del", "DEL k");
    bench_ask(0, c, "expire", "PEXPIRE k 100");
    bench_saw("(expired k) del=0 expire=0 ");
}

/* R5: what a script has done before an error stays. */
static void a_script_that_fails_is_not_rolled_back(void **state)
{
    (void)state;
    bench_open(true, NULL);
    redisAsyncContext *c = bench_connected(0);
    bench_ask(0, c, "eval", "EVAL %s 1 k",
              "redis.call('set',KEYS[1],'1') return redis.call('hget',KEYS[1],'f')");
    bench_saw("(wrote k) eval=-WRONGTYPE Operation against a key holding the wrong kind of value script: "
              "75ed1b62cd5b99986444549a1c720cb8820ae2dd, on @user_script:1. ");
}

/* R6: SET NX is nil if the key exists, also with one's own value; it succeeds over a lease that has ended;
 * a plain SET ends the lease. */
static void set_nx_takes_a_free_key_alone(void **state)
{
    (void)state;
    bench_open(true, NULL);
    redisAsyncContext *c = bench_connected(0);
    bench_ask(0, c, "1", "SET k me NX PX 30");
    bench_ask(0, c, "2", "SET k me NX PX 30");
    bench_saw("(wrote k) (leased k) 1=OK 2=nil ");
    bench_now += 31;
    bench_ask(0, c, "3", "SET k you NX PX 30");
    bench_saw("(expired k) (wrote k) (leased k) 3=OK ");
    bench_ask(0, c, "4", "SET k other");
    bench_ask(0, c, "ttl", "PTTL k");
    bench_saw("(wrote k) 4=OK ttl=-1 ");
    bench_ask(0, c, "5", "SET k me PX 0");
    bench_saw("5=-ERR invalid expire time in 'set' command ");
}

/* R7: Lua's values as replies, and replies as Lua's values. */
static void values_are_converted(void **state)
{
    (void)state;
    bench_open(true, NULL);
    redisAsyncContext *c = bench_connected(0);
    bench_ask(0, c, "1", "EVAL %s 0", "return {1.9,'two',false,true,{ok='FINE'}}");
    bench_saw("1=[1 'two' nil 1 FINE] ");
    bench_ask(0, c, "2", "EVAL %s 1 none", "return redis.call('get',KEYS[1])==false and 'false' or 'nil'");
    bench_saw("2='false' ");
    bench_ask(0, c, "3", "EVAL %s 0", "return {1,nil,3}");
    bench_saw("3=[1] ");
}

/* R8: requests of one connection are done in their order; those of two connections in any. */
static void connections_have_no_order(void **state)
{
    (void)state;
    bench_open(true, NULL);
    redisAsyncContext *first = bench_connected(0), *second = bench_connected(0);
    bench_send(0, first, "set", "SET k 1");
    bench_send(0, first, "incr", "INCR k");
    bench_send(0, second, "get", "GET k");
    assert_true(fakeredis_can_apply(0, 0) && fakeredis_can_apply(0, 1));
    fakeredis_apply(0, 1);
    bench_run_client(0);
    bench_saw("(wrote k) set=OK (wrote k) incr=2 get=nil ");
}

/* R15: EVAL keeps the script, EVALSHA finds it until SCRIPT FLUSH. */
static void the_script_cache_can_be_flushed(void **state)
{
    (void)state;
    bench_open(true, NULL);
    redisAsyncContext *c = bench_connected(0);
    const char *sha = "e0e1f9fabfc9d4800c877a703b823ac0578ff8db"; /* of "return 1" */
    bench_ask(0, c, "1", "EVALSHA %s 0", sha);
    bench_ask(0, c, "2", "EVAL %s 0", "return 1");
    bench_ask(0, c, "3", "EVALSHA %s 0", sha);
    bench_ask(0, c, "4", "SCRIPT FLUSH");
    bench_ask(0, c, "5", "EVALSHA %s 0", sha);
    bench_saw("1=-NOSCRIPT No matching script. Please use EVAL. 2=1 3=1 4=OK "
              "5=-NOSCRIPT No matching script. Please use EVAL. ");
}

/* R9: a replica that takes the place of its server may lack the last writes, and has all before them. What
 * a script wrote is one write. */
static void a_failover_loses_the_last_writes(void **state)
{
    (void)state;
    bench_open_replicated(false, NULL, 1, 1);
    redisAsyncContext *c = bench_connected(0);
    bench_ask(0, c, "1", "SET k old PX 30");
    bench_ask(0, c, "2", "EVAL %s 2 k n",
              "redis.call('incr',KEYS[2]) return redis.call('set',KEYS[1],'new')");
    bench_saw("(wrote k) (leased k) 1=OK (wrote n) (wrote k) 2=OK ");
    fakeredis_restart(0, FAKEREDIS_KEEPS_REPLICATED);
    bench_saw("(back k) (undone n) ");
    bench_run_client(0);
    bench_saw("down ");
    c = bench_connected(0);
    bench_ask(0, c, "k", "GET k");
    bench_ask(0, c, "pttl", "PTTL k");
    bench_ask(0, c, "n", "GET n");
    bench_saw("k='old' pttl=30 n=nil ");
}

/* R9: a lost deletion brings the key back, unless its lease has ended meanwhile. */
static void a_lost_deletion_brings_a_key_back(void **state)
{
    (void)state;
    bench_open_replicated(false, NULL, 1, 2);
    redisAsyncContext *c = bench_connected(0);
    bench_ask(0, c, "1", "SET k v PX 30");
    bench_ask(0, c, "2", "DEL k");
    bench_ask(0, c, "3", "SET other v PX 30");
    bench_said[0] = 0;
    fakeredis_restart(0, FAKEREDIS_KEEPS_REPLICATED);
    bench_saw("(undone other) (back k) ");
    bench_run_client(0);
    bench_saw("down ");
    c = bench_connected(0);
    bench_ask(0, c, "1", "PEXPIRE k 40");
    fakeredis_expire(0, 0);
    bench_said[0] = 0;
    fakeredis_restart(0, FAKEREDIS_KEEPS_REPLICATED);
    bench_saw("(undone k) ");
    assert_null(fakeredis_key(0, 0));
}

/* R10: WAIT makes the writes of its own connection safe, and all before them; it counts no replica that hears
 * nothing. */
static void wait_makes_writes_safe(void **state)
{
    (void)state;
    bench_open_replicated(false, NULL, 2, 3);
    redisAsyncContext *a = bench_connected(0);
    redisAsyncContext *b = bench_connected(1);
    bench_ask(0, a, "1", "SET x 1");
    bench_ask(1, b, "2", "SET y 1");
    bench_ask(0, a, "3", "SET z 1");
    fakeredis_detach(0, true);
    bench_ask(1, b, "unheard", "WAIT 1 0");
    fakeredis_detach(0, false);
    bench_said[0] = 0;
    bench_ask(1, b, "wait", "WAIT 1 0");
    bench_saw("wait=2 ");
    fakeredis_restart(0, FAKEREDIS_KEEPS_REPLICATED);
    bench_saw("(undone z) ");
}

/* R9: replicas that hear nothing have none of the writes of that time, however many there are. When they hear
 * again, they have all. */
static void a_failover_loses_what_detached_replicas_missed(void **state)
{
    (void)state;
    bench_open_replicated(false, NULL, 1, 1);
    redisAsyncContext *c = bench_connected(0);
    bench_ask(0, c, "1", "SET k 1");
    fakeredis_detach(0, true);
    bench_ask(0, c, "2", "SET n 1");
    bench_ask(0, c, "3", "SET n 2");
    bench_ask(0, c, "4", "SET k 2");
    bench_said[0] = 0;
    fakeredis_restart(0, FAKEREDIS_KEEPS_REPLICATED);
    bench_saw("(back k) (undone n) (undone k) ");
    bench_run_client(0);
    bench_saw("down ");
    c = bench_connected(0);
    bench_ask(0, c, "5", "SET k 3");
    fakeredis_detach(0, false);
    bench_said[0] = 0;
    fakeredis_restart(0, FAKEREDIS_KEEPS_REPLICATED);
    bench_saw("");
}

/* R12: a server that starts again has all of its keys, all but the last writes, or none. It knows no
 * script. */
static void a_restart_keeps_what_the_log_has(void **state)
{
    (void)state;
    bench_open_replicated(false, NULL, 0, 1);
    redisAsyncContext *c = bench_connected(0);
    bench_ask(0, c, "1", "SET k 1");
    bench_ask(0, c, "2", "EVAL %s 0", "return 1");
    bench_ask(0, c, "3", "SET n 1");
    assert_true(fakeredis_has_scripts(0));
    bench_said[0] = 0;
    fakeredis_restart(0, FAKEREDIS_KEEPS_ALL);
    bench_saw("");
    assert_false(fakeredis_has_scripts(0));
    fakeredis_restart(0, FAKEREDIS_KEEPS_REPLICATED);
    bench_saw("(undone n) ");
    fakeredis_restart(0, FAKEREDIS_KEEPS_NONE);
    bench_saw("(lost k) ");
    assert_null(fakeredis_key(0, 0));
}

/* R8, R12: what a server had not read when it ended is not done. */
static void an_end_of_the_server_loses_requests(void **state)
{
    (void)state;
    bench_open(false, NULL);
    redisAsyncContext *c = bench_connected(0);
    bench_send(0, c, "1", "SET k 1");
    fakeredis_restart(0, FAKEREDIS_KEEPS_ALL);
    bench_run_client(0);
    bench_saw("1=lost down ");
    assert_null(fakeredis_key(0, 0));
}

/* R13: a server without memory drops a key. */
static void a_key_can_be_evicted(void **state)
{
    (void)state;
    bench_open(false, NULL);
    redisAsyncContext *c = bench_connected(0);
    bench_ask(0, c, "1", "SET k 1 PX 30");
    bench_said[0] = 0;
    fakeredis_evict(0, 0);
    bench_saw("(lost k) ");
}

/* R1: a clock that jumps forward ends leases early. */
static void a_clock_that_jumps_ends_leases(void **state)
{
    (void)state;
    for (int timed = 0; timed < 2; timed++) {
        bench_open(timed == 1, NULL);
        redisAsyncContext *c = bench_connected(0);
        bench_ask(0, c, "1", "SET k 1 PX 30");
        bench_ask(0, c, "2", "SET n 1");
        fakeredis_jump(0, 31);
        bench_said[0] = 0;
        bench_ask(0, c, "k", "EXISTS k");
        bench_ask(0, c, "n", "EXISTS n");
        bench_saw(timed == 1 ? "(expired k) k=0 n=1 " : "k=0 n=1 ");
        bench_close(state);
    }
}

/* R15: a server that is loading, out of memory or busy answers with an error, and does nothing. */
static void a_request_can_be_rejected(void **state)
{
    (void)state;
    bench_open(false, NULL);
    redisAsyncContext *c = bench_connected(0);
    bench_send(0, c, "1", "SET k 1");
    bench_send(0, c, "2", "SET n 1");
    fakeredis_reject(0, 0, "LOADING Redis is loading the dataset in memory");
    bench_run_client(0);
    bench_saw("1=-LOADING Redis is loading the dataset in memory (wrote n) 2=OK ");
}

/* A script that does not end ends the run. */
static void an_endless_script_is_noticed(void **state)
{
    (void)state;
    bench_open(true, NULL);
    redisAsyncContext *c = bench_connected(0);
    bench_ask(0, c, "1", "EVAL %s 0", "while true do end");
    assert_non_null(fakeredis_trouble());
}

/* A script begins from the same image each time: what one leaves, the next one does not see. */
static void scripts_leave_nothing_behind(void **state)
{
    (void)state;
    bench_open(true, NULL);
    redisAsyncContext *c = bench_connected(0);
    bench_ask(0, c, "1", "EVAL %s 0", "string.left = 'here' return string.left");
    bench_ask(0, c, "2", "EVAL %s 0", "return string.left == nil");
    bench_ask(0, c, "3", "EVAL %s 0", "return tostring(math.random())");
    bench_saw("1='here' 2=1 3='0.17082803611217' ");
    bench_ask(0, c, "3", "EVAL %s 0", "return tostring(math.random())");
    bench_saw("3='0.17082803611217' ");
}

/* WATCH: EXEC does nothing if a watched key has changed, by anybody, or by the end of its lease. */
static void a_watched_key_stops_exec(void **state)
{
    (void)state;
    bench_open(true, NULL);
    redisAsyncContext *a = bench_connected(0), *b = bench_connected(1);
    bench_ask(0, a, "watch", "WATCH k");
    bench_ask(1, b, "set", "SET k 1 PX 50");
    bench_ask(0, a, "multi", "MULTI");
    bench_ask(0, a, "incr", "INCR k");
    bench_ask(0, a, "exec", "EXEC");
    bench_saw("watch=OK (wrote k) (leased k) set=OK multi=OK incr=QUEUED exec=nil ");
    bench_ask(0, a, "watch", "WATCH k");
    bench_now += 51;
    bench_ask(0, a, "multi", "MULTI");
    bench_ask(0, a, "incr", "INCR k");
    bench_ask(0, a, "exec", "EXEC");
    bench_saw("watch=OK multi=OK incr=QUEUED exec=nil ");
    bench_ask(0, a, "multi", "MULTI");
    bench_ask(0, a, "incr", "INCR k");
    bench_ask(0, a, "exec", "EXEC");
    bench_saw("multi=OK incr=QUEUED (expired k) (wrote k) exec=[1] ");
}

/* WATCH lasts until EXEC, also if a command sets the connection's state to that of a new one. */
static void a_watched_key_stays_watched(void **state)
{
    (void)state;
    bench_open(true, NULL);
    redisAsyncContext *a = bench_connected(0), *b = bench_connected(1);
    bench_ask(0, a, "watch", "WATCH k");
    bench_ask(0, a, "select", "SELECT 0");
    bench_ask(1, b, "set", "SET k 1");
    bench_ask(0, a, "multi", "MULTI");
    bench_ask(0, a, "incr", "INCR k");
    bench_ask(0, a, "exec", "EXEC");
    bench_saw("watch=OK select=OK (wrote k) set=OK multi=OK incr=QUEUED exec=nil ");
}

/* Messages come between the replies of their connection, in the order of the server. */
static void messages_come_in_order(void **state)
{
    (void)state;
    bench_open(true, NULL);
    redisAsyncContext *a = bench_connected(0), *b = bench_connected(1);
    bench_ask(0, a, "free", "SUBSCRIBE free");
    bench_saw("free=['subscribe' 'free' 1] ");
    bench_ask(1, b, "1", "PUBLISH free one");
    bench_ask(1, b, "2", "PUBLISH news none");
    bench_run_client(0);
    bench_saw("1=1 2=0 free=['message' 'free' 'one'] ");
    fakeredis_enter(0);
    redisAsyncCommand(a, NULL, NULL, "UNSUBSCRIBE free");
    fakeredis_leave();
    bench_run_client(0);
    bench_saw("free=['unsubscribe' 'free' 0] ");
    bench_ask(0, a, "get", "GET k");
    bench_saw("get=nil ");
}

/* AUTH: nothing is done for a connection that does not know the password. */
static void a_password_is_asked_for(void **state)
{
    (void)state;
    bench_open(true, "secret");
    redisAsyncContext *c = bench_connected(0);
    bench_ask(0, c, "1", "GET k");
    bench_ask(0, c, "2", "AUTH wrong");
    bench_ask(0, c, "3", "AUTH secret");
    bench_ask(0, c, "4", "GET k");
    bench_saw(
        "1=-NOAUTH Authentication required. 2=-WRONGPASS invalid username-password pair or user is disabled. "
        "3=OK 4=nil ");
}

/* Runs a command of at most three words on a server alone, and returns its reply as text of the protocol. */
static const char *ask(struct server *server, const char *name, const char *key, const char *value)
{
    static struct reply reply;
    static char text[256];
    const struct bytes argv[] = {{name, strlen(name)},
                                 {key, key != NULL ? strlen(key) : 0},
                                 {value, value != NULL ? strlen(value) : 0}};
    int argc = key == NULL ? 1 : value == NULL ? 2 : 3;
    assert_true(command_run(server, 0, 0, bench_now, argc, argv, &reply));
    text[reply_format(reply.bytes, reply.used, text, sizeof text - 1)] = 0;
    return text;
}

/* R11: a replica refuses writes, and deletes nothing by itself; a read finds no key whose lease has ended. */
static void a_replica_is_read_only(void **state)
{
    (void)state;
    struct server server = {.timed = true};
    bench_open(true, NULL);
    keys_open(&server.pack, &bench_arena, 4096);
    assert_string_equal(ask(&server, "set", "k", "v"), "+OK\r\n");
    assert_string_equal(ask(&server, "pexpire", "k", "30"), ":1\r\n");
    server.read_only = true;
    bench_now += 31;
    assert_string_equal(ask(&server, "get", "k", NULL), "$-1\r\n");
    assert_string_equal(ask(&server, "dbsize", NULL, NULL), ":1\r\n");
    assert_string_equal(ask(&server, "del", "k", NULL),
                        "-READONLY You can't write against a read only replica.\r\n");
}

/* In a world without a clock a lease has a length and no end. */
static void a_lease_without_a_clock_has_a_length(void **state)
{
    (void)state;
    bench_open(false, NULL);
    redisAsyncContext *c = bench_connected(0);
    bench_ask(0, c, "set", "SET k v PX 30");
    bench_now += 1000;
    bench_ask(0, c, "pttl", "PTTL k");
    bench_saw("(wrote k) (leased k) set=OK pttl=30 ");
    fakeredis_expire(0, 0);
    bench_ask(0, c, "get", "GET k");
    bench_saw("(expired k) get=nil ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_lease_ends_behind_its_last_millisecond, bench_close),
        cmocka_unit_test_teardown(an_expire_in_the_past_deletes, bench_close),
        cmocka_unit_test_teardown(the_end_of_a_lease_is_found_by_looking, bench_close),
        cmocka_unit_test_teardown(a_script_that_fails_is_not_rolled_back, bench_close),
        cmocka_unit_test_teardown(set_nx_takes_a_free_key_alone, bench_close),
        cmocka_unit_test_teardown(values_are_converted, bench_close),
        cmocka_unit_test_teardown(connections_have_no_order, bench_close),
        cmocka_unit_test_teardown(the_script_cache_can_be_flushed, bench_close),
        cmocka_unit_test_teardown(an_endless_script_is_noticed, bench_close),
        cmocka_unit_test_teardown(scripts_leave_nothing_behind, bench_close),
        cmocka_unit_test_teardown(a_watched_key_stops_exec, bench_close),
        cmocka_unit_test_teardown(a_watched_key_stays_watched, bench_close),
        cmocka_unit_test_teardown(messages_come_in_order, bench_close),
        cmocka_unit_test_teardown(a_password_is_asked_for, bench_close),
        cmocka_unit_test_teardown(a_replica_is_read_only, bench_close),
        cmocka_unit_test_teardown(a_failover_loses_the_last_writes, bench_close),
        cmocka_unit_test_teardown(a_lost_deletion_brings_a_key_back, bench_close),
        cmocka_unit_test_teardown(wait_makes_writes_safe, bench_close),
        cmocka_unit_test_teardown(a_failover_loses_what_detached_replicas_missed, bench_close),
        cmocka_unit_test_teardown(a_restart_keeps_what_the_log_has, bench_close),
        cmocka_unit_test_teardown(an_end_of_the_server_loses_requests, bench_close),
        cmocka_unit_test_teardown(a_key_can_be_evicted, bench_close),
        cmocka_unit_test_teardown(a_clock_that_jumps_ends_leases, bench_close),
        cmocka_unit_test_teardown(a_request_can_be_rejected, bench_close),
        cmocka_unit_test_teardown(a_lease_without_a_clock_has_a_length, bench_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
