/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Searches of the futures of a state, in a scenario whose futures are known: `broken-no-protection` creates a
 * second node when the answer to its create is lost, and never without a fault. */
#include "explain/futures.h"
#include "scenario/recipes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const char TWO[] = "world servers=1 used\nmutex /locks/x\nprocess a b: acquire release\n"
                          "explore loss<=1\nproperties no_orphan_node\n----\n";

struct fixture {
    struct scenario scenario;
    struct run run;
    int position;
};

static struct fixture the;

static int open_it(void **state)
{
    struct input_error error;
    *state = &the;
    memset(&the, 0, sizeof the);
    assert_int_equal(scenario_read_bytes(&the.scenario, "t.scn", TWO, strlen(TWO), &error), 0);
    struct run_setup setup = {.scenario = &the.scenario,
                              .recipe = recipe_find("broken-no-protection"),
                              .schedule = SCHEDULE_SEARCH};
    assert_int_equal(run_init(&the.run, &setup), 0);
    run_begin(&the.run, SCHEDULE_SEARCH, 0);
    the.position = check_position("no_orphan_node");
    return 0;
}

static int close_it(void **state)
{
    (void)state;
    run_close(&the.run);
    scenario_close(&the.scenario);
    return 0;
}

/* Follows labels of enabled actions. */
static void follow(const char *const *label)
{
    const char *why;
    for (; *label != NULL; label++) {
        assert_int_equal(run_apply_label(&the.run, *label, &why), 0);
    }
}

static const char *const TO_THE_CREATE[] = {"a acquire", "connect a s1", "deliver a session-connected", NULL};
static const char *const LOST[] = {"cut a keep=0 apply=1 rc=-4", NULL};

static void test_a_fault_that_is_left_breaks_it(void **state)
{
    (void)state;
    const struct script none = {0};
    struct futures_found found;
    struct futures *futures = futures_open(&the.run, the.position, -1);
    futures_break(futures, &none, (struct futures_bounds){0}, &found);
    assert_int_equal(found.answer, FUTURES_SOME);
    assert_true(found.steps > 0 && found.first[0] != 0);
    world_end_faults(the.run.world);
    futures_break(futures, &none, (struct futures_bounds){0}, &found);
    assert_int_equal(found.answer, FUTURES_NONE);
    assert_true(found.states > 10);
    futures_close(futures);
}

static void test_behind_the_loss_nothing_keeps_it(void **state)
{
    (void)state;
    const struct script none = {0};
    struct futures_found found;
    struct futures *futures = futures_open(&the.run, the.position, -1);
    follow(TO_THE_CREATE);
    futures_keep_unharmed(futures, &none, (struct futures_bounds){0}, &found);
    assert_int_equal(found.answer, FUTURES_SOME);
    futures_close(futures);
    futures = futures_open(&the.run, the.position, -1);
    follow(LOST);
    futures_keep_unharmed(futures, &none, (struct futures_bounds){0}, &found);
    print_message("%d %llu '%s' %llu\n", found.answer, (unsigned long long)found.steps, found.first,
                  (unsigned long long)found.states);
    assert_int_equal(found.answer, FUTURES_NONE);
    futures_close(futures);
}

static void test_behind_a_choice(void **state)
{
    (void)state;
    const struct script none = {0};
    struct futures_behind found;
    struct futures *futures = futures_open(&the.run, the.position, -1);
    struct action cut, apply;
    const char *why;
    follow(TO_THE_CREATE);
    assert_int_equal(world_find(the.run.world, LOST[0], &cut, &why), 0);
    assert_int_equal(world_find(the.run.world, "apply s1 a create", &apply, &why), 0);
    futures_behind(futures, &cut, &none, (struct futures_bounds){0}, &found);
    assert_int_equal(found.breaks.answer, FUTURES_SOME);
    world_end_faults(the.run.world);
    futures_behind(futures, &apply, &none, (struct futures_bounds){0}, &found);
    assert_int_equal(found.breaks.answer, FUTURES_NONE);
    assert_int_equal(found.keeps.answer, FUTURES_SOME);
    futures_close(futures);
}

static void test_the_run_stays_as_it_is(void **state)
{
    (void)state;
    const struct script none = {0};
    struct futures_behind found;
    struct futures *futures = futures_open(&the.run, the.position, -1);
    struct action apply;
    const char *why;
    follow(TO_THE_CREATE);
    uint64_t before = world_fingerprint(the.run.world), steps = the.run.steps;
    struct check_stats stats = the.run.stats;
    assert_int_equal(world_find(the.run.world, "apply s1 a create", &apply, &why), 0);
    futures_behind(futures, &apply, &none, (struct futures_bounds){0}, &found);
    assert_int_equal(found.breaks.answer, FUTURES_SOME);
    assert_true(world_fingerprint(the.run.world) == before);
    assert_int_equal(the.run.steps, steps);
    assert_int_equal(the.run.stats.violated, stats.violated);
    futures_close(futures);
}

static void test_a_bound_guesses_nothing(void **state)
{
    (void)state;
    const struct script none = {0};
    struct futures_found found;
    struct futures *futures = futures_open(&the.run, the.position, -1);
    world_end_faults(the.run.world);
    futures_break(futures, &none, (struct futures_bounds){.states_max = 5}, &found);
    assert_int_equal(found.answer, FUTURES_UNDECIDED);
    assert_int_equal(found.states, 5);
    assert_string_equal(found.limit, "states");
    futures_close(futures);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_fault_that_is_left_breaks_it, open_it, close_it),
        cmocka_unit_test_setup_teardown(test_behind_the_loss_nothing_keeps_it, open_it, close_it),
        cmocka_unit_test_setup_teardown(test_behind_a_choice, open_it, close_it),
        cmocka_unit_test_setup_teardown(test_the_run_stays_as_it_is, open_it, close_it),
        cmocka_unit_test_setup_teardown(test_a_bound_guesses_nothing, open_it, close_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
