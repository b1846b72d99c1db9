/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Defects that can be switched on: F49 and F21 are with their sections, here F91 and faults of a server. */
#include "support/fakezk_bench.h"

static void test_an_immortal_ephemeral(void **state)
{
    (void)state;
    bench_reopen(2, FAKEZK_DEFECT_IMMORTAL);
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(bench_create(zh, "c", "/n", ZOO_EPHEMERAL), ZOK);
    assert_int_equal(bench_close(zh), ZOK);
    bench_run();
    assert_true(fakezk_exists("/n"));
    assert_int_equal(bench.events[FAKEZK_SESSION_CLOSED], 1);
}

static void test_a_session_replaced_in_silence(void **state)
{
    (void)state;
    bench_reopen(1, FAKEZK_DEFECT_SILENT_SESSION);
    zhandle_t *zh = bench_connected(0, "w");
    int64_t id = bench_id(zh).client_id;
    assert_int_equal(bench_create(zh, "c", "/n", ZOO_EPHEMERAL), ZOK);
    bench_run();
    bench_cut(zh, 0, 0, ZCONNECTIONLOSS);
    assert_true(fakezk_expire(fakezk_session(0, 0)));
    bench_run();
    bench_saw("c 0 /n | w connecting | w connected");
    assert_int_not_equal(bench_id(zh).client_id, id);
    assert_false(fakezk_exists("/n"));
    assert_true(fakezk_session_live(fakezk_session(0, 0)));
}

static void test_a_deletion_that_nobody_is_told(void **state)
{
    (void)state;
    bench_reopen(1, FAKEZK_DEFECT_MISSED_WATCH);
    bench_node("/n");
    zhandle_t *zh = bench_connected(0, "w");
    assert_int_equal(bench_exists(zh, "e", "/n", "x"), ZOK);
    bench_run();
    bench_forget();
    assert_true(fakezk_operator_remove("/n"));
    bench_run();
    bench_saw("");
    assert_int_equal(fakezk_watches(0), 1);
    bench_node("/n");
    bench_run();
    bench_saw(""); /* the server has forgotten the watch */
}

static bool reaches(int server)
{
    struct fakezk_step steps[16];
    int count = fakezk_steps(steps, 16);
    for (int i = 0; i < count; i++) {
        if (steps[i].kind == FAKEZK_CONNECT && steps[i].server == server) {
            return true;
        }
    }
    return false;
}

static void test_half_of_the_servers_are_never_tried_again(void **state)
{
    (void)state;
    bench_reopen(2, FAKEZK_DEFECT_CURSOR);
    bench_init(0, "w", "a,b", NULL);
    assert_true(reaches(0) && reaches(1));
    assert_true(fakezk_refuse(0, 0)); /* it tried server 0, and never tries server 1 */
    assert_true(reaches(0));
    assert_false(reaches(1));
    assert_true(fakezk_refuse(0, 0));
    assert_false(reaches(1));
    bench_step_at(FAKEZK_CONNECT, 0, 0);
    assert_true(fakezk_cut(0, 0, 0, 0, ZCONNECTIONLOSS, false));
    assert_true(reaches(0) && reaches(1));
    bench_reopen(3, FAKEZK_DEFECT_CURSOR);
    bench_init(0, "w", "a,b,c", NULL);
    assert_true(fakezk_refuse(0, 0));
    assert_true(reaches(0) && reaches(1) && reaches(2)); /* an odd list is walked through all the same */
    bench_reopen(2, 0);
    bench_init(0, "w", "a,b", NULL);
    assert_true(fakezk_refuse(0, 0));
    assert_true(reaches(0) && reaches(1));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_setup, bench_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_an_immortal_ephemeral),
        TEST(test_a_session_replaced_in_silence),
        TEST(test_a_deletion_that_nobody_is_told),
        TEST(test_half_of_the_servers_are_never_tried_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
