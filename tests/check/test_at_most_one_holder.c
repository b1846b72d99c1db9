/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "check/judge.h"
#include "check/state.h"

#define PROPERTY "at_most_one_holder"

static void first_in_line_holds(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    asked(&judge, A);
    created(&judge, A, 10);
    asked(&judge, B);
    created(&judge, B, 11);
    granted(&judge, A, 10);
    released(&judge, A);
    deleted(&judge, A, 10, 12);
    granted(&judge, B, 11);
    assert_verdict(&judge, CHECK_HOLDS);
    assert_int_equal(judge.finding->premises, 2);
    judge_close(&judge);
}

static void second_in_line_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    asked(&judge, A);
    created(&judge, A, 10);
    granted(&judge, A, 10);
    asked(&judge, B);
    created(&judge, B, 11);
    granted(&judge, B, 11);
    assert_violated(&judge, EVENT_GRANTED,
                    "process 1 was granted lock 0 but its node (czxid 11) stands behind");
    assert_int_equal(judge.finding->step, 6);
    judge_close(&judge);
}

static void no_node_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    asked(&judge, A);
    granted(&judge, A, 10);
    assert_violated(&judge, EVENT_GRANTED, "had no node");
    judge_close(&judge);
}

/* The node was first, and was deleted while the answer was on its way. It is enough that it was first at one
 * moment between the request and the grant. */
static void first_when_deleted_holds(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    asked(&judge, A);
    created(&judge, A, 10);
    asked(&judge, B);
    created(&judge, B, 11);
    deleted(&judge, A, 10, 12);
    granted(&judge, B, 11);
    granted(&judge, A, 10);
    assert_verdict(&judge, CHECK_HOLDS);
    judge_close(&judge);
}

static void not_first_when_deleted_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    asked(&judge, A);
    created(&judge, A, 10);
    asked(&judge, B);
    created(&judge, B, 11);
    deleted(&judge, B, 11, 12);
    granted(&judge, B, 11);
    assert_violated(&judge, EVENT_GRANTED,
                    "had no node in the line since it asked; first is the node of process 0");
    judge_close(&judge);
}

static void first_before_asking_does_not_count(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    created(&judge, A, 10);
    deleted(&judge, A, 10, 11);
    asked(&judge, A);
    granted(&judge, A, 10);
    assert_violated(&judge, EVENT_GRANTED, "had no node");
    judge_close(&judge);
}

static void node_of_former_session_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    asked(&judge, A);
    created_in(&judge, A, 10, 0x99);
    granted(&judge, A, 10);
    assert_violated(&judge, EVENT_GRANTED, "on a node of session 0x99 but its session is 0x100");
    judge_close(&judge);
}

static void deeper_grants_are_not_judged(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    asked(&judge, A);
    created(&judge, A, 10);
    granted(&judge, A, 10);
    deleted(&judge, A, 10, 11); /* A's session ended, which A cannot know */
    asked(&judge, A);
    granted_to(&judge, A, 0, 10, 2);
    assert_verdict(&judge, CHECK_HOLDS);
    assert_int_equal(judge.finding->premises, 1);
    judge_close(&judge);
}

/* After the process was told of the loss, a grant of a deeper level is judged as any other grant. */
static void deeper_after_a_loss_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    asked(&judge, A);
    created(&judge, A, 10);
    granted(&judge, A, 10);
    deleted(&judge, A, 10, 11);
    on(&judge, EVENT_LOST, A);
    asked(&judge, A);
    granted_to(&judge, A, 0, 10, 2);
    assert_violated(&judge, EVENT_GRANTED, "had no node");
    judge_close(&judge);
}

static void two_owners_on_one_node_are_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    asked(&judge, A);
    created(&judge, A, 10);
    granted_to(&judge, A, 0, 10, 1);
    lock_event(&judge, EVENT_ASKED, A, 1, -1);
    granted_to(&judge, A, 1, 10, 1);
    assert_violated(&judge, EVENT_GRANTED, "to owner 1 on the node that owner 0 holds it with");
    judge_close(&judge);
}

static void second_owner_behind_the_first_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    asked(&judge, A);
    created(&judge, A, 10);
    granted_to(&judge, A, 0, 10, 1);
    lock_event(&judge, EVENT_ASKED, A, 1, -1);
    created(&judge, A, 11);
    granted_to(&judge, A, 1, 11, 1);
    assert_violated(&judge, EVENT_GRANTED, "stands behind that of process 0");
    judge_close(&judge);
}

/* A token that names no node of the grantee does not help it to another owner's node. */
static void lying_token_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    asked(&judge, A);
    created(&judge, A, 10);
    granted_to(&judge, A, 0, 77, 1);
    assert_verdict(&judge, CHECK_HOLDS); /* the grant can mean this node alone */
    lock_event(&judge, EVENT_ASKED, A, 1, -1);
    granted_to(&judge, A, 1, 78, 1);
    assert_violated(&judge, EVENT_GRANTED, "had no node");
    judge_close(&judge);
}

static void locks_are_kept_apart(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    asked(&judge, A);
    created(&judge, A, 10);
    granted(&judge, A, 10);
    show(&judge, (struct event){.kind = EVENT_ASKED, .process = B, .lock = 1, .code = -1});
    show(&judge, (struct event){.kind = EVENT_NODE_CREATED,
                                .process = B,
                                .lock = 1,
                                .code = 1,
                                .zxid = 11,
                                .session = SESSION(B)});
    show(&judge,
         (struct event){
             .kind = EVENT_GRANTED, .process = B, .lock = 1, .code = 1, .zxid = 11, .session = SESSION(B)});
    assert_verdict(&judge, CHECK_HOLDS);
    judge_close(&judge);
}

/* A holds, and B is a contender. Then the actor `owner` deletes A's node: a process plus 1,
 * EVENT_BY_OPERATOR, EVENT_BY_TIME, EVENT_BY_LOSS or 0. */
static void rob(struct judge *judge, int owner)
{
    judge_open(judge, PROPERTY, false);
    asked(judge, A);
    created(judge, A, 10);
    granted(judge, A, 10);
    asked(judge, B);
    created(judge, B, 11);
    deleted_by(judge, A, 10, owner);
    assert_verdict(judge, CHECK_HOLDS);
}

static void grant_beside_a_hold_whose_node_was_deleted_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    static const int owners[] = {1 + A, 1 + B, EVENT_BY_LOSS};
    for (size_t i = 0; i < sizeof owners / sizeof owners[0]; i++) {
        rob(&judge, owners[i]);
        granted(&judge, B, 11);
        assert_violated(&judge, EVENT_GRANTED, "process 1 was granted lock 0 while process 0 holds it");
        judge_close(&judge);
    }
}

/* A request deletes a waiter's node. The waiter is granted the lock nevertheless, before another or after
 * it. */
static void grant_on_a_deleted_node_beside_a_hold_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    for (int order = 0; order < 2; order++) {
        judge_open(&judge, PROPERTY, false);
        asked(&judge, A);
        created(&judge, A, 10);
        asked(&judge, B);
        created(&judge, B, 11);
        deleted_by(&judge, A, 10, 1 + A);
        granted(&judge, order == 0 ? A : B, order == 0 ? 10 : 11);
        assert_verdict(&judge, CHECK_HOLDS);
        granted(&judge, order == 0 ? B : A, order == 0 ? 11 : 10);
        assert_violated(&judge, EVENT_GRANTED,
                        "holds it; the node of one of them is gone, and nobody told it");
        judge_close(&judge);
    }
}

/* A grant without a token does not say which node it is based on. */
static void grant_without_a_token_may_stand_on_another_node(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    asked(&judge, A);
    created(&judge, A, 10);
    deleted_by(&judge, A, 10, 1 + A); /* left over from the hold before */
    created(&judge, A, 11);
    deleted(&judge, A, 11, 20); /* A's session is over, and A does not know */
    asked(&judge, B);
    created(&judge, B, 12);
    granted(&judge, B, 12);
    granted(&judge, A, 0);
    assert_verdict(&judge, CHECK_HOLDS);
    judge_close(&judge);
}

static void hold_that_ended_is_not_beside(void **state)
{
    static const struct event ends[] = {
        {.kind = EVENT_RELEASED},  {.kind = EVENT_REFUSED, .rc = CODE_LOST},
        {.kind = EVENT_HOLD_LOST}, {.kind = EVENT_LOCK_CLOSED},
        {.kind = EVENT_LOST},      {.kind = EVENT_SESSION_CLOSING},
        {.kind = EVENT_EXPIRED},   {.kind = EVENT_CRASHED},
    };
    struct judge judge;
    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        struct event end = ends[i];
        end.process = A;
        end.session = SESSION(A);
        rob(&judge, 1 + A);
        show(&judge, end);
        granted(&judge, B, 11);
        assert_verdict(&judge, CHECK_HOLDS);
        judge_close(&judge);
    }
}

/* A release that is refused for another reason, and a close that fails, end no hold. */
static void hold_that_goes_on_is_beside(void **state)
{
    static const struct event others[] = {{.kind = EVENT_REFUSED, .process = A, .rc = -13},
                                          {.kind = EVENT_LOCK_CLOSED, .process = A, .rc = -3}};
    struct judge judge;
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        rob(&judge, 1 + A);
        show(&judge, others[i]);
        granted(&judge, B, 11);
        assert_violated(&judge, EVENT_GRANTED, "process 1 was granted lock 0 while process 0 holds it");
        judge_close(&judge);
    }
}

static void node_that_the_operator_deleted_is_no_hold(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    asked(&judge, A);
    created(&judge, A, 10);
    granted(&judge, A, 10);
    asked(&judge, B);
    created(&judge, B, 11);
    deleted(&judge, A, 10, 20);
    granted(&judge, B, 11);
    assert_verdict(&judge, CHECK_HOLDS);
    judge_close(&judge);
}

static void without_grants_it_is_not_judged(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    asked(&judge, A);
    created(&judge, A, 10);
    deleted(&judge, A, 10, 11);
    failed(&judge, A);
    assert_verdict(&judge, CHECK_NOT_JUDGED);
    assert_int_equal(check_set_live_bytes(judge.block),
                     sizeof(struct check_table)); /* the judge keeps no record */
    judge_close(&judge);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_in_line_holds),
        cmocka_unit_test(second_in_line_is_violated),
        cmocka_unit_test(no_node_is_violated),
        cmocka_unit_test(first_when_deleted_holds),
        cmocka_unit_test(not_first_when_deleted_is_violated),
        cmocka_unit_test(first_before_asking_does_not_count),
        cmocka_unit_test(node_of_former_session_is_violated),
        cmocka_unit_test(deeper_grants_are_not_judged),
        cmocka_unit_test(deeper_after_a_loss_is_violated),
        cmocka_unit_test(two_owners_on_one_node_are_violated),
        cmocka_unit_test(second_owner_behind_the_first_is_violated),
        cmocka_unit_test(lying_token_is_violated),
        cmocka_unit_test(locks_are_kept_apart),
        cmocka_unit_test(grant_beside_a_hold_whose_node_was_deleted_is_violated),
        cmocka_unit_test(grant_on_a_deleted_node_beside_a_hold_is_violated),
        cmocka_unit_test(grant_without_a_token_may_stand_on_another_node),
        cmocka_unit_test(hold_that_ended_is_not_beside),
        cmocka_unit_test(hold_that_goes_on_is_beside),
        cmocka_unit_test(node_that_the_operator_deleted_is_no_hold),
        cmocka_unit_test(without_grants_it_is_not_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
