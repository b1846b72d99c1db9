/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "check/judge.h"

#define PROPERTY "no_watch_left_behind"

static void one_on_the_predecessor_holds(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    up_all(&judge);
    asked(&judge, B);
    watch_as(&judge, EVENT_WATCH_SET, B, 10, EVENT_WATCH_PREDECESSOR);
    watch_as(&judge, EVENT_WATCH_SET, B, 11, EVENT_WATCH_OWN);
    rest(&judge);
    watch_as(&judge, EVENT_WATCH_GONE, B, 10, EVENT_WATCH_PREDECESSOR);
    granted(&judge, B, 11);
    rest(&judge);
    assert_verdict(&judge, CHECK_HOLDS);
    assert_int_equal(judge.finding->premises, 2);
    watch_as(&judge, EVENT_WATCH_GONE, B, 11, EVENT_WATCH_OWN);
    released(&judge, B);
    rest(&judge);
    assert_verdict(&judge, CHECK_HOLDS);
    judge_close(&judge);
}

static void two_on_predecessors_are_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    up_all(&judge);
    asked(&judge, C);
    watch_as(&judge, EVENT_WATCH_SET, C, 10, EVENT_WATCH_PREDECESSOR);
    watch_as(&judge, EVENT_WATCH_SET, C, 11, EVENT_WATCH_PREDECESSOR);
    rest(&judge);
    assert_violated(&judge, EVENT_REST, "(1 waiting, 0 holding) has watches on lock 0: 2 on predecessors");
    judge_close(&judge);
}

static void left_after_the_end_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    up_all(&judge);
    asked(&judge, B);
    watch_as(&judge, EVENT_WATCH_SET, B, 10, EVENT_WATCH_PREDECESSOR);
    failed(&judge, B);
    rest(&judge);
    assert_violated(&judge, EVENT_REST, "(0 waiting, 0 holding)");
    judge_close(&judge);
}

static void holders_watch_nobody_else(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    up_all(&judge);
    asked(&judge, B);
    watch_as(&judge, EVENT_WATCH_SET, B, 1, EVENT_WATCH_PARENT);
    rest(&judge);
    assert_verdict(&judge, CHECK_HOLDS); /* while B waits, another judge judges its watches */
    granted(&judge, B, 11);
    rest(&judge);
    assert_violated(&judge, EVENT_REST,
                    "(0 waiting, 1 holding) has watches on lock 0: 1 on predecessors or the child");
    judge_close(&judge);
}

static void absent_nodes_are_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    up_all(&judge);
    asked(&judge, B);
    watch_as(&judge, EVENT_WATCH_SET, B, 0, EVENT_WATCH_OTHER);
    granted(&judge, B, 11);
    rest(&judge);
    assert_violated(&judge, EVENT_REST, "1 on others or absent ones");
    judge_close(&judge);
}

static void those_of_the_dead_are_gone(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    up_all(&judge);
    asked(&judge, B);
    watch_as(&judge, EVENT_WATCH_SET, B, 10, EVENT_WATCH_PREDECESSOR);
    on(&judge, EVENT_CRASHED, B);
    on(&judge, EVENT_RESTARTED, B);
    up(&judge, B);
    rest(&judge);
    assert_verdict(&judge, CHECK_HOLDS);
    judge_close(&judge);
}

/* When a watch goes, the kind of its deleted node may be unknown. */
static void gone_under_another_kind_counts(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    up_all(&judge);
    watch_as(&judge, EVENT_WATCH_SET, B, 10, EVENT_WATCH_OWN);
    watch_as(&judge, EVENT_WATCH_GONE, B, 10, EVENT_WATCH_PREDECESSOR);
    rest(&judge);
    assert_verdict(&judge, CHECK_HOLDS);
    judge_close(&judge);
}

static void without_watches_it_is_not_judged(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    up_all(&judge);
    asked(&judge, A);
    granted(&judge, A, 10);
    rest(&judge);
    assert_verdict(&judge, CHECK_NOT_JUDGED);
    judge_close(&judge);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_on_the_predecessor_holds),   cmocka_unit_test(two_on_predecessors_are_violated),
        cmocka_unit_test(left_after_the_end_is_violated), cmocka_unit_test(holders_watch_nobody_else),
        cmocka_unit_test(absent_nodes_are_violated),      cmocka_unit_test(those_of_the_dead_are_gone),
        cmocka_unit_test(gone_under_another_kind_counts), cmocka_unit_test(without_watches_it_is_not_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
