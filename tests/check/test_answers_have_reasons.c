/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "check/judge.h"
#include "check/state.h"
#include <lockstep/error.h>
#include <lockstep/recipe.h>

#define PROPERTY "answers_have_reasons"
#define FOR_EVER (-1)
#define TRY 0

static void open_up(struct judge *judge, bool timed)
{
    judge_open(judge, PROPERTY, timed);
    up_all(judge);
}

static void ask(struct judge *judge, int process, int timeout_ms)
{
    lock_event(judge, EVENT_ASKED, process, 0, timeout_ms);
}

static void answer(struct judge *judge, int process, int rc)
{
    show(judge, (struct event){.kind = EVENT_FAILED,
                               .process = (uint8_t)process,
                               .code = rc,
                               .cause = rc == LS_ECLOSED, /* within a close */
                               .session = SESSION(process)});
}

static void assert_forgotten(struct judge *judge)
{
    on(judge, EVENT_SETTLED, A);
    for (const struct check_record *record = ((const struct check_table *)judge->block)->record;
         (const char *)record < (const char *)judge->block + check_set_live_bytes(judge->block); record++)
        assert_true(record->kind != RECORD_ANSWER && record->kind != RECORD_APART &&
                    record->kind != RECORD_UNDOES);
}

static void codes_are_those_of_the_interface(void **state)
{
    (void)state;
    assert_int_equal(CODE_BUSY, LS_EBUSY);
    assert_int_equal(CODE_TIMED_OUT, LS_ETIMEDOUT);
    assert_int_equal(CODE_CANCELED, LS_ECANCELED);
    assert_int_equal(CODE_NO_MEMORY, LS_ENOMEM);
    assert_int_equal(CODE_NOT_OWNER, LS_ENOTOWNER);
    assert_int_equal(CODE_CLOSED, LS_ECLOSED);
    assert_int_equal(CODE_ALREADY, LS_EALREADY);
    assert_int_equal(CODE_DEADLOCK, LS_EDEADLK);
    assert_int_equal(CODE_GAVE_UP, LS_EGAVEUP);
    assert_string_not_equal(ls_strerror(CODE_LEAST), ls_strerror(CODE_LEAST - 1));
    assert_string_equal(ls_strerror(CODE_LEAST - 1), ls_strerror(1));
}

/* Codes of ZooKeeper, and codes of success, do not answer an acquire that failed. */
static void codes_of_others_are_violated(void **state)
{
    (void)state;
    static const int32_t wrong[] = {CODE_LEAST - 1, -102, 0, 1};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct judge judge;
        open_up(&judge, false);
        show(&judge, (struct event){.kind = EVENT_FAULT, .process = B, .owner = EVENT_FAULT_NODES});
        asked(&judge, A);
        lock_event(&judge, EVENT_FAILED, A, 0, wrong[i]);
        assert_violated(&judge, EVENT_FAILED, "which is no code of enum ls_err");
        judge_close(&judge);
    }
}

static void a_release_is_answered_by_a_code(void **state)
{
    (void)state;
    for (int wrong = 0; wrong < 2; wrong++) {
        struct judge judge;
        open_up(&judge, false);
        asked(&judge, A);
        granted(&judge, A, 10);
        lock_event(&judge, EVENT_RELEASED, A, 0, 0);
        lock_event(&judge, EVENT_FREED, A, 0, wrong ? 1 : 0);
        if (wrong)
            assert_violated(&judge, EVENT_FREED, "was told 1 about lock 0");
        else
            assert_verdict(&judge, CHECK_HOLDS);
        judge_close(&judge);
    }
}

static void a_release_fails_within_a_close_or_after_a_fault(void **state)
{
    (void)state;
    enum { NOTHING, CLOSING, FAULT, WHATS };
    for (int what = NOTHING; what < WHATS; what++) {
        struct judge judge;
        open_up(&judge, false);
        asked(&judge, A);
        granted(&judge, A, 10);
        lock_event(&judge, EVENT_RELEASED, A, 0, 0);
        if (what == FAULT)
            show(&judge, (struct event){.kind = EVENT_FAULT, .process = A, .owner = EVENT_FAULT_LOSSES});
        show(&judge,
             (struct event){.kind = EVENT_FREED, .process = A, .code = LS_EUNSURE, .cause = what == CLOSING});
        if (what == NOTHING)
            assert_violated(&judge, EVENT_FREED,
                            "its release of lock 0 failed (-16), but nothing has happened");
        else
            assert_verdict(&judge, CHECK_HOLDS);
        judge_close(&judge);
    }
}

static void deadlines_hold(void **state)
{
    struct judge judge;
    (void)state;
    for (int timed = 0; timed < 2; timed++) {
        open_up(&judge, timed != 0);
        judge.now_ms = 50;
        ask(&judge, A, 100);
        judge.now_ms = 150;
        answer(&judge, A, LS_ETIMEDOUT);
        assert_verdict(&judge, CHECK_HOLDS);
        assert_forgotten(&judge);
        judge_close(&judge);
    }
}

static void timeouts_without_a_deadline_are_violated(void **state)
{
    static const int timeouts[] = {FOR_EVER, TRY};
    struct judge judge;
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        open_up(&judge, false);
        ask(&judge, A, timeouts[i]);
        answer(&judge, A, LS_ETIMEDOUT);
        assert_violated(&judge, EVENT_FAILED, "but it set no deadline");
        judge_close(&judge);
    }
}

static void a_timeout_before_its_deadline_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    open_up(&judge, true);
    judge.now_ms = 50;
    ask(&judge, A, 100);
    judge.now_ms = 149;
    answer(&judge, A, LS_ETIMEDOUT);
    assert_violated(&judge, EVENT_FAILED, "1 ms before its deadline");
    judge_close(&judge);
}

static void cancelled_only_after_a_cancel(void **state)
{
    struct judge judge;
    (void)state;
    open_up(&judge, false);
    lock_event(&judge, EVENT_CANCELED, A, 0, 0); /* nothing is pending: it is no reason later */
    ask(&judge, A, FOR_EVER);
    lock_event(&judge, EVENT_CANCELED, A, 1, 0); /* another owner's cancel */
    lock_event(&judge, EVENT_CANCELED, A, 0, 0);
    answer(&judge, A, LS_ECANCELED);
    assert_verdict(&judge, CHECK_HOLDS);
    assert_forgotten(&judge);
    ask(&judge, A, FOR_EVER);
    answer(&judge, A, LS_ECANCELED);
    assert_violated(&judge, EVENT_FAILED, "was cancelled, but it was not");
    judge_close(&judge);
}

/* Reasons, before the try or during it, by which the lock counts as not free. */
static void busy_with_a_reason_holds(void **state)
{
    struct judge judge;
    (void)state;
    for (int reason = 0; reason < 12; reason++) {
        judge_open(&judge, PROPERTY, false);
        if (reason != 0)
            up_all(&judge);
        if (reason == 1)
            created(&judge, B, 10);
        if (reason == 2)
            created(&judge, A, 10);
        if (reason == 3)
            on(&judge, EVENT_LOST, A); /* the link is up, with another session */
        if (reason ==
            11) { /* the recipe gave the session up while its link was down, and the link comes back */
            on(&judge, EVENT_LINK_DOWN, A);
            on(&judge, EVENT_LOST, A);
            up(&judge, A);
        }
        if (reason == 9)
            lock_event(&judge, EVENT_RELEASED, A, 1, 0); /* A cannot know yet that its node is gone */
        if (reason == 10) {
            ask(&judge, A, FOR_EVER);
            answer(&judge, A, LS_ECLOSED); /* the acquire's node may not be gone yet */
        }
        ask(&judge, A, TRY);
        if (reason == 1)
            deleted(&judge, B, 10, 20);
        if (reason == 4) {
            created(&judge, B, 10);
            deleted(&judge, B, 10, 20);
        }
        if (reason == 5) {
            created(&judge, A, 10);
            created(&judge, A, 11); /* node of another owner of the process */
        }
        if (reason == 6)
            on(&judge, EVENT_LINK_DOWN, A);
        if (reason == 7)
            on(&judge, EVENT_SESSION_CLOSING, A);
        if (reason == 8)
            on(&judge, EVENT_EXPIRED, A);
        answer(&judge, A, LS_EBUSY);
        assert_verdict(&judge, CHECK_HOLDS);
        judge_close(&judge);
    }
}

static void busy_without_a_reason_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    for (int reason = 0; reason < 7; reason++) {
        open_up(&judge, false);
        if (reason == 1) {
            created(&judge, B, 10);
            deleted(&judge, B, 10, 20);
        }
        if (reason == 2) {
            on(&judge, EVENT_LINK_DOWN, A);
            up(&judge, A);
        }
        if (reason == 3) {
            on(&judge, EVENT_LOST, A);
            on(&judge, EVENT_CONNECTED, A);
        }
        if (reason == 5) {
            ask(&judge, A, FOR_EVER);
            answer(&judge, A, LS_ECLOSED);
            on(&judge, EVENT_SETTLED, A);
        }
        ask(&judge, A, TRY);
        created(&judge, A, 21); /* its own */
        if (reason == 6)
            created(&judge, B, 22); /* behind it */
        if (reason == 4)
            on(&judge, EVENT_LINK_DOWN, B);
        answer(&judge, A, LS_EBUSY);
        assert_violated(&judge, EVENT_FAILED, "is busy, but it was free all the time");
        judge_close(&judge);
    }
}

static void busy_to_a_waiter_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    open_up(&judge, false);
    created(&judge, B, 10);
    ask(&judge, A, 100);
    answer(&judge, A, LS_EBUSY);
    assert_violated(&judge, EVENT_FAILED, "but it asked to wait for it");
    judge_close(&judge);
}

static void hold(struct judge *judge)
{
    open_up(judge, false);
    ask(judge, A, FOR_EVER);
    created(judge, A, 10);
    granted(judge, A, 10);
}

static void releases_are_answered(void **state)
{
    struct judge judge;
    (void)state;
    hold(&judge);
    ask(&judge, A, TRY);
    granted_to(&judge, A, 0, 10, 2);
    lock_event(&judge, EVENT_RELEASED, A, 0, 1);
    rest(&judge);
    released(&judge, A);
    freed(&judge, A);
    rest(&judge);
    assert_verdict(&judge, CHECK_HOLDS);
    assert_int_equal(judge.finding->premises, 1);
    assert_forgotten(&judge);
    judge_close(&judge);
}

static void releases_without_an_answer_are_violated(void **state)
{
    struct judge judge;
    (void)state;
    for (int lost = 0; lost < 2; lost++) {
        hold(&judge);
        released(&judge, A);
        if (lost) {
            on(&judge, EVENT_EXPIRED, A);
            on(&judge, EVENT_LOST, A);
            rest(&judge); /* not connected: the answer may still come */
            assert_verdict(&judge, CHECK_HOLDS);
            up(&judge, A);
        }
        rest(&judge);
        assert_violated(&judge, EVENT_REST,
                        "at rest process 0 (owner 0) has no answer to its release of lock 0");
        judge_close(&judge);
    }
}

static void each_release_has_its_own_answer(void **state)
{
    struct judge judge;
    (void)state;
    hold(&judge);
    released(&judge, A);
    ask(&judge, A, FOR_EVER);
    created(&judge, A, 11);
    granted(&judge, A, 11);
    released(&judge, A);
    freed(&judge, A);
    rest(&judge);
    assert_violated(&judge, EVENT_REST, "no answer to its release");
    judge_close(&judge);
}

static void answers_that_nobody_asked_for_are_violated(void **state)
{
    struct judge judge;
    (void)state;
    for (int twice = 0; twice < 2; twice++) {
        open_up(&judge, false);
        if (twice) {
            ask(&judge, A, FOR_EVER);
            answer(&judge, A, LS_ECLOSED);
        }
        created(&judge, A, 10);
        assert_verdict(&judge, twice ? CHECK_HOLDS : CHECK_NOT_JUDGED);
        if (twice)
            answer(&judge, A, LS_ECLOSED);
        else
            granted(&judge, A, 10);
        assert_violated(&judge, twice ? EVENT_FAILED : EVENT_GRANTED,
                        "no acquire of it was without an answer");
        judge_close(&judge);
    }
    hold(&judge);
    released(&judge, A);
    freed(&judge, A);
    assert_verdict(&judge, CHECK_HOLDS);
    freed(&judge, A);
    assert_violated(&judge, EVENT_FREED, "no release of it was without an answer");
    judge_close(&judge);
}

static void nothing_is_owed_to_the_dead(void **state)
{
    struct judge judge;
    (void)state;
    hold(&judge);
    released(&judge, A);
    on(&judge, EVENT_CRASHED, A);
    on(&judge, EVENT_RESTARTED, A);
    up(&judge, A);
    rest(&judge);
    assert_verdict(&judge, CHECK_HOLDS);
    assert_forgotten(&judge);
    judge_close(&judge);
}

static void acquires_that_may_not_wait_are_answered(void **state)
{
    struct judge judge;
    (void)state;
    open_up(&judge, false);
    created(&judge, B, 10);
    ask(&judge, A, TRY);
    rest(&judge);
    assert_violated(&judge, EVENT_REST, "has no answer to its try to get lock 0");
    judge_close(&judge);
    open_up(&judge, false);
    created(&judge, B, 10);
    ask(&judge, A, FOR_EVER);
    rest(&judge);
    assert_verdict(&judge, CHECK_NOT_JUDGED);
    lock_event(&judge, EVENT_CANCELED, A, 0, 0);
    rest(&judge);
    assert_violated(&judge, EVENT_REST, "though it cancelled its acquire");
    judge_close(&judge);
}

static void fault(struct judge *judge, enum event_fault class)
{
    show(judge, (struct event){.kind = EVENT_FAULT, .process = B, .owner = (uint8_t) class});
}

/* A row for each code: for each class of fault, whether an acquire may fail with the code after it. */
static void errors_need_a_fault_that_leads_to_them(void **state)
{
    static const struct {
        int code;
        bool may[3];
    } errors[] = {{LS_EZK, {false, true, true}},
                  {LS_ENOAUTH, {false, true, true}},
                  {LS_ENOMEM, {false, false, true}},
                  {LS_EGAVEUP, {true, true, true}}};
    (void)state;
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        for (int class = EVENT_FAULT_LOSSES; class <= EVENT_FAULT_MEMORY; class ++) {
            struct judge judge;
            open_up(&judge, false);
            fault(&judge, (enum event_fault) class);
            ask(&judge, A, FOR_EVER);
            answer(&judge, A, errors[i].code);
            if (errors[i].may[class])
                assert_verdict(&judge, CHECK_HOLDS);
            else
                assert_violated(&judge, EVENT_FAILED, "but nothing had gone wrong that leads to it");
            judge_close(&judge);
        }
    }
}

static void other_errors_need_a_fault(void **state)
{
    struct judge judge;
    (void)state;
    open_up(&judge, false);
    ask(&judge, A, TRY);
    answer(&judge, A, LS_EZK);
    assert_violated(&judge, EVENT_FAILED, "was told of error -12 for lock 0, but nothing had gone wrong");
    judge_close(&judge);
    open_up(&judge, false);
    fault(&judge, EVENT_FAULT_NODES);
    ask(&judge, A, TRY);
    answer(&judge, A, LS_EZK);
    rest(&judge);
    assert_verdict(&judge, CHECK_HOLDS);
    assert_forgotten(&judge);
    judge_close(&judge);
}

static void closed_within_a_close_alone(void **state)
{
    struct judge judge;
    (void)state;
    for (int closing = 0; closing < 2; closing++) {
        open_up(&judge, false);
        fault(&judge, EVENT_FAULT_NODES); /* no excuse */
        ask(&judge, A, FOR_EVER);
        show(&judge,
             (struct event){.kind = EVENT_FAILED, .process = A, .code = LS_ECLOSED, .cause = closing});
        if (closing)
            assert_verdict(&judge, CHECK_HOLDS);
        else
            assert_violated(&judge, EVENT_FAILED, "is closed, but nobody had closed it");
        judge_close(&judge);
    }
}

static void answer_already(struct judge *judge, bool reentrant)
{
    judge->set.context.reentrant = reentrant;
    ask(judge, A, FOR_EVER);
    answer(judge, A, LS_EALREADY);
}

static void pending_already_with_a_reason_holds(void **state)
{
    enum { HOLDS, LOST_IT, RELEASES, GAVE_UP, REASONS };
    (void)state;
    for (int reason = HOLDS; reason < REASONS; reason++) {
        struct judge judge;
        open_up(&judge, false);
        asked(&judge, A);
        created(&judge, A, 10);
        if (reason == GAVE_UP) {
            lock_event(&judge, EVENT_CANCELED, A, 0, 0);
            answer(&judge, A, LS_ECANCELED);
        } else
            granted(&judge, A, 10);
        if (reason == LOST_IT)
            on(&judge, EVENT_LOST, A);
        else if (reason == RELEASES)
            released(&judge, A);
        answer_already(&judge, reason != HOLDS);
        assert_verdict(&judge, CHECK_HOLDS);
        judge_close(&judge);
    }
}

static void pending_already_without_a_reason_is_violated(void **state)
{
    (void)state;
    for (int holds = 0; holds < 2; holds++) {
        struct judge judge;
        open_up(&judge, false);
        if (holds) {
            asked(&judge, A);
            created(&judge, A, 10);
            granted(&judge, A, 10);
        }
        answer_already(&judge, true);
        assert_violated(&judge, EVENT_FAILED, "is pending already, but none was");
        judge_close(&judge);
    }
}

static void deny(struct judge *judge)
{
    show(judge, (struct event){.kind = EVENT_DOUBTS, .process = A, .code = LS_NOT_HELD, .cause = 1});
}

static void a_hold_is_denied_once_its_node_is_gone(void **state)
{
    (void)state;
    for (int gone = 0; gone < 2; gone++) {
        struct judge judge;
        open_up(&judge, false);
        asked(&judge, A);
        created(&judge, A, 10);
        granted(&judge, A, 10);
        if (gone)
            show(&judge, (struct event){.kind = EVENT_NODE_DELETED,
                                        .process = A,
                                        .owner = EVENT_BY_OPERATOR,
                                        .code = 1,
                                        .zxid = 10,
                                        .session = SESSION(A)});
        deny(&judge);
        if (gone)
            assert_verdict(&judge, CHECK_HOLDS);
        else
            assert_violated(&judge, EVENT_DOUBTS, "says that it does not hold lock 0");
        judge_close(&judge);
    }
}

/* Only a clock, a timer, a fault or a release may end a belief. */
static void a_holder_is_sure_until_something_happens(void **state)
{
    (void)state;
    enum { NOTHING, CLOCK, TIMER, FAULT, RELEASE, WHATS };
    for (int what = NOTHING; what < WHATS; what++) {
        struct judge judge;
        open_up(&judge, what == CLOCK);
        asked(&judge, A);
        created(&judge, A, 10);
        granted(&judge, A, 10);
        if (what == FAULT)
            show(&judge, (struct event){.kind = EVENT_FAULT, .process = B, .owner = EVENT_FAULT_LOSSES});
        if (what == RELEASE)
            lock_event(&judge, EVENT_RELEASED, A, 0, 0);
        show(&judge, (struct event){.kind = EVENT_DOUBTS,
                                    .process = A,
                                    .code = LS_UNKNOWN,
                                    .cause = what == TIMER ? EVENT_DOUBT_TIMER : EVENT_DOUBT_OTHER});
        if (what == NOTHING)
            assert_violated(&judge, EVENT_DOUBTS, "says that it is unsure of lock 0");
        else
            assert_verdict(&judge, what == RELEASE ? CHECK_HOLDS : CHECK_NOT_JUDGED);
        judge_close(&judge);
    }
}

static void memory_is_short_beside_another_owner(void **state)
{
    (void)state;
    for (int beside = 0; beside < 3; beside++) { /* no owner, one that waits, one that holds */
        struct judge judge;
        open_up(&judge, false);
        if (beside)
            lock_event(&judge, EVENT_ASKED, A, 1, FOR_EVER);
        if (beside == 2)
            granted_to(&judge, A, 1, 10, 1);
        ask(&judge, A, FOR_EVER);
        answer(&judge, A, LS_ENOMEM);
        if (beside)
            assert_verdict(&judge, CHECK_HOLDS);
        else
            assert_violated(&judge, EVENT_FAILED, "was told of error -1 for lock 0");
        judge_close(&judge);
    }
}

static void guarded_writes_are_refused_once_the_hold_is_over(void **state)
{
    enum { STANDS, RELEASED, LOST_IT, GONE, ANOTHER, CASES };
    (void)state;
    for (int i = STANDS; i < 2 * CASES; i++) {
        struct judge judge;
        open_up(&judge, false);
        asked(&judge, A);
        created(&judge, A, 10);
        granted(&judge, A, 10);
        if (i / 2 == RELEASED)
            released(&judge, A);
        if (i / 2 == LOST_IT)
            on(&judge, EVENT_LOST, A);
        if (i / 2 == GONE)
            deleted(&judge, A, 10, 20);
        show(&judge, (struct event){.kind = EVENT_WRITTEN,
                                    .process = A,
                                    .code = i % 2 ? LS_ELOST : LS_ENOTOWNER,
                                    .zxid = i / 2 == ANOTHER ? 9 : 10});
        if (i / 2 == STANDS)
            assert_violated(&judge, EVENT_WRITTEN, "but its hold and the node stand");
        else
            assert_verdict(&judge, CHECK_HOLDS);
        judge_close(&judge);
    }
}

static void guarded_writes_fail_with_a_reason(void **state)
{
    static const int plain[] = {0, LS_ELOST, LS_ENOTOWNER};
    struct judge judge;
    (void)state;
    open_up(&judge, false);
    for (size_t i = 0; i < 3; i++)
        lock_event(&judge, EVENT_WRITTEN, A, 0, plain[i]);
    assert_verdict(&judge, CHECK_HOLDS);
    lock_event(&judge, EVENT_WRITTEN, A, 0, LS_EZK);
    assert_violated(&judge, EVENT_WRITTEN,
                    "a guarded write of process 0 (owner 0) under lock 0 failed (-12)");
    judge_close(&judge);
    for (int reason = 0; reason < 3;
         reason++) { /* a fault; a directory that the operator deletes; a contender */
        open_up(&judge, false);
        if (reason == 0)
            on(&judge, EVENT_FAULT, B);
        else
            show(&judge, (struct event){
                             .kind = EVENT_NODE_DELETED, .process = EVENT_PROCESS_NONE, .code = reason == 2});
        lock_event(&judge, EVENT_WRITTEN, A, 0, LS_EZK);
        if (reason == 2)
            assert_violated(&judge, EVENT_WRITTEN, "but nothing had gone wrong");
        else
            assert_verdict(&judge, CHECK_HOLDS);
        judge_close(&judge);
    }
}

/* The lease of A's contender ends before the grant is reported. A request of A's former life is done late.
 * The hold is based on the contender that its token names. */
static void a_hold_stands_on_what_its_token_names(void **state)
{
    (void)state;
    for (int leases = 0; leases < 2; leases++) {
        struct judge judge;
        if (leases)
            judge_open_with_leases(&judge, PROPERTY, false);
        else
            judge_open(&judge, PROPERTY, false);
        up(&judge, A);
        asked(&judge, A);
        created(&judge, A, 10);
        deleted_by(&judge, A, 10, 0);
        created_in(&judge, A, 11, SESSION(A) - 10);
        granted(&judge, A, 10);
        show(&judge, (struct event){.kind = EVENT_HOLD_LOST, .process = A, .zxid = 10});
        assert_verdict(&judge, leases ? CHECK_HOLDS : CHECK_VIOLATED);
        judge_close(&judge);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_are_those_of_the_interface),
        cmocka_unit_test(codes_of_others_are_violated),
        cmocka_unit_test(a_release_is_answered_by_a_code),
        cmocka_unit_test(a_release_fails_within_a_close_or_after_a_fault),
        cmocka_unit_test(deadlines_hold),
        cmocka_unit_test(timeouts_without_a_deadline_are_violated),
        cmocka_unit_test(a_timeout_before_its_deadline_is_violated),
        cmocka_unit_test(cancelled_only_after_a_cancel),
        cmocka_unit_test(busy_with_a_reason_holds),
        cmocka_unit_test(busy_without_a_reason_is_violated),
        cmocka_unit_test(busy_to_a_waiter_is_violated),
        cmocka_unit_test(releases_are_answered),
        cmocka_unit_test(releases_without_an_answer_are_violated),
        cmocka_unit_test(each_release_has_its_own_answer),
        cmocka_unit_test(answers_that_nobody_asked_for_are_violated),
        cmocka_unit_test(nothing_is_owed_to_the_dead),
        cmocka_unit_test(acquires_that_may_not_wait_are_answered),
        cmocka_unit_test(errors_need_a_fault_that_leads_to_them),
        cmocka_unit_test(other_errors_need_a_fault),
        cmocka_unit_test(closed_within_a_close_alone),
        cmocka_unit_test(pending_already_with_a_reason_holds),
        cmocka_unit_test(pending_already_without_a_reason_is_violated),
        cmocka_unit_test(a_hold_is_denied_once_its_node_is_gone),
        cmocka_unit_test(a_holder_is_sure_until_something_happens),
        cmocka_unit_test(memory_is_short_beside_another_owner),
        cmocka_unit_test(guarded_writes_are_refused_once_the_hold_is_over),
        cmocka_unit_test(guarded_writes_fail_with_a_reason),
        cmocka_unit_test(a_hold_stands_on_what_its_token_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
