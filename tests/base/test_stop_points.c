/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Stop points: a debugger stops at the first call in the wanted step, and at no other one.
 * tests/cli/debug.sh has a debugger. */
#include "base/stop_points.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void first(void)
{
}

static void second(void)
{
}

/* Does a step with two calls, and a third one behind the part of the step in which a debugger stops. */
static void do_step(uint64_t number)
{
    stop_points_begin(number);
    stop_points_arm();
    stop_points_call(first);
    stop_points_call(second);
    stop_points_disarm();
    stop_points_call(second);
    stop_points_end(number);
}

static void only_the_first_call_of_the_wanted_step_counts(void **state)
{
    (void)state;
    stop_point_wanted = 2;
    stop_points_open(false);
    assert_true(stop_points_once);
    do_step(1);
    assert_true(stop_point_at == 1 && stop_point_callee == NULL && !stop_points_here);
    do_step(2);
    assert_true(stop_point_at == 2 && stop_point_callee == first && !stop_points_here && !stop_points_armed);
    do_step(3);
    assert_true(stop_point_at == 3 && stop_point_callee == first);
    stop_point_wanted = 4; /* a debugger changes it on the way */
    do_step(4);
    assert_true(stop_point_callee == first);
}

static void a_question_is_no_call(void **state)
{
    (void)state;
    stop_point_wanted = 1;
    stop_points_open(false);
    stop_points_begin(1);
    stop_points_call(second);
    assert_null(stop_point_callee);
    stop_points_end(1);
}

static void without_a_debugger_nothing_stops(void **state)
{
    (void)state;
    stop_point_wanted = STOP_POINT_NONE;
    stop_points_open(false);
    assert_false(stop_points_once);
    stop_point_callee = NULL;
    do_step(0);
    do_step(1);
    assert_null(stop_point_callee);
}

static void a_replay_may_have_to_do_steps_twice(void **state)
{
    (void)state;
    stop_point_wanted = 1;
    stop_points_open(true);
    assert_false(stop_points_once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_first_call_of_the_wanted_step_counts),
        cmocka_unit_test(a_question_is_no_call),
        cmocka_unit_test(without_a_debugger_nothing_stops),
        cmocka_unit_test(a_replay_may_have_to_do_steps_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
