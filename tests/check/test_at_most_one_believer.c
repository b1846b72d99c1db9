/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "check/judge.h"

#define PROPERTY "at_most_one_believer"

static void one_after_the_other_holds(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, true);
    lock_event(&judge, EVENT_BELIEVES, A, 0, 0);
    lock_event(&judge, EVENT_DOUBTS, A, 0, 2);
    lock_event(&judge, EVENT_BELIEVES, B, 0, 0);
    assert_verdict(&judge, CHECK_HOLDS);
    assert_int_equal(judge.finding->premises, 2);
    judge_close(&judge);
}

static void two_at_once_are_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, true);
    lock_event(&judge, EVENT_BELIEVES, A, 0, 0);
    lock_event(&judge, EVENT_BELIEVES, B, 0, 0);
    assert_violated(&judge, EVENT_BELIEVES, "process 1 (owner 0) believes to hold lock 0 while process 0");
    judge_close(&judge);
}

static void two_owners_of_one_process_are_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, true);
    lock_event(&judge, EVENT_BELIEVES, A, 0, 0);
    lock_event(&judge, EVENT_BELIEVES, A, 1, 0);
    assert_violated(&judge, EVENT_BELIEVES, "process 0 (owner 1)");
    judge_close(&judge);
}

static void the_dead_believe_nothing(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, true);
    lock_event(&judge, EVENT_BELIEVES, A, 0, 0);
    on(&judge, EVENT_CRASHED, A);
    lock_event(&judge, EVENT_BELIEVES, B, 0, 0);
    assert_verdict(&judge, CHECK_HOLDS);
    judge_close(&judge);
}

/* A holds with node 10. Then actor `by` deletes node 10, and B is granted the lock with node 20. */
static void take_the_node_of_a_believer(struct judge *judge, int32_t by)
{
    judge_open(judge, PROPERTY, true);
    asked(judge, A);
    created(judge, A, 10);
    granted(judge, A, 10);
    lock_event(judge, EVENT_BELIEVES, A, 0, 0);
    show(judge, (struct event){
                    .kind = EVENT_NODE_DELETED, .process = A, .code = 1, .zxid = 10, .owner = (uint8_t)by});
    asked(judge, B);
    created(judge, B, 20);
    granted(judge, B, 20);
    lock_event(judge, EVENT_BELIEVES, B, 0, 0);
}

static void a_belief_whose_node_the_operator_deleted_does_not_count(void **state)
{
    struct judge judge;
    (void)state;
    take_the_node_of_a_believer(&judge, EVENT_BY_OPERATOR);
    assert_verdict(&judge, CHECK_HOLDS);
    asked(&judge, C);
    created(&judge, C, 30);
    granted(&judge, C, 30);
    lock_event(&judge, EVENT_BELIEVES, C, 0, 0);
    assert_violated(&judge, EVENT_BELIEVES, "process 2 (owner 0) believes to hold lock 0 while process 1");
    judge_close(&judge);
}

static void a_belief_whose_node_somebody_else_deleted_counts(void **state)
{
    struct judge judge;
    (void)state;
    for (int by = 0; by <= B + 1; by++) {
        take_the_node_of_a_believer(&judge, by);
        assert_violated(&judge, EVENT_BELIEVES,
                        "process 1 (owner 0) believes to hold lock 0 while process 0");
        judge_close(&judge);
    }
}

/* A's node was deleted while A waited. The grant came from a list that A had read before. */
static void a_belief_that_begins_without_its_node_does_not_count(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, true);
    for (int64_t node = 1; node <= 10; node++) { /* only the last attempt can be granted */
        asked(&judge, A);
        created(&judge, A, node);
        show(&judge, (struct event){.kind = EVENT_NODE_DELETED,
                                    .process = A,
                                    .code = 1,
                                    .zxid = node,
                                    .owner = EVENT_BY_OPERATOR});
    }
    asked(&judge, B);
    created(&judge, B, 20);
    granted(&judge, B, 20);
    lock_event(&judge, EVENT_BELIEVES, B, 0, 0);
    granted(&judge, A, 10);
    lock_event(&judge, EVENT_BELIEVES, A, 0, 0);
    assert_verdict(&judge, CHECK_HOLDS);
    judge_close(&judge);
}

static void without_belief_it_is_not_judged(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, true);
    lock_event(&judge, EVENT_DOUBTS, A, 0, 0);
    assert_verdict(&judge, CHECK_NOT_JUDGED);
    judge_close(&judge);
}

static void it_is_a_default_in_timed_mode_only(void **state)
{
    (void)state;
    check_mask bit = CHECK_BIT(check_position(PROPERTY));
    assert_int_equal(check_default_mask(false) & bit, 0);
    assert_int_equal(check_default_mask(true) & bit, bit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_after_the_other_holds),
        cmocka_unit_test(two_at_once_are_violated),
        cmocka_unit_test(two_owners_of_one_process_are_violated),
        cmocka_unit_test(the_dead_believe_nothing),
        cmocka_unit_test(a_belief_whose_node_the_operator_deleted_does_not_count),
        cmocka_unit_test(a_belief_whose_node_somebody_else_deleted_counts),
        cmocka_unit_test(a_belief_that_begins_without_its_node_does_not_count),
        cmocka_unit_test(without_belief_it_is_not_judged),
        cmocka_unit_test(it_is_a_default_in_timed_mode_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
