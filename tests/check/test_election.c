/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Locks whose owners wait again after a loss (enum ls_lock_loss), as elections have. Each test also shows the
 * same events of a mutex, for which the verdict is the opposite. */
#include "check/judge.h"
#include "check/state.h"
#include <lockstep/error.h>

static const struct ls_lock_spec ELECTIONS[] = {
    {.kind = LS_LOCK_ELECTION, .group = 0, .loss = LS_LOSS_WAITS},
    {.kind = LS_LOCK_ELECTION, .group = 1, .loss = LS_LOSS_WAITS}};

/* A leads. Then it is told that its term is over, together with its session or alone. */
static void lead_and_lose(struct judge *judge, const char *property, bool election, enum event_kind loss)
{
    judge_open_of(judge, property, false, election ? ELECTIONS : NULL);
    up_all(judge);
    asked(judge, A);
    created(judge, A, 10);
    granted(judge, A, 10);
    deleted(judge, A, 10, 20);
    lock_event(judge, loss, A, 0, 0);
}

static void a_candidate_is_granted_the_lock_again(void **state)
{
    static const char *const properties[] = {"release_matches_acquire", "answers_have_reasons"};
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct judge judge;
        enum event_kind loss = i < 2 ? EVENT_LOST : EVENT_HOLD_LOST;
        lead_and_lose(&judge, properties[i % 2], true, loss);
        created(&judge, A, 30);
        granted(&judge, A, 30);
        assert_int_equal(judge.stats.violated, 0);
        judge_close(&judge);
        lead_and_lose(&judge, properties[i % 2], false, loss);
        created(&judge, A, 30);
        granted(&judge, A, 30);
        assert_verdict(&judge, CHECK_VIOLATED);
        judge_close(&judge);
    }
}

static void a_candidate_may_be_told_of_a_failure(void **state)
{
    struct judge judge;
    (void)state;
    for (int election = 0; election < 2; election++) {
        lead_and_lose(&judge, "release_matches_acquire", election, EVENT_LOST);
        failed(&judge, A);
        assert_verdict(&judge, election ? CHECK_NOT_JUDGED : CHECK_VIOLATED);
        if (election) {
            granted(&judge, A, 30);
            assert_violated(&judge, EVENT_GRANTED, "is granted without having asked");
        }
        judge_close(&judge);
    }
}

static void a_candidate_has_nothing_to_release(void **state)
{
    struct judge judge;
    (void)state;
    for (int election = 0; election < 2; election++) {
        lead_and_lose(&judge, "release_matches_acquire", election, EVENT_LOST);
        released(&judge, A);
        assert_verdict(&judge, election ? CHECK_VIOLATED : CHECK_HOLDS);
        judge_close(&judge);
    }
}

static void a_candidate_does_not_sleep_beside_a_free_lock(void **state)
{
    struct judge judge;
    (void)state;
    for (int election = 0; election < 2; election++) {
        lead_and_lose(&judge, "no_lost_wakeup", election, EVENT_HOLD_LOST);
        rest(&judge);
        assert_verdict(&judge, election ? CHECK_VIOLATED : CHECK_NOT_JUDGED);
        judge_close(&judge);
    }
}

static void the_node_of_a_candidate_is_no_orphan(void **state)
{
    struct judge judge;
    (void)state;
    for (int election = 0; election < 2; election++) {
        lead_and_lose(&judge, "no_orphan_node", election, EVENT_HOLD_LOST);
        created(&judge, A, 30);
        rest(&judge);
        assert_verdict(&judge, election ? CHECK_HOLDS : CHECK_VIOLATED);
        judge_close(&judge);
    }
}

static void a_candidate_creates_a_few_nodes(void **state)
{
    static const enum event_kind losses[] = {EVENT_LOST, EVENT_HOLD_LOST};
    struct judge judge;
    (void)state;
    for (int i = 0; i < 2; i++) {
        lead_and_lose(&judge, "bounded_work", true, losses[i]);
        for (int64_t czxid = 30; czxid < 33; czxid++)
            created(&judge, A, czxid);
        assert_int_equal(judge.stats.violated, 0);
        created(&judge, A, 33);
        assert_violated(&judge, EVENT_NODE_CREATED, "created more than 3 contenders");
        judge_close(&judge);
    }
}

static void a_loss_is_that_of_its_process_and_lock(void **state)
{
    struct judge judge;
    (void)state;
    judge_open_of(&judge, "release_matches_acquire", false, ELECTIONS);
    up_all(&judge);
    asked(&judge, A);
    created(&judge, A, 10);
    granted(&judge, A, 10);
    lock_event(&judge, EVENT_LOST, B, 0, 0);
    show(&judge, (struct event){.kind = EVENT_HOLD_LOST, .process = A, .lock = 1});
    granted(&judge, A, 10);
    assert_violated(&judge, EVENT_GRANTED, "is granted without having asked");
    judge_close(&judge);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_candidate_is_granted_the_lock_again),
        cmocka_unit_test(a_candidate_may_be_told_of_a_failure),
        cmocka_unit_test(a_candidate_has_nothing_to_release),
        cmocka_unit_test(a_candidate_does_not_sleep_beside_a_free_lock),
        cmocka_unit_test(the_node_of_a_candidate_is_no_orphan),
        cmocka_unit_test(a_candidate_creates_a_few_nodes),
        cmocka_unit_test(a_loss_is_that_of_its_process_and_lock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
