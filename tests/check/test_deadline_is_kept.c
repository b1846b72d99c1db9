/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "check/judge.h"

#define PROPERTY "deadline_is_kept"

static void ask(struct judge *judge, int process, int timeout_ms)
{
    lock_event(judge, EVENT_ASKED, process, 0, timeout_ms);
}

static void answered_in_time_holds(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, true);
    ask(&judge, A, 500);
    ask(&judge, B, 500);
    judge.now_ms = 510; /* the tolerance is 10 ms */
    granted(&judge, A, 10);
    failed(&judge, B);
    judge.now_ms = 9000;
    rest(&judge);
    assert_verdict(&judge, CHECK_HOLDS);
    assert_int_equal(judge.finding->premises, 2);
    judge_close(&judge);
}

static void answered_late_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, true);
    ask(&judge, A, 500);
    judge.now_ms = 511;
    failed(&judge, A);
    assert_violated(&judge, EVENT_FAILED, "got its answer about lock 0 11 ms after its deadline");
    assert_int_equal(judge.finding->now_ms, 511);
    judge_close(&judge);
}

static void never_answered_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, true);
    ask(&judge, A, 500);
    judge.now_ms = 600;
    on(&judge, EVENT_LINK_UP, B);
    assert_violated(&judge, EVENT_LINK_UP,
                    "process 0 (owner 0) has no answer about lock 0 100 ms after its deadline");
    judge_close(&judge);
}

static void paused_callers_wait(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, true);
    ask(&judge, A, 500);
    on(&judge, EVENT_PAUSED, A);
    judge.now_ms = 3000;
    rest(&judge);
    on(&judge, EVENT_RESUMED, A);
    judge.now_ms = 3005;
    failed(&judge, A);
    assert_verdict(&judge, CHECK_HOLDS);
    judge_close(&judge);
}

static void late_after_resuming_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, true);
    ask(&judge, A, 500);
    on(&judge, EVENT_PAUSED, A);
    judge.now_ms = 3000;
    on(&judge, EVENT_RESUMED, A);
    judge.now_ms = 3020;
    failed(&judge, A);
    assert_verdict(&judge, CHECK_VIOLATED);
    judge_close(&judge);
}

static void the_dead_need_no_answer(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, true);
    ask(&judge, A, 500);
    on(&judge, EVENT_CRASHED, A);
    judge.now_ms = 3000;
    rest(&judge);
    assert_verdict(&judge, CHECK_NOT_JUDGED);
    judge_close(&judge);
}

static void for_ever_is_not_judged(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, true);
    ask(&judge, A, -1);
    ask(&judge, B, 0);
    judge.now_ms = 3000;
    failed(&judge, A);
    failed(&judge, B);
    assert_verdict(&judge, CHECK_NOT_JUDGED);
    judge_close(&judge);
}

static void untimed_is_not_judged(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    ask(&judge, A, 500);
    failed(&judge, A);
    assert_verdict(&judge, CHECK_NOT_JUDGED);
    judge_close(&judge);
    assert_int_equal(check_default_mask(false) & 1u << check_position(PROPERTY), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answered_in_time_holds),          cmocka_unit_test(answered_late_is_violated),
        cmocka_unit_test(never_answered_is_violated),      cmocka_unit_test(paused_callers_wait),
        cmocka_unit_test(late_after_resuming_is_violated), cmocka_unit_test(the_dead_need_no_answer),
        cmocka_unit_test(for_ever_is_not_judged),          cmocka_unit_test(untimed_is_not_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
