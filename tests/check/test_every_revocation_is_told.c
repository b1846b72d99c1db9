/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "check/judge.h"
#include "check/state.h"
#include <lockstep/error.h>

static void open_up(struct judge *judge)
{
    judge_open(judge, "every_revocation_is_told", false);
    up_all(judge);
}

static void asks(struct judge *judge, int process)
{
    lock_event(judge, EVENT_REVOKES, process, 0, 0);
}

static void sent(struct judge *judge, int process, int rc)
{
    lock_event(judge, EVENT_REVOKE_SENT, process, 0, rc);
}

static void on_node(struct judge *judge, enum event_kind kind, int process, int64_t czxid, int code)
{
    show(judge,
         (struct event){.kind = (uint8_t)kind, .process = (uint8_t)process, .zxid = czxid, .code = code});
}

/* A holds by the node 10. */
static void hold(struct judge *judge)
{
    lock_event(judge, EVENT_LISTENS, A, 0, 0);
    asked(judge, A);
    created(judge, A, 10);
    granted_to(judge, A, 0, 10, 1);
}

static void codes_are_those_of_the_interface(void **state)
{
    (void)state;
    assert_int_equal(CODE_NOTHING_PENDING, LS_ENOENT);
    assert_int_equal(CODE_UNSUPPORTED, LS_EUNSUPPORTED);
}

static void one_answer_to_each_question_holds(void **state)
{
    static const int codes[] = {0, LS_ENOENT, LS_EALREADY};
    struct judge judge;
    (void)state;
    open_up(&judge);
    for (size_t i = 0; i < 3; i++) {
        asks(&judge, B);
        asks(&judge, B);
        sent(&judge, B, codes[i]);
        sent(&judge, B, 0);
    }
    rest(&judge);
    assert_verdict(&judge, CHECK_HOLDS);
    judge_close(&judge);
}

static void an_answer_without_a_question_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    open_up(&judge);
    asks(&judge, B);
    sent(&judge, B, 0);
    sent(&judge, B, 0);
    assert_violated(&judge, EVENT_REVOKE_SENT, "none of it is without an answer");
    judge_close(&judge);
}

static void a_question_without_an_answer_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    open_up(&judge);
    asks(&judge, B);
    on(&judge, EVENT_LINK_DOWN, B);
    rest(&judge); /* not judged while B is not connected */
    assert_verdict(&judge, CHECK_NOT_JUDGED);
    up(&judge, B);
    rest(&judge);
    assert_violated(&judge, EVENT_REST, "has no answer to its request to give lock 0 back");
    judge_close(&judge);
}

static void failures_have_reasons(void **state)
{
    (void)state;
    for (int reason = 0; reason < 7; reason++) {
        struct judge judge;
        open_up(&judge);
        if (reason == 1)
            on(&judge, EVENT_LINK_DOWN, B);
        asks(&judge, B);
        if (reason == 2)
            lock_event(&judge, EVENT_CLOSES, B, 0, 0);
        if (reason == 3)
            on(&judge, EVENT_FAULT, A);
        if (reason == 4)
            lock_event(&judge, EVENT_CLOSES, A, 0, 0);
        if (reason >= 5)
            on(&judge, EVENT_SESSION_CLOSING, reason == 5 ? A : B);
        sent(&judge, B, LS_ECLOSED);
        if ((reason >= 1 && reason <= 3) || reason == 6)
            assert_verdict(&judge, CHECK_HOLDS);
        else
            assert_violated(&judge, EVENT_REVOKE_SENT, "failed (-13), but nothing had gone wrong");
        judge_close(&judge);
    }
}

static void a_lock_that_cannot_be_made_revocable_has_a_reason(void **state)
{
    struct judge judge;
    (void)state;
    open_up(&judge);
    lock_event(&judge, EVENT_LISTENS, A, 0, LS_EUNSUPPORTED);
    assert_verdict(&judge, CHECK_NOT_JUDGED);
    lock_event(&judge, EVENT_LISTENS, A, 0, LS_ENOMEM);
    assert_violated(&judge, EVENT_LISTENS, "cannot be asked to give lock 0 back (-1)");
    judge_close(&judge);
}

static void each_request_is_told_once(void **state)
{
    struct judge judge;
    (void)state;
    open_up(&judge);
    hold(&judge);
    on_node(&judge, EVENT_NODE_SET, A, 10, 1);
    on_node(&judge, EVENT_REVOKE_ASKED, A, 10, 0);
    rest(&judge);
    assert_verdict(&judge, CHECK_HOLDS);
    on_node(&judge, EVENT_REVOKE_ASKED, A, 10, 0);
    assert_violated(&judge, EVENT_REVOKE_ASKED, "once more than others have asked");
    judge_close(&judge);
}

static void a_request_that_is_not_told_is_violated(void **state)
{
    (void)state;
    for (int reason = 0; reason < 5; reason++) {
        struct judge judge;
        open_up(&judge);
        hold(&judge);
        on_node(&judge, EVENT_NODE_SET, A, 10, 1);
        if (reason == 1)
            lock_event(&judge, EVENT_RELEASED, A, 0, 0);
        if (reason == 2)
            on(&judge, EVENT_LINK_DOWN, A);
        if (reason == 3)
            lock_event(&judge, EVENT_LOCK_CLOSED, A, 0, 0);
        if (reason == 4)
            on_node(&judge, EVENT_NODE_DELETED, A, 10, 1);
        rest(&judge);
        if (reason == 0)
            assert_violated(&judge, EVENT_REST, "has not been told that it is asked to give lock 0 back");
        else
            assert_verdict(&judge, CHECK_NOT_JUDGED);
        judge_close(&judge);
    }
}

static void an_answer_is_unsure_when_the_session_ends(void **state)
{
    (void)state;
    for (int closing = A; closing <= B; closing++) {
        struct judge judge;
        open_up(&judge);
        asks(&judge, B);
        on(&judge, EVENT_SESSION_CLOSING, closing);
        sent(&judge, B, LS_EUNSURE);
        if (closing == B)
            assert_verdict(&judge, CHECK_HOLDS);
        else
            assert_violated(&judge, EVENT_REVOKE_SENT, "failed (-16), but nothing had gone wrong");
        judge_close(&judge);
    }
}

/* The operator's data replaces a request, and is no request itself. */
static void what_the_operator_writes_is_no_request(void **state)
{
    struct judge judge;
    struct event by_operator = {.kind = EVENT_NODE_SET, .process = A, .code = 1, .zxid = 10};
    by_operator.owner = EVENT_BY_OPERATOR;
    (void)state;
    open_up(&judge);
    hold(&judge);
    show(&judge, by_operator);
    rest(&judge);
    on_node(&judge, EVENT_NODE_SET, A, 10, 1);
    show(&judge, by_operator);
    rest(&judge);
    assert_verdict(&judge, CHECK_NOT_JUDGED);
    on_node(&judge, EVENT_NODE_SET, A, 10, 1);
    rest(&judge);
    assert_violated(&judge, EVENT_REST, "has not been told");
    judge_close(&judge);
}

static void nothing_is_owed_to_the_dead(void **state)
{
    static const enum event_kind ends[] = {EVENT_CRASHED, EVENT_STOPPED};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct judge judge;
        open_up(&judge);
        hold(&judge);
        asks(&judge, A);
        on_node(&judge, EVENT_NODE_SET, A, 10, 1);
        on(&judge, ends[i], A);
        up(&judge, A);
        rest(&judge);
        assert_verdict(&judge, CHECK_NOT_JUDGED);
        judge_close(&judge);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_are_those_of_the_interface),
        cmocka_unit_test(one_answer_to_each_question_holds),
        cmocka_unit_test(an_answer_without_a_question_is_violated),
        cmocka_unit_test(a_question_without_an_answer_is_violated),
        cmocka_unit_test(failures_have_reasons),
        cmocka_unit_test(an_answer_is_unsure_when_the_session_ends),
        cmocka_unit_test(a_lock_that_cannot_be_made_revocable_has_a_reason),
        cmocka_unit_test(each_request_is_told_once),
        cmocka_unit_test(a_request_that_is_not_told_is_violated),
        cmocka_unit_test(what_the_operator_writes_is_no_request),
        cmocka_unit_test(nothing_is_owed_to_the_dead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
