/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Calls and scripts that no recipe should make: each is answered, or ends the world by a limit that is told.
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(requests_of_a_full_block_are_lost, bench_close),
        cmocka_unit_test_teardown(a_cut_meets_a_full_block, bench_close),
        cmocka_unit_test_teardown(a_channel_has_a_long_name, bench_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
