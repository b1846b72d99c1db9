/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "check/judge.h"
#include "check/state.h"
#include <lockstep/error.h>

#define PROPERTY "release_matches_acquire"

/* A holds `depth` levels. */
static void hold(struct judge *judge, int depth)
{
    up_all(judge);
    asked(judge, A);
    created(judge, A, 10);
    granted(judge, A, 10);
    for (int level = 2; level <= depth; level++) {
        asked(judge, A);
        granted_to(judge, A, 0, 10, level);
    }
}

static void balanced_holds(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    hold(&judge, 2);
    lock_event(&judge, EVENT_REFUSED, B, 0, LS_ENOTOWNER);
    lock_event(&judge, EVENT_RELEASED, A, 0, 1);
    lock_event(&judge, EVENT_RELEASED, A, 0, 0);
    deleted(&judge, A, 10, 20);
    freed(&judge, A);
    lock_event(&judge, EVENT_REFUSED, A, 0, LS_ENOTOWNER);
    rest(&judge);
    assert_verdict(&judge, CHECK_HOLDS);
    assert_int_equal(judge.finding->premises, 4);
    judge_close(&judge);
}

static void freed_with(struct judge *judge, int process, int code, bool closing)
{
    show(judge, (struct event){.kind = EVENT_FREED,
                               .process = (uint8_t)process,
                               .code = code,
                               .cause = closing,
                               .session = SESSION(process)});
}

/* The janitor may delete the node after a FREED that does not say "done", or that a close reports. */
static void freed_before_deleted_says_so(void **state)
{
    (void)state;
    for (int how = 0; how < 3; how++) {
        struct judge judge;
        judge_open(&judge, PROPERTY, false);
        hold(&judge, 1);
        released(&judge, A);
        freed_with(&judge, A, how == 1 ? CODE_UNSURE : 0, how == 2);
        if (how == 0)
            assert_violated(&judge, EVENT_FREED, "was reported as done, but its node stands");
        deleted(&judge, A, 10, 20);
        rest(&judge);
        if (how > 0)
            assert_verdict(&judge, CHECK_HOLDS);
        judge_close(&judge);
    }
}

static void node_that_stays_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    hold(&judge, 1);
    released(&judge, A);
    freed_with(&judge, A, CODE_UNSURE, false);
    rest(&judge);
    assert_violated(&judge, EVENT_REST, "its node still stands");
    judge_close(&judge);
}

static void release_never_reported_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    hold(&judge, 1);
    released(&judge, A);
    deleted(&judge, A, 10, 20);
    rest(&judge);
    assert_violated(&judge, EVENT_REST, "it was never reported");
    judge_close(&judge);
}

static void freed_at_the_first_level_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    hold(&judge, 2);
    lock_event(&judge, EVENT_RELEASED, A, 0, 1);
    freed(&judge, A);
    assert_violated(&judge, EVENT_FREED, "who still holds it 1 deep");
    judge_close(&judge);
}

static void release_by_another_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    hold(&judge, 1);
    lock_event(&judge, EVENT_RELEASED, A, 1, 0);
    assert_violated(&judge, EVENT_RELEASED, "by process 0 (owner 1) was taken, who does not hold it");
    judge_close(&judge);
}

static void refused_owner_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    hold(&judge, 1);
    lock_event(&judge, EVENT_REFUSED, A, 0, LS_ENOTOWNER);
    assert_violated(&judge, EVENT_REFUSED, "was refused");
    judge_close(&judge);
}

/* Another party has deleted the node. The owner learns that by its release, or is granted the lock anew. */
static void lost_hold_may_be_refused_or_granted_anew(void **state)
{
    struct judge judge;
    (void)state;
    assert_int_equal(CODE_LOST, LS_ELOST);
    judge_open(&judge, PROPERTY, false);
    hold(&judge, 2);
    deleted(&judge, A, 10, 20);
    lock_event(&judge, EVENT_REFUSED, A, 0, LS_ELOST);
    lock_event(&judge, EVENT_REFUSED, A, 0, LS_ELOST);
    assert_verdict(&judge, CHECK_HOLDS);
    judge_close(&judge);
    judge_open(&judge, PROPERTY, false);
    hold(&judge, 2);
    deleted(&judge, A, 10, 20);
    asked(&judge, A);
    created(&judge, A, 21);
    granted(&judge, A, 21);
    released(&judge, A);
    deleted(&judge, A, 21, 22);
    freed(&judge, A);
    rest(&judge);
    assert_verdict(&judge, CHECK_HOLDS);
    judge_close(&judge);
}

/* An owner asks again for a lock that it has lost, and releases it before its answer. */
static void who_waits_anew_does_not_hold(void **state)
{
    (void)state;
    for (int gone = 0; gone < 2; gone++) {
        for (int asks = 0; asks < 2; asks++) {
            struct judge judge;
            judge_open(&judge, PROPERTY, false);
            hold(&judge, 1);
            if (gone)
                deleted(&judge, A, 10, 20);
            if (asks)
                asked(&judge, A);
            lock_event(&judge, EVENT_REFUSED, A, 0, LS_ENOTOWNER);
            if (gone && asks)
                assert_verdict(&judge, CHECK_HOLDS);
            else
                assert_violated(&judge, EVENT_REFUSED, "was refused (-7), who holds it");
            judge_close(&judge);
        }
    }
}

static void hold_that_stands_is_not_lost(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    hold(&judge, 1);
    lock_event(&judge, EVENT_REFUSED, A, 0, LS_ELOST);
    assert_violated(&judge, EVENT_REFUSED, "was refused");
    judge_close(&judge);
    judge_open(&judge, PROPERTY, false);
    hold(&judge, 1);
    asked(&judge, A);
    granted(&judge, A, 10);
    assert_violated(&judge, EVENT_GRANTED, "at depth 1, expected 2");
    judge_close(&judge);
}

static void refused_cancel_is_not_a_release(void **state)
{
    struct judge judge;
    (void)state;
    assert_int_equal(CODE_NOTHING_PENDING, LS_ENOENT);
    judge_open(&judge, PROPERTY, false);
    hold(&judge, 1);
    lock_event(&judge, EVENT_REFUSED, A, 0, LS_ENOENT);
    assert_verdict(&judge, CHECK_NOT_JUDGED);
    judge_close(&judge);
}

/* Any recipe may report any depth, also one that a record cannot keep. */
static void depth_of_any_size_is_violated(void **state)
{
    static const int depths[] = {UINT16_MAX + 1, INT32_MAX, INT32_MIN};
    (void)state;
    for (size_t i = 0; i < sizeof depths / sizeof depths[0]; i++) {
        struct judge judge;
        judge_open(&judge, "release_matches_acquire", false);
        up(&judge, A);
        asked(&judge, A);
        created(&judge, A, 10);
        granted_to(&judge, A, 0, 10, depths[i]);
        assert_violated(&judge, EVENT_GRANTED, "expected 1");
        released(&judge, A);
        judge_close(&judge);
    }
}

static void wrong_depths_are_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    hold(&judge, 1);
    asked(&judge, A);
    granted_to(&judge, A, 0, 10, 3);
    assert_violated(&judge, EVENT_GRANTED, "at depth 3, expected 2");
    judge_close(&judge);
    judge_open(&judge, PROPERTY, false);
    hold(&judge, 2);
    lock_event(&judge, EVENT_RELEASED, A, 0, 0);
    assert_violated(&judge, EVENT_RELEASED, "left depth 0, expected 1");
    judge_close(&judge);
}

static void answers_nobody_asked_for_are_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    asked(&judge, A);
    failed(&judge, A);
    failed(&judge, A);
    assert_violated(&judge, EVENT_FAILED, "was told that lock 0 is not granted without having asked");
    judge_close(&judge);
    judge_open(&judge, PROPERTY, false);
    hold(&judge, 1);
    granted_to(&judge, A, 0, 10, 2);
    assert_violated(&judge, EVENT_GRANTED, "is granted without having asked");
    judge_close(&judge);
}

static void after_a_loss_anything_goes(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    hold(&judge, 2);
    deleted(&judge, A, 10, 20);
    on(&judge, EVENT_LOST, A);
    lock_event(&judge, EVENT_RELEASED, A, 0, 1);
    lock_event(&judge, EVENT_REFUSED, A, 0, LS_ENOTOWNER);
    asked(&judge, A);
    created(&judge, A, 21);
    granted(&judge, A, 21);
    rest(&judge);
    assert_verdict(&judge, CHECK_HOLDS);
    judge_close(&judge);
}

static void loss_while_releasing_holds(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    hold(&judge, 1);
    released(&judge, A);
    on(&judge, EVENT_EXPIRED, A);
    on(&judge, EVENT_LOST, A);
    up(&judge, A);
    rest(&judge);
    assert_verdict(&judge, CHECK_HOLDS);
    judge_close(&judge);
}

static void asked_back(struct judge *judge, int process, int owner, int64_t token)
{
    show(judge, (struct event){.kind = EVENT_REVOKE_ASKED,
                               .process = (uint8_t)process,
                               .owner = (uint8_t)owner,
                               .zxid = token});
}

static void holder_that_is_asked_holds(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    hold(&judge, 2);
    asked_back(&judge, A, 0, 10);
    lock_event(&judge, EVENT_RELEASED, A, 0, 1);
    asked_back(&judge, A, 0, 10);
    assert_verdict(&judge, CHECK_HOLDS);
    assert_int_equal(judge.finding->premises, 3);
    judge_close(&judge);
}

static void asking_who_does_not_hold_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    for (int i = 0; i < 3; i++) {
        judge_open(&judge, PROPERTY, false);
        hold(&judge, 1);
        if (i == 2)
            released(&judge, A);
        asked_back(&judge, i == 0 ? B : A, i == 1 ? 1 : 0, 10);
        assert_violated(&judge, EVENT_REVOKE_ASKED, "was asked to give lock 0 back, who does not hold it");
        judge_close(&judge);
    }
}

static void asking_for_an_earlier_hold_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    hold(&judge, 1);
    asked_back(&judge, A, 0, 9);
    assert_violated(&judge, EVENT_REVOKE_ASKED, "for token 0x9, but holds it with 0xa");
    judge_close(&judge);
}

/* One owner has released, one holds, one waits. The close ends all three, and each may ask again. */
static void closed_with_answers_holds(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    hold(&judge, 2);
    lock_event(&judge, EVENT_RELEASED, A, 0, 1);
    lock_event(&judge, EVENT_RELEASED, A, 0, 0);
    lock_event(&judge, EVENT_ASKED, A, 1, -1);
    created(&judge, A, 11);
    deleted(&judge, A, 10, 20);
    granted_to(&judge, A, 1, 11, 1);
    lock_event(&judge, EVENT_ASKED, A, 2, -1);
    freed(&judge, A);
    lock_event(&judge, EVENT_FAILED, A, 2, LS_ECLOSED);
    lock_event(&judge, EVENT_LOCK_CLOSED, A, 0, 0);
    lock_event(&judge, EVENT_REFUSED, A, 1, LS_ENOTOWNER);
    lock_event(&judge, EVENT_ASKED, A, 1, -1);
    created(&judge, A, 12);
    deleted(&judge, A, 11, 21);
    granted_to(&judge, A, 1, 12, 1);
    rest(&judge);
    assert_verdict(&judge, CHECK_HOLDS);
    judge_close(&judge);
}

static void acquire_that_a_close_forgets_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    hold(&judge, 1);
    lock_event(&judge, EVENT_ASKED, A, 1, -1);
    lock_event(&judge, EVENT_ASKED, B, 1, -1); /* B's own mutex stays open */
    lock_event(&judge, EVENT_LOCK_CLOSED, A, 0, 0);
    assert_violated(&judge, EVENT_LOCK_CLOSED,
                    "process 0 closed lock 0, but its acquire (owner 1) has no answer");
    judge_close(&judge);
}

static void release_that_a_close_forgets_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    hold(&judge, 1);
    released(&judge, A);
    lock_event(&judge, EVENT_LOCK_CLOSED, B, 0, 0);
    assert_verdict(&judge, CHECK_HOLDS);
    lock_event(&judge, EVENT_LOCK_CLOSED, A, 0, 0);
    assert_violated(&judge, EVENT_LOCK_CLOSED,
                    "process 0 closed lock 0, but its release (owner 0) was never reported");
    judge_close(&judge);
}

/* The close reported the release, but the node still has to be deleted. */
static void node_that_stays_behind_a_close_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    hold(&judge, 1);
    released(&judge, A);
    freed_with(&judge, A, 0, true);
    lock_event(&judge, EVENT_LOCK_CLOSED, A, 0, 0);
    rest(&judge);
    assert_violated(&judge, EVENT_REST, "its node still stands");
    judge_close(&judge);
}

static void refused_close_changes_nothing(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    hold(&judge, 1);
    lock_event(&judge, EVENT_ASKED, A, 1, -1);
    lock_event(&judge, EVENT_LOCK_CLOSED, A, 0, LS_EDEADLK);
    assert_verdict(&judge, CHECK_NOT_JUDGED);
    lock_event(&judge, EVENT_REFUSED, A, 0, LS_ENOTOWNER);
    assert_violated(&judge, EVENT_REFUSED, "who holds it");
    judge_close(&judge);
}

static void without_a_release_it_is_not_judged(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    hold(&judge, 2);
    rest(&judge);
    assert_verdict(&judge, CHECK_NOT_JUDGED);
    judge_close(&judge);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(balanced_holds),
        cmocka_unit_test(freed_before_deleted_says_so),
        cmocka_unit_test(node_that_stays_is_violated),
        cmocka_unit_test(release_never_reported_is_violated),
        cmocka_unit_test(freed_at_the_first_level_is_violated),
        cmocka_unit_test(release_by_another_is_violated),
        cmocka_unit_test(refused_owner_is_violated),
        cmocka_unit_test(lost_hold_may_be_refused_or_granted_anew),
        cmocka_unit_test(who_waits_anew_does_not_hold),
        cmocka_unit_test(hold_that_stands_is_not_lost),
        cmocka_unit_test(refused_cancel_is_not_a_release),
        cmocka_unit_test(wrong_depths_are_violated),
        cmocka_unit_test(depth_of_any_size_is_violated),
        cmocka_unit_test(answers_nobody_asked_for_are_violated),
        cmocka_unit_test(after_a_loss_anything_goes),
        cmocka_unit_test(loss_while_releasing_holds),
        cmocka_unit_test(holder_that_is_asked_holds),
        cmocka_unit_test(asking_who_does_not_hold_is_violated),
        cmocka_unit_test(asking_for_an_earlier_hold_is_violated),
        cmocka_unit_test(closed_with_answers_holds),
        cmocka_unit_test(acquire_that_a_close_forgets_is_violated),
        cmocka_unit_test(release_that_a_close_forgets_is_violated),
        cmocka_unit_test(node_that_stays_behind_a_close_is_violated),
        cmocka_unit_test(refused_close_changes_nothing),
        cmocka_unit_test(without_a_release_it_is_not_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
