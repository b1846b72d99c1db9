/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "check/judge.h"

#define PROPERTY "held_lease_is_renewed"

static void hold(struct judge *judge)
{
    judge_open(judge, PROPERTY, false);
    asked(judge, A);
    created(judge, A, 10);
    granted(judge, A, 10);
    assert_verdict(judge, CHECK_HOLDS);
}

static void lease_that_runs_out_under_its_holder(void **state)
{
    struct judge judge;
    (void)state;
    hold(&judge);
    deleted_by(&judge, A, 10, EVENT_BY_TIME);
    assert_verdict(&judge, CHECK_VIOLATED);
    judge_close(&judge);
}

/* If a process, the operator or a fault ends the node, other properties judge that. */
static void other_ends_are_not_meant(void **state)
{
    static const int actors[] = {0, 1 + B, EVENT_BY_OPERATOR};
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct judge judge;
        hold(&judge);
        deleted_by(&judge, A, 10, actors[i]);
        assert_verdict(&judge, CHECK_HOLDS);
        judge_close(&judge);
    }
}

/* An owner that has given the lock back, or was told of its loss, has no lease to renew. */
static void hold_that_is_over_needs_no_lease(void **state)
{
    (void)state;
    for (int told = 0; told < 2; told++) {
        struct judge judge;
        hold(&judge);
        if (told)
            show(&judge, (struct event){.kind = EVENT_HOLD_LOST, .process = A, .zxid = 10, .cause = 1});
        else
            released(&judge, A);
        deleted_by(&judge, A, 10, EVENT_BY_TIME);
        assert_verdict(&judge, CHECK_HOLDS);
        judge_close(&judge);
    }
}

/* The end of another node's lease does not end the hold. */
static void lease_of_another_node(void **state)
{
    struct judge judge;
    (void)state;
    hold(&judge);
    created(&judge, B, 11);
    deleted_by(&judge, B, 11, EVENT_BY_TIME);
    assert_verdict(&judge, CHECK_HOLDS);
    judge_close(&judge);
}

/* A pause is an excuse until rest, when nothing is to come that tells the holder of its loss. */
static void holder_that_nothing_tells(void **state)
{
    (void)state;
    for (int told = 0; told < 2; told++) {
        struct judge judge;
        hold(&judge);
        up_all(&judge);
        deleted_by(&judge, A, 10, 0);
        if (told)
            show(&judge, (struct event){.kind = EVENT_HOLD_LOST, .process = A, .zxid = 10});
        show(&judge, (struct event){.kind = EVENT_REST, .process = EVENT_PROCESS_NONE});
        assert_verdict(&judge, told ? CHECK_HOLDS : CHECK_VIOLATED);
        judge_close(&judge);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lease_that_runs_out_under_its_holder),
        cmocka_unit_test(other_ends_are_not_meant),
        cmocka_unit_test(hold_that_is_over_needs_no_lease),
        cmocka_unit_test(lease_of_another_node),
        cmocka_unit_test(holder_that_nothing_tells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
