/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "check/judge.h"
#include "check/state.h"

#define PROPERTY "belief_ends_in_time"
#define TIME_IS_UP 1
#define BEFORE_ITS_TIME 0
#define UNKNOWN 2

static void session_ends(struct judge *judge, int process, int64_t session, int32_t why)
{
    show(judge, (struct event){.kind = EVENT_SESSION_CLOSING,
                               .process = (uint8_t)process,
                               .lock = EVENT_LOCK_NONE,
                               .session = session,
                               .code = why});
}

static void believes(struct judge *judge, int process)
{
    lock_event(judge, EVENT_BELIEVES, process, 0, 0);
}

static void doubts(struct judge *judge, int process)
{
    lock_event(judge, EVENT_DOUBTS, process, 0, UNKNOWN);
}

/* A holds, and believes that it holds. */
static void hold(struct judge *judge, bool timed)
{
    judge_open(judge, PROPERTY, timed);
    up_all(judge);
    granted(judge, A, 10);
    believes(judge, A);
}

static void doubt_in_time_holds(void **state)
{
    struct judge judge;
    (void)state;
    hold(&judge, true);
    doubts(&judge, A);
    session_ends(&judge, A, SESSION(A), TIME_IS_UP);
    assert_verdict(&judge, CHECK_HOLDS);
    on(&judge, EVENT_EXPIRED, A);
    on(&judge, EVENT_LOST, A);
    assert_int_equal(check_set_live_bytes(judge.block),
                     sizeof(struct check_table)); /* the judge keeps no record */
    judge_close(&judge);
}

static void belief_at_the_end_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    hold(&judge, true);
    session_ends(&judge, A, SESSION(A), TIME_IS_UP);
    assert_violated(&judge, EVENT_SESSION_CLOSING, "though the time of its session 0x100 is up");
    judge_close(&judge);
}

static void belief_in_a_lost_session_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    hold(&judge, true);
    on(&judge, EVENT_LOST, A);
    released(&judge, A);
    session_ends(&judge, A, SESSION(A), TIME_IS_UP);
    assert_violated(&judge, EVENT_SESSION_CLOSING, "believes to hold lock 0");
    judge_close(&judge);
}

/* The time of the session is up, and A does not know. It is granted the lock, or says again that it holds. */
static void belief_that_begins_too_late_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    for (int again = 0; again < 2; again++) {
        judge_open(&judge, PROPERTY, true);
        if (again)
            granted(&judge, A, 10);
        session_ends(&judge, A, SESSION(A), TIME_IS_UP);
        if (!again)
            granted(&judge, A, 10);
        believes(&judge, A);
        assert_violated(&judge, EVENT_BELIEVES, "began to believe");
        judge_close(&judge);
    }
}

static void other_sessions_are_not_meant(void **state)
{
    struct judge judge;
    (void)state;
    hold(&judge, true);
    session_ends(&judge, A, SESSION(B), TIME_IS_UP); /* session of a former life of A */
    session_ends(&judge, B, SESSION(B), TIME_IS_UP);
    session_ends(&judge, A, SESSION(A), BEFORE_ITS_TIME);
    assert_verdict(&judge, CHECK_HOLDS);
    judge_close(&judge);
}

static void the_next_session_counts_anew(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, true);
    session_ends(&judge, A, SESSION(A), TIME_IS_UP);
    show(&judge,
         (struct event){.kind = EVENT_LINK_UP, .process = A, .lock = EVENT_LOCK_NONE, .session = SESSION(D)});
    show(&judge,
         (struct event){.kind = EVENT_GRANTED, .process = A, .zxid = 10, .code = 1, .session = SESSION(D)});
    believes(&judge, A);
    assert_verdict(&judge, CHECK_HOLDS);
    released(&judge, A);
    doubts(&judge, A);
    assert_int_equal(check_set_live_bytes(judge.block), sizeof(struct check_table));
    judge_close(&judge);
}

static void without_a_clock_it_is_not_judged(void **state)
{
    struct judge judge;
    (void)state;
    hold(&judge, false);
    session_ends(&judge, A, SESSION(A), TIME_IS_UP);
    assert_verdict(&judge, CHECK_NOT_JUDGED);
    judge_close(&judge);
}

static void belief_in_a_lease_that_ran_out_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    for (int loss = 0; loss < 2; loss++) {
        judge_open(&judge, PROPERTY, true);
        up_all(&judge);
        created(&judge, A, 10);
        granted(&judge, A, 10);
        believes(&judge, A);
        deleted_by(&judge, A, 10, loss ? EVENT_BY_LOSS : EVENT_BY_TIME);
        if (loss)
            assert_verdict(&judge, CHECK_HOLDS);
        else
            assert_violated(&judge, EVENT_NODE_DELETED, "though its lease has run out");
        judge_close(&judge);
    }
}

/* The reply came after the end of the lease. The next lease counts anew. */
static void belief_after_the_lease_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    for (int again = 0; again < 2; again++) {
        judge_open(&judge, PROPERTY, true);
        up_all(&judge);
        created(&judge, A, 10);
        deleted_by(&judge, A, 10, EVENT_BY_TIME);
        if (again)
            created(&judge, A, 11);
        granted(&judge, A, again ? 11 : 10);
        believes(&judge, A);
        if (again)
            assert_verdict(&judge, CHECK_HOLDS);
        else
            assert_violated(&judge, EVENT_BELIEVES, "when its lease had run out");
        judge_close(&judge);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doubt_in_time_holds),
        cmocka_unit_test(belief_at_the_end_is_violated),
        cmocka_unit_test(belief_in_a_lost_session_is_violated),
        cmocka_unit_test(belief_that_begins_too_late_is_violated),
        cmocka_unit_test(other_sessions_are_not_meant),
        cmocka_unit_test(the_next_session_counts_anew),
        cmocka_unit_test(without_a_clock_it_is_not_judged),
        cmocka_unit_test(belief_in_a_lease_that_ran_out_is_violated),
        cmocka_unit_test(belief_after_the_lease_is_violated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
