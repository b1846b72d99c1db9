/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "check/judge.h"

static void misbehaved(struct judge *judge, int offence, const char *where)
{
    show(
        judge,
        (struct event){
            .kind = EVENT_MISBEHAVED, .process = A, .lock = EVENT_LOCK_NONE, .code = offence, .path = where});
}

static void grants_alone_hold(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, "contract_is_kept", false);
    assert_verdict(&judge, CHECK_NOT_JUDGED);
    granted_to(&judge, A, 0, 10, 1);
    assert_verdict(&judge, CHECK_HOLDS);
    judge_close(&judge);
}

static void each_offence_is_told_with_its_place(void **state)
{
    (void)state;
    for (int offence = 0; offence < EVENT_OFFENCES; offence++) {
        struct judge judge;
        judge_open(&judge, "contract_is_kept", false);
        misbehaved(&judge, offence, "PLACE");
        assert_violated(&judge, EVENT_MISBEHAVED, "the recipe of process 0 ");
        assert_violated(&judge, EVENT_MISBEHAVED, ": PLACE");
        judge_close(&judge);
        judge_open(&judge, "contract_is_kept", false);
        misbehaved(&judge, offence, NULL);
        assert_violated(&judge, EVENT_MISBEHAVED, "the recipe of process 0 ");
        assert_null(strstr(judge.finding->why, "PLACE"));
        judge_close(&judge);
    }
}

static void sentences_differ(void **state)
{
    static char said[EVENT_OFFENCES][sizeof((struct check_finding *)0)->why];
    (void)state;
    for (int offence = 0; offence < EVENT_OFFENCES; offence++) {
        struct judge judge;
        judge_open(&judge, "contract_is_kept", false);
        misbehaved(&judge, offence, NULL);
        memcpy(said[offence], judge.finding->why, sizeof said[offence]);
        for (int other = 0; other < offence; other++)
            assert_string_not_equal(said[other], said[offence]);
        judge_close(&judge);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grants_alone_hold),
        cmocka_unit_test(each_offence_is_told_with_its_place),
        cmocka_unit_test(sentences_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
