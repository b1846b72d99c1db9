/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The sequences of tests/support/sequences.h on the fake. Messages are received and told in steps of their own. */
#include "support/sequences.h"

#include "support/fakezk_bench.h"

static zhandle_t *stage_open(const char *chroot)
{
    char host[64];
    snprintf(host, sizeof host, "server:2181%s", chroot);
    bench_enter(0);
    zhandle_t *zh = zookeeper_init(host, on_event, BENCH_TIMEOUT_MS, NULL, watcher_tag("d"), 0);
    bench_leave();
    assert_non_null(zh);
    stage_told(zh);
    forget();
    return zh;
}

static void stage_close(zhandle_t *zh)
{
    assert_int_equal(bench_close(zh), ZOK);
}

static void stage_enter(void)
{
    bench_enter(0);
}

static void stage_leave(void)
{
    bench_leave();
}

static void stage_hold(zhandle_t *zh)
{
    (void)zh; /* who takes steps decides */
}

static void stage_received(zhandle_t *zh)
{
    (void)zh;
    while (bench_can(FAKEZK_APPLY, 0) || bench_can(FAKEZK_RECEIVE, 0)) {
        bench_step(bench_can(FAKEZK_APPLY, 0) ? FAKEZK_APPLY : FAKEZK_RECEIVE, 0);
    }
}

static void stage_cut(zhandle_t *zh)
{
    bench_cut(zh, 0, 0, ZCONNECTIONLOSS);
}

static void stage_told(zhandle_t *zh)
{
    (void)zh;
    bench_run();
}

static void stage_expire(zhandle_t *zh)
{
    assert_true(fakezk_expire(fakezk_session(bench_client(zh), bench_slot(zh))));
    bench_run();
}

static int stage_multi(zhandle_t *zh, int count, const zoo_op_t *ops)
{
    static zoo_op_result_t results[3];
    int before = bench.events[FAKEZK_ABORTED];
    int rc = bench_multi(zh, "m", count, ops, results);
    return bench.events[FAKEZK_ABORTED] > before ? DIES : rc;
}

static bool stage_round(int round)
{
    struct fakezk_options options = bench.options;
    options.seed = round == 0 ? 0 : 16;
    bench_reopen_with(&options);
    return round < 2;
}

static int setup(void **state)
{
    int rc = bench_setup(state);
    struct fakezk_options options = bench.options;
    options.fine = true;
    bench_reopen_with(&options);
    forget();
    return rc;
}

#define SEQUENCE(test) cmocka_unit_test_setup_teardown(test, setup, bench_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {SEQUENCES};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
