/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include <lockstep/error.h>
#include <lockstep/session.h>

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void default_doubles_up_to_ten_seconds_for_ever(void **state)
{
    (void)state;
    assert_int_equal(ls_retry_delay_ms(NULL, 0, 0, 0), 100);
    assert_int_equal(ls_retry_delay_ms(NULL, 1, 0, 0), 200);
    assert_int_equal(ls_retry_delay_ms(NULL, 6, 0, 0), 6400);
    assert_int_equal(ls_retry_delay_ms(NULL, 7, 0, 0), 10000);
    assert_int_equal(ls_retry_delay_ms(NULL, 31, 0, 0), 10000);
    assert_int_equal(ls_retry_delay_ms(NULL, 32, 0, 0), 10000);
    assert_int_equal(ls_retry_delay_ms(NULL, UINT32_MAX, INT64_MAX, UINT32_MAX), 10000);
}

static void times_gives_up_after_that_many(void **state)
{
    (void)state;
    const struct ls_retry_policy policy = {.kind = LS_RETRY_TIMES, .base_ms = 7, .times = 2};
    assert_int_equal(ls_retry_delay_ms(&policy, 0, 0, 0), 7);
    assert_int_equal(ls_retry_delay_ms(&policy, 1, 0, 0), 14);
    assert_int_equal(ls_retry_delay_ms(&policy, 2, 0, 0), -1);
}

static void elapsed_gives_up_at_the_bound_and_never_sleeps_beyond_it(void **state)
{
    (void)state;
    const struct ls_retry_policy policy = {.kind = LS_RETRY_ELAPSED, .base_ms = 100, .elapsed_ms_max = 1000};
    assert_int_equal(ls_retry_delay_ms(&policy, 0, 0, 0), 100);
    assert_int_equal(ls_retry_delay_ms(&policy, 5, 400, 0), 600);
    assert_int_equal(ls_retry_delay_ms(&policy, 5, 999, 0), 1);
    assert_int_equal(ls_retry_delay_ms(&policy, 0, 1000, 0), -1);
    assert_int_equal(ls_retry_delay_ms(&policy, 0, INT64_MAX, 0), -1);
}

static void jitter_takes_off_up_to_its_share(void **state)
{
    (void)state;
    struct ls_retry_policy policy = {.base_ms = 1000, .delay_ms_max = 1500, .jitter_percent = 50};
    assert_int_equal(ls_retry_delay_ms(&policy, 0, 0, 0), 1000);
    assert_int_equal(ls_retry_delay_ms(&policy, 0, 0, 1u << 31), 750);
    assert_int_equal(ls_retry_delay_ms(&policy, 0, 0, UINT32_MAX), 501);
    assert_int_equal(ls_retry_delay_ms(&policy, 9, 0, 0), 1500);
    policy.jitter_percent = 1000;
    assert_int_equal(ls_retry_delay_ms(&policy, 0, 0, UINT32_MAX), 1);
}

static void every_code_has_a_text(void **state)
{
    (void)state;
    for (int err = 0; err >= LS_EREFUSED; err--)
        assert_string_not_equal(ls_strerror(err), "unknown error");
    assert_string_equal(ls_strerror(LS_EREFUSED - 1), "unknown error");
    assert_string_equal(ls_strerror(1), "unknown error");
    assert_string_equal(ls_strerror(LS_EBUSY), "the lock is not free");
    assert_string_not_equal(ls_strwarning(LS_WARN_FOREIGN_CHILD), "unknown warning");
    assert_string_not_equal(ls_strwarning(LS_WARN_LEFT_BEHIND), "unknown warning");
    assert_string_equal(ls_strwarning(LS_WARN_NONE), "no warning");
    assert_string_equal(ls_strwarning(99), "unknown warning");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(default_doubles_up_to_ten_seconds_for_ever),
        cmocka_unit_test(times_gives_up_after_that_many),
        cmocka_unit_test(elapsed_gives_up_at_the_bound_and_never_sleeps_beyond_it),
        cmocka_unit_test(jitter_takes_off_up_to_its_share),
        cmocka_unit_test(every_code_has_a_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
