/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "check/judge.h"

#define PROPERTY "no_stale_effect"

static void effect(struct judge *judge, int process, int64_t token, int taken, int64_t guard)
{
    show(
        judge,
        (struct event){
            .kind = EVENT_EFFECT, .process = (uint8_t)process, .zxid = token, .code = taken, .cause = guard});
}

/* A holds with token 10, then B with token 11. */
static void hand_over(struct judge *judge)
{
    asked(judge, A);
    created(judge, A, 10);
    granted(judge, A, 10);
    asked(judge, B);
    created(judge, B, 11);
    deleted(judge, A, 10, 12);
    granted(judge, B, 11);
}

static void newer_after_older_holds(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    hand_over(&judge);
    effect(&judge, A, 10, 1, 0);
    effect(&judge, B, 11, 1, 0);
    effect(&judge, A, 10, 0, 0); /* rightly refused */
    assert_verdict(&judge, CHECK_HOLDS);
    assert_int_equal(judge.finding->premises, 5);
    judge_close(&judge);
}

static void older_after_newer_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    hand_over(&judge);
    effect(&judge, B, 11, 1, 0);
    effect(&judge, A, 10, 1, 0);
    assert_violated(&judge, EVENT_EFFECT, "took token 0xa from process 0 after the newer 0xb");
    judge_close(&judge);
}

static void refused_holder_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    hand_over(&judge);
    effect(&judge, B, 11, 0, 0);
    assert_violated(&judge, EVENT_EFFECT, "refused process 1, who holds it with the newest token");
    judge_close(&judge);
}

static void refused_after_its_node_went_holds(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    hand_over(&judge);
    deleted(&judge, B, 11, 13);
    effect(&judge, B, 11, 0, 11);
    assert_verdict(&judge, CHECK_HOLDS);
    judge_close(&judge);
}

static void guarded_write_after_deletion_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    hand_over(&judge);
    effect(&judge, B, 11, 1, 11);
    assert_verdict(&judge, CHECK_HOLDS);
    deleted(&judge, B, 11, 13);
    effect(&judge, B, 11, 1, 11);
    assert_violated(&judge, EVENT_EFFECT, "guarded write of process 1 committed after its node");
    judge_close(&judge);
}

static void repeated_token_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    asked(&judge, A);
    created(&judge, A, 10);
    granted(&judge, A, 5);
    released(&judge, A);
    deleted(&judge, A, 10, 11);
    asked(&judge, A);
    created(&judge, A, 12);
    granted(&judge, A, 5);
    assert_violated(&judge, EVENT_GRANTED, "with the fencing token 0x5 of another grant");
    judge_close(&judge);
}

static void older_token_of_a_live_grant_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    asked(&judge, A);
    created(&judge, A, 10);
    granted(&judge, A, 10);
    released(&judge, A);
    deleted(&judge, A, 10, 11);
    asked(&judge, B);
    created(&judge, B, 12);
    granted(&judge, B, 1); /* a sequence number, from a directory that was created anew */
    assert_violated(&judge, EVENT_GRANTED, "older than 0xa of an earlier grant");
    judge_close(&judge);
}

/* A zombie grant: it is reported after a newer one, and its node was deleted before. */
static void older_token_of_a_dead_grant_holds(void **state)
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

static void without_tokens_it_is_not_judged(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    asked(&judge, A);
    created(&judge, A, 10);
    granted(&judge, A, 0);
    assert_verdict(&judge, CHECK_NOT_JUDGED);
    judge_close(&judge);
}

/* The lease of A's contender ends before the grant is reported. B holds meanwhile, and an earlier copy of A's
 * request makes another contender. The grant is based on the node that its token names, which is deleted. */
static void a_grant_stands_on_what_its_token_names(void **state)
{
    (void)state;
    for (int leases = 0; leases < 2; leases++) {
        struct judge judge;
        if (leases)
            judge_open_with_leases(&judge, PROPERTY, false);
        else
            judge_open(&judge, PROPERTY, false);
        asked(&judge, A);
        created(&judge, A, 10);
        deleted_by(&judge, A, 10, 0);
        asked(&judge, B);
        created(&judge, B, 11);
        granted(&judge, B, 11);
        released(&judge, B);
        deleted_by(&judge, B, 11, 1 + B);
        created(&judge, A, 12);
        granted(&judge, A, 10);
        assert_verdict(&judge, leases ? CHECK_HOLDS : CHECK_VIOLATED);
        judge_close(&judge);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(newer_after_older_holds),
        cmocka_unit_test(older_after_newer_is_violated),
        cmocka_unit_test(refused_holder_is_violated),
        cmocka_unit_test(refused_after_its_node_went_holds),
        cmocka_unit_test(guarded_write_after_deletion_is_violated),
        cmocka_unit_test(repeated_token_is_violated),
        cmocka_unit_test(older_token_of_a_live_grant_is_violated),
        cmocka_unit_test(older_token_of_a_dead_grant_holds),
        cmocka_unit_test(without_tokens_it_is_not_judged),
        cmocka_unit_test(a_grant_stands_on_what_its_token_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
