/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "check/judge.h"

#define PROPERTY "no_lost_wakeup"

/* A holds, B waits behind it. */
static void wait_behind(struct judge *judge)
{
    up_all(judge);
    asked(judge, A);
    created(judge, A, 10);
    granted(judge, A, 10);
    asked(judge, B);
    created(judge, B, 11);
}

static void waiting_for_a_holder_holds(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    wait_behind(&judge);
    rest(&judge);
    assert_verdict(&judge, CHECK_HOLDS);
    released(&judge, A);
    deleted(&judge, A, 10, 12);
    granted(&judge, B, 11);
    rest(&judge);
    assert_verdict(&judge, CHECK_HOLDS);
    assert_int_equal(judge.finding->premises, 2); /* one rest with a waiter, one grant after a wait */
    judge_close(&judge);
}

static void waiting_for_nobody_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    wait_behind(&judge);
    released(&judge, A);
    deleted(&judge, A, 10, 12);
    rest(&judge);
    assert_violated(&judge, EVENT_REST,
                    "process 1 waits for lock 0 at rest, but nobody holds it; first is a node of process 1");
    judge_close(&judge);
}

static void waiting_without_a_line_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    up_all(&judge);
    asked(&judge, A);
    rest(&judge);
    assert_violated(&judge, EVENT_REST, "the line is empty");
    judge_close(&judge);
}

static void waiting_behind_an_orphan_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    wait_behind(&judge);
    released(&judge, A); /* A's node stays */
    rest(&judge);
    assert_violated(&judge, EVENT_REST, "first is a node of process 0");
    judge_close(&judge);
}

/* By the coordinator's state the lock is free once the holder's node was removed. */
static void waiting_for_a_holder_without_a_node_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    wait_behind(&judge);
    deleted(&judge, A, 10, 12);
    rest(&judge);
    assert_violated(&judge, EVENT_REST, "nobody holds it");
    judge_close(&judge);
}

static void those_who_cannot_act_are_excused(void **state)
{
    static const enum event_kind excuses[] = {EVENT_CRASHED, EVENT_PAUSED, EVENT_LINK_DOWN, EVENT_EXPIRED,
                                              EVENT_SESSION_CLOSED};
    (void)state;
    for (size_t i = 0; i < sizeof excuses / sizeof excuses[0]; i++) {
        struct judge judge;
        judge_open(&judge, PROPERTY, false);
        wait_behind(&judge);
        released(&judge, A);
        deleted(&judge, A, 10, 12);
        on(&judge, excuses[i], B);
        uint64_t premises = judge.finding->premises;
        rest(&judge);
        assert_verdict(&judge, CHECK_HOLDS);
        assert_int_equal(judge.finding->premises, premises); /* no waiting process can be judged */
        judge_close(&judge);
    }
}

static void waiting_behind_the_dead_is_excused(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    wait_behind(&judge);
    on(&judge, EVENT_CRASHED, A); /* A's node stands until A's session ends */
    rest(&judge);
    assert_verdict(&judge, CHECK_HOLDS);
    deleted(&judge, A, 10, 12);
    rest(&judge);
    assert_verdict(&judge, CHECK_VIOLATED);
    judge_close(&judge);
}

static void without_a_wait_it_is_not_judged(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    up_all(&judge);
    asked(&judge, A);
    created(&judge, A, 10);
    granted(&judge, A, 10);
    rest(&judge);
    assert_verdict(&judge, CHECK_NOT_JUDGED);
    judge_close(&judge);
}

/* A holds, and its life ends by the event `end`. B waits. */
static void end_before(struct judge *judge, enum event_kind end)
{
    wait_behind(judge);
    deleted_by(judge, B, 11, EVENT_BY_TIME); /* with leases, a waiting owner has no contender */
    on(judge, end, A);
}

static void what_an_ended_life_has_left_is_violated(void **state)
{
    (void)state;
    for (int stopped = 0; stopped < 2; stopped++) {
        struct judge judge;
        judge_open_with_leases(&judge, PROPERTY, false);
        end_before(&judge, stopped ? EVENT_STOPPED : EVENT_CRASHED);
        rest(&judge);
        assert_violated(
            &judge, EVENT_REST,
            "process 1 waits for lock 0 at rest behind a contender (czxid 10) of a life of process 0 "
            "that is over: nothing will end it");
        judge_close(&judge);
    }
}

static void what_a_former_life_has_left_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open_with_leases(&judge, PROPERTY, false);
    end_before(&judge, EVENT_CRASHED);
    on(&judge, EVENT_RESTARTED, A);
    show(&judge, (struct event){.kind = EVENT_LINK_UP, .process = A, .session = SESSION(A) + 10});
    rest(&judge);
    assert_violated(&judge, EVENT_REST, "of a life of process 0 that is over");
    judge_close(&judge);
}

/* Leases end by the clock; sessions end also without one; a process that is cut off goes on. */
static void what_ends_by_itself_holds(void **state)
{
    enum { CLOCK, SESSIONS, CUT_OFF, ENDED, CASES };
    (void)state;
    for (int what = 0; what < CASES; what++) {
        struct judge judge;
        if (what == SESSIONS)
            judge_open(&judge, PROPERTY, false);
        else
            judge_open_with_leases(&judge, PROPERTY, what == CLOCK);
        end_before(&judge, what == CUT_OFF ? EVENT_LINK_DOWN : EVENT_CRASHED);
        if (what == ENDED) {
            deleted_by(&judge, A, 10, EVENT_BY_TIME);
            created(&judge, B, 12);
            granted(&judge, B, 12);
        }
        rest(&judge);
        assert_verdict(&judge, CHECK_HOLDS);
        judge_close(&judge);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waiting_for_a_holder_holds),
        cmocka_unit_test(waiting_for_nobody_is_violated),
        cmocka_unit_test(waiting_without_a_line_is_violated),
        cmocka_unit_test(waiting_behind_an_orphan_is_violated),
        cmocka_unit_test(waiting_for_a_holder_without_a_node_is_violated),
        cmocka_unit_test(those_who_cannot_act_are_excused),
        cmocka_unit_test(waiting_behind_the_dead_is_excused),
        cmocka_unit_test(without_a_wait_it_is_not_judged),
        cmocka_unit_test(what_an_ended_life_has_left_is_violated),
        cmocka_unit_test(what_a_former_life_has_left_is_violated),
        cmocka_unit_test(what_ends_by_itself_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
