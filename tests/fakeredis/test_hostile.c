/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Calls and scripts that no recipe should make. Each is answered, or ends the world by a limit that is told.
 * fuzz/fuzz_redis_calls.c has found them. */
#include "fakeredis/bench.h"

static char big[15000];

static void send_big(int client, redisAsyncContext *context, const char *name, const char *command)
{
    memset(big, 'x', sizeof big);
    bench_send(client, context, name, "%s %b", command, big, sizeof big);
}

/* Words that begin what the world's trouble says; NULL = there is none. */
static void expect_trouble(const char *words)
{
    const char *trouble = fakeredis_trouble();
    if (words == NULL || trouble == NULL) {
        assert_null(trouble);
        assert_null(words);
    } else {
        assert_memory_equal(trouble, words, strlen(words));
    }
}

/* A request that is lost needs no more room than one that is not. */
static void requests_of_a_full_block_are_lost(void **state)
{
    (void)state;
    for (int cut = 0; cut < 2; cut++) {
        bench_open(true, NULL);
        redisAsyncContext *c = bench_connected(0);
        send_big(0, c, "1", "ECHO");
        send_big(0, c, "2", "ECHO");
        if (cut) {
            fakeredis_cut(0, 0, 0, 0, false);
            bench_run_client(0);
        } else {
            fakeredis_enter(0);
            redisAsyncFree(c);
            fakeredis_leave();
        }
        bench_saw(cut ? "1=lost 2=lost down " : "1=lost 2=lost closed ");
        expect_trouble(NULL);
    }
}

/* The reply to the first request of a connection that is cut finds no room. */
static void a_cut_meets_a_full_block(void **state)
{
    (void)state;
    bench_open(true, NULL);
    redisAsyncContext *c = bench_connected(0);
    send_big(0, c, "1", "SET k");
    send_big(0, c, "2", "SET k");
    fakeredis_cut(0, 0, 0, 1, false);
    expect_trouble("limit: the block of a client is full");
    bench_close(NULL);
    bench_said[0] = 0;
}

/* Names and values that are too long end the world. */
static void a_key_is_too_long(void **state)
{
    static const char *const scripts[] = {
        "return redis.call('set', string.rep('n', 513), 1)",
        "return redis.call('set', 'k', string.rep('v', 16385))",
        "redis.call('set', 'k', string.rep('v', 16384)) return redis.call('append', 'k', 'v')"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        bench_open(true, NULL);
        redisAsyncContext *c = bench_connected(0);
        bench_ask(0, c, "1", "EVAL %s 0", scripts[i]);
        expect_trouble("limit: the block of a server, or a reply, is full");
        bench_close(NULL);
        bench_said[0] = 0;
    }
}

static void a_channel_has_a_long_name(void **state)
{
    (void)state;
    bench_open(true, NULL);
    redisAsyncContext *c = bench_connected(0);
    memset(big, 'x', 2000);
    fakeredis_enter(0);
    assert_int_equal(redisAsyncCommand(c, NULL, NULL, "SUBSCRIBE %b", big, (size_t)2000), REDIS_OK);
    assert_int_equal(redisAsyncCommand(c, NULL, NULL, "UNSUBSCRIBE"), REDIS_OK);
    fakeredis_leave();
    bench_run_client(0);
    bench_ask(0, c, "1", "PING");
    bench_saw("1=PONG ");
}

/* A script that catches the error by which it is ended ends all the same. */
static void an_endless_script_ends(void **state)
{
    (void)state;
    bench_open(true, NULL);
    redisAsyncContext *c = bench_connected(0);
    bench_ask(0, c, "1", "EVAL %s 0", "while true do pcall(function() while true do end end) end");
    assert_non_null(strstr(bench_said, "1=-ERR the script runs for too long"));
    bench_said[0] = 0;
    expect_trouble("limit: a script runs for too long");
}

/* A text that ends the script's function runs when it is loaded, and there are no commands then. */
static void commands_are_for_scripts_that_run(void **state)
{
    (void)state;
    bench_open(true, NULL);
    redisAsyncContext *c = bench_connected(0);
    bench_ask(0, c, "1", "EVAL %s 0", "return 1");
    bench_ask(0, c, "2", "SCRIPT LOAD %s", "end redis.call('set', 'k', 'v') function g()");
    bench_ask(0, c, "3", "EVAL %s 0", "end redis.pcall('set', 'k', 'v') function g()");
    bench_ask(0, c, "4", "GET k");
    assert_non_null(strstr(bench_said, "1=1 2=-ERR Error running script (new function): "));
    assert_null(strstr(bench_said, "wrote"));
    assert_non_null(strstr(bench_said, "4=nil "));
    bench_said[0] = 0;
}

/* Lua trusts compiled chunks, so Redis takes texts alone. */
static void compiled_chunks_are_refused(void **state)
{
    static const char dump[] = "local s = string.dump(function() return 1 end) ";
    static const char valid[] =
        "local t = {'retu', 'rn 7'} local function f() return table.remove(t, 1) end return {load(f)(), "
        "loadstring('return 8')(), tostring(loadstring(' =')), select(2, loadstring('=', 'n'))}";
    static const char *const loads[] = {
        "local f, e = loadstring(s) return {tostring(f), e}",
        "local f, e = load(function() local t = s s = nil return t end) return {tostring(f), e}", valid};
    char script[400];
    (void)state;
    bench_open(true, NULL);
    redisAsyncContext *c = bench_connected(0);
    for (size_t i = 0; i < 3; i++) {
        snprintf(script, sizeof script, "%s%s", dump, loads[i]);
        bench_ask(0, c, "1", "EVAL %s 0", script);
        assert_non_null(strstr(bench_said, i < 2 ? "1=['nil' '" : "1=[7 8 'nil' '[string \"n\"]:1: "));
        assert_non_null(strstr(bench_said, "unexpected symbol near"));
        bench_said[0] = 0;
    }
}

/* The reply to a command that is sent while listening may be none for its callback. The callback runs without
 * a reply when the connection ends: after those that wait for one, before the channels'. */
static void no_command_is_forgotten_while_listening(void **state)
{
    (void)state;
    bench_open(true, NULL);
    redisAsyncContext *c = bench_connected(0);
    bench_ask(0, c, "channel", "SUBSCRIBE c");
    bench_ask(0, c, "1", "PING");
    bench_ask(0, c, "2", "PING");
    bench_saw("channel=['subscribe' 'c' 1] ");
    bench_send(0, c, "3", "PING");
    fakeredis_enter(0);
    redisAsyncFree(c);
    fakeredis_leave();
    bench_saw("3=lost 1=lost 2=lost channel=lost closed ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(requests_of_a_full_block_are_lost, bench_close),
        cmocka_unit_test_teardown(a_cut_meets_a_full_block, bench_close),
        cmocka_unit_test_teardown(a_key_is_too_long, bench_close),
        cmocka_unit_test_teardown(a_channel_has_a_long_name, bench_close),
        cmocka_unit_test_teardown(an_endless_script_ends, bench_close),
        cmocka_unit_test_teardown(commands_are_for_scripts_that_run, bench_close),
        cmocka_unit_test_teardown(compiled_chunks_are_refused, bench_close),
        cmocka_unit_test_teardown(no_command_is_forgotten_while_listening, bench_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
