/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "check/judge.h"

#define PROPERTY "granted_in_order"

/* A, B and C wait, in line in this order. */
static void line_up(struct judge *judge)
{
    up_all(judge);
    for (int process = A; process <= C; process++) {
        asked(judge, process);
        created(judge, process, 10 + process);
    }
}

static void first_come_first_served_holds(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    line_up(&judge);
    granted(&judge, A, 10);
    deleted(&judge, A, 10, 20);
    granted(&judge, B, 11);
    deleted(&judge, B, 11, 21);
    granted(&judge, C, 12);
    assert_verdict(&judge, CHECK_HOLDS);
    assert_int_equal(judge.finding->premises, 2); /* at C's grant no other process waits */
    judge_close(&judge);
}

static void jumping_the_queue_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    line_up(&judge);
    granted(&judge, B, 11);
    assert_violated(&judge, EVENT_GRANTED,
                    "process 1 was granted lock 0 before process 0, whose node is older");
    judge_close(&judge);
}

/* B deletes its node while it waits and queues again behind C. */
static void give_up_place(struct judge *judge)
{
    line_up(judge);
    granted(judge, A, 10);
    requested(judge, B, EVENT_REQUEST_DELETE);
    deleted(judge, B, 11, 20);
    created(judge, B, 21);
    deleted(judge, A, 10, 22);
    granted(judge, C, 12);
}

static void place_given_up_is_violated_when_it_is_granted(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    give_up_place(&judge);
    assert_verdict(&judge, CHECK_HOLDS);
    granted(&judge, B, 21);
    assert_violated(&judge, EVENT_GRANTED,
                    "process 1 gave its place for lock 0 (czxid 11) away while it waited");
    judge_close(&judge);
}

static void place_given_up_is_violated_at_rest(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    give_up_place(&judge);
    rest(&judge);
    assert_violated(&judge, EVENT_REST, "gave its place");
    judge_close(&judge);
}

static void who_gives_up_altogether_is_not_overtaken(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    line_up(&judge);
    granted(&judge, A, 10);
    requested(&judge, B, EVENT_REQUEST_DELETE);
    deleted(&judge, B, 11, 20);
    deleted(&judge, A, 10, 22);
    granted(&judge, C, 12);
    failed(&judge, B);
    rest(&judge);
    assert_verdict(&judge, CHECK_HOLDS);
    judge_close(&judge);
}

static void place_lost_with_the_session_holds(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    line_up(&judge);
    granted(&judge, A, 10);
    on(&judge, EVENT_SESSION_CLOSING, B);
    deleted(&judge, B, 11, 20);
    created(&judge, B, 21);
    deleted(&judge, A, 10, 22);
    granted(&judge, C, 12);
    granted(&judge, B, 21);
    assert_verdict(&judge, CHECK_HOLDS);
    judge_close(&judge);
}

/* This holds also while the process deletes the node of an earlier acquire. */
static void place_taken_by_the_operator_holds(void **state)
{
    (void)state;
    for (int deleting = 0; deleting < 2; deleting++) {
        struct judge judge;
        judge_open(&judge, PROPERTY, false);
        line_up(&judge);
        granted(&judge, A, 10);
        if (deleting)
            requested(&judge, B, EVENT_REQUEST_DELETE);
        show(&judge, (struct event){.kind = EVENT_NODE_DELETED,
                                    .process = B,
                                    .code = 1,
                                    .zxid = 11,
                                    .cause = 20,
                                    .owner = deleting ? EVENT_BY_OPERATOR : 0});
        created(&judge, B, 21);
        deleted(&judge, A, 10, 22);
        granted(&judge, C, 12);
        granted(&judge, B, 21);
        assert_verdict(&judge, CHECK_HOLDS);
        judge_close(&judge);
    }
}

/* The node of the cancelled acquire is removed in the background while the next one waits. */
static void left_over_node_is_not_the_new_place(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    up_all(&judge);
    asked(&judge, A);
    created(&judge, A, 10);
    granted(&judge, A, 10);
    asked(&judge, B);
    failed(&judge, B);
    asked(&judge, B);
    created(&judge, B, 11); /* late node of the first acquire */
    asked(&judge, C);
    created(&judge, C, 12);
    created(&judge, B, 13);
    requested(&judge, B, EVENT_REQUEST_DELETE);
    deleted(&judge, B, 11, 14);
    deleted(&judge, A, 10, 15);
    granted(&judge, C, 12);
    deleted(&judge, C, 12, 16);
    granted(&judge, B, 13);
    assert_verdict(&judge, CHECK_NOT_JUDGED);
    judge_close(&judge);
}

static void places_are_told_apart_again_after_rest(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    up_all(&judge);
    asked(&judge, B);
    failed(&judge, B);
    rest(&judge);
    asked(&judge, B);
    created(&judge, B, 11);
    asked(&judge, C);
    created(&judge, C, 12);
    granted(&judge, C, 12);
    assert_verdict(&judge, CHECK_VIOLATED);
    judge_close(&judge);
}

static void alone_it_is_not_judged(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    asked(&judge, A);
    created(&judge, A, 10);
    granted(&judge, A, 10);
    assert_verdict(&judge, CHECK_NOT_JUDGED);
    judge_close(&judge);
}

/* A has crashed before. Its former session ends, or A hears of that end, while a create of an ended acquire
 * is still under way. */
static void end_of_a_former_session_tells_nothing_of_the_left_over_node(void **state)
{
    static const enum event_kind ends[] = {EVENT_SESSION_CLOSING, EVENT_EXPIRED};
    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        struct judge judge;
        judge_open(&judge, PROPERTY, false);
        up_all(&judge);
        asked(&judge, A);
        failed(&judge, A);
        asked(&judge, A);
        show(&judge,
             (struct event){.kind = (uint8_t)ends[i], .lock = EVENT_LOCK_NONE, .process = A, .session = 7});
        created(&judge, A, 10); /* node of the acquire that has ended */
        asked(&judge, B);
        created(&judge, B, 11);
        requested(&judge, A, EVENT_REQUEST_DELETE);
        created(&judge, A, 12);
        deleted(&judge, A, 10, 13);
        granted(&judge, B, 11);
        rest(&judge);
        assert_int_equal(judge.finding->violated, false);
        judge_close(&judge);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_come_first_served_holds),
        cmocka_unit_test(jumping_the_queue_is_violated),
        cmocka_unit_test(place_given_up_is_violated_when_it_is_granted),
        cmocka_unit_test(place_given_up_is_violated_at_rest),
        cmocka_unit_test(who_gives_up_altogether_is_not_overtaken),
        cmocka_unit_test(place_lost_with_the_session_holds),
        cmocka_unit_test(place_taken_by_the_operator_holds),
        cmocka_unit_test(left_over_node_is_not_the_new_place),
        cmocka_unit_test(places_are_told_apart_again_after_rest),
        cmocka_unit_test(end_of_a_former_session_tells_nothing_of_the_left_over_node),
        cmocka_unit_test(alone_it_is_not_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
