/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "check/judge.h"

#define PROPERTY "every_loss_is_told"

static void session_event(struct judge *judge, enum event_kind kind, int64_t session)
{
    show(judge,
         (struct event){.kind = (uint8_t)kind, .process = A, .lock = EVENT_LOCK_NONE, .session = session});
}

static void connected(struct judge *judge, int64_t session)
{
    session_event(judge, EVENT_LINK_UP, session);
    session_event(judge, EVENT_CONNECTED, session);
}

static void told_in_order_holds(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    connected(&judge, 1);
    session_event(&judge, EVENT_LINK_DOWN, 1);
    session_event(&judge, EVENT_SUSPENDED, 1);
    session_event(&judge, EVENT_LINK_UP, 1);
    session_event(&judge, EVENT_RECONNECTED, 1);
    session_event(&judge, EVENT_EXPIRED, 1);
    session_event(&judge, EVENT_LOST, 1);
    connected(&judge, 2);
    rest(&judge);
    assert_verdict(&judge, CHECK_HOLDS);
    assert_int_equal(judge.finding->premises, 2);
    judge_close(&judge);
}

/* The link is back. The process reports that, or hears of another end. */
static void a_link_that_is_back_is_told(void **state)
{
    (void)state;
    static const uint8_t told[] = {0, EVENT_RECONNECTED, EVENT_READ_ONLY, EVENT_LOST, EVENT_LINK_DOWN};
    for (size_t i = 0; i < sizeof told; i++) {
        struct judge judge;
        judge_open(&judge, PROPERTY, false);
        connected(&judge, 1);
        session_event(&judge, EVENT_LINK_DOWN, 1);
        session_event(&judge, EVENT_SUSPENDED, 1);
        session_event(&judge, EVENT_LINK_UP, 1);
        if (told[i] != 0)
            session_event(&judge, told[i], 1);
        if (told[i] == EVENT_LINK_DOWN)
            session_event(&judge, EVENT_SUSPENDED, 1);
        rest(&judge);
        if (told[i] == 0)
            assert_violated(&judge, EVENT_REST,
                            "at rest process 0 has not been told that session 0x1 is reconnected");
        else
            assert_verdict(&judge, CHECK_HOLDS);
        judge_close(&judge);
    }
}

static void untold_at_rest_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    connected(&judge, 1);
    session_event(&judge, EVENT_EXPIRED, 1);
    rest(&judge);
    assert_violated(&judge, EVENT_REST, "has not been told of the loss of session 0x1 at rest");
    judge_close(&judge);
}

static void next_without_lost_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    connected(&judge, 1);
    session_event(&judge, EVENT_CONNECTED, 2);
    assert_violated(&judge, EVENT_CONNECTED, "session 0x2 is connected, but never that 0x1 was lost");
    judge_close(&judge);
}

static void connected_before_the_loss_is_told_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    connected(&judge, 1);
    session_event(&judge, EVENT_EXPIRED, 1);
    session_event(&judge, EVENT_CONNECTED, 1);
    assert_violated(&judge, EVENT_CONNECTED, "has not been told of the loss of session 0x1 when it was told");
    judge_close(&judge);
}

static void new_session_as_reconnection_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    connected(&judge, 1);
    session_event(&judge, EVENT_LINK_UP, 2);
    session_event(&judge, EVENT_RECONNECTED, 2);
    assert_violated(&judge, EVENT_RECONNECTED, "the session it knew was another");
    judge_close(&judge);
}

static void reconnection_of_a_lost_session_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    connected(&judge, 1);
    session_event(&judge, EVENT_LOST, 1);
    session_event(&judge, EVENT_RECONNECTED, 1);
    assert_violated(&judge, EVENT_RECONNECTED, "the session it knew was lost");
    judge_close(&judge);
}

static void told_twice_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    connected(&judge, 1);
    session_event(&judge, EVENT_LOST, 1);
    session_event(&judge, EVENT_LOST, 1);
    assert_violated(&judge, EVENT_LOST, "told twice");
    judge_close(&judge);
}

static void connection_of_a_lost_session_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    connected(&judge, 1);
    session_event(&judge, EVENT_LOST, 1);
    connected(&judge, 2);
    session_event(&judge, EVENT_EXPIRED, 2);
    session_event(&judge, EVENT_LOST, 2);
    assert_verdict(&judge, CHECK_HOLDS);
    session_event(&judge, EVENT_CONNECTED, 2);
    assert_violated(&judge, EVENT_CONNECTED, "0x2 is connected, after it was told of its loss");
    judge_close(&judge);
}

static void loss_of_another_session_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    connected(&judge, 1);
    session_event(&judge, EVENT_LOST, 7);
    assert_violated(&judge, EVENT_LOST, "session 0x7 is lost, but the session it knew was 0x1");
    judge_close(&judge);
}

static void granted_before_told_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    connected(&judge, 1);
    session_event(&judge, EVENT_LINK_UP, 2); /* another session, without a report */
    granted(&judge, A, 10);
    assert_violated(&judge, EVENT_GRANTED, "before the next grant");
    judge_close(&judge);
}

static void suspension_untold_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    connected(&judge, 1);
    session_event(&judge, EVENT_LINK_DOWN, 1);
    session_event(&judge, EVENT_LINK_UP, 1);
    assert_violated(&judge, EVENT_LINK_UP, "the link of session 0x1 was down when the link came back");
    judge_close(&judge);
}

static void the_dead_need_not_be_told(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    connected(&judge, 1);
    session_event(&judge, EVENT_LINK_DOWN, 1);
    on(&judge, EVENT_CRASHED, A);
    connected(&judge, 2);
    rest(&judge);
    assert_verdict(&judge, CHECK_HOLDS);
    judge_close(&judge);
}

static void without_a_loss_it_is_not_judged(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    connected(&judge, 1);
    rest(&judge);
    assert_verdict(&judge, CHECK_NOT_JUDGED);
    judge_close(&judge);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(told_in_order_holds),
        cmocka_unit_test(a_link_that_is_back_is_told),
        cmocka_unit_test(untold_at_rest_is_violated),
        cmocka_unit_test(next_without_lost_is_violated),
        cmocka_unit_test(connected_before_the_loss_is_told_is_violated),
        cmocka_unit_test(new_session_as_reconnection_is_violated),
        cmocka_unit_test(reconnection_of_a_lost_session_is_violated),
        cmocka_unit_test(told_twice_is_violated),
        cmocka_unit_test(connection_of_a_lost_session_is_violated),
        cmocka_unit_test(loss_of_another_session_is_violated),
        cmocka_unit_test(granted_before_told_is_violated),
        cmocka_unit_test(suspension_untold_is_violated),
        cmocka_unit_test(the_dead_need_not_be_told),
        cmocka_unit_test(without_a_loss_it_is_not_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
