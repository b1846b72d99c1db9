/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* <lockstep/replay.h>: what a regression test gets, also of a list that does not fit and of input that makes no sense. */
#include "base/arena.h"

#include <lockstep/error.h>
#include <lockstep/replay.h>
#include <lockstep/sim.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const char *const SCENARIO[] = {
    "world used", "mutex /locks/x", "process a b: acquire release", "explore loss<=1", "----", NULL,
};

/* a reads the list of children from the wrong end. */
static const char *const CHOICES[] = {
    "b acquire",
    "connect b s1",
    "deliver b session-connected",
    "apply s1 b create",
    "a acquire",
    "connect a s1",
    "deliver a session-connected",
    "apply s1 a create",
    "deliver a create-reply",
    "apply s1 a list",
    "deliver a list-reply",
    NULL,
};

static struct ls_replay with(const char *recipe, const char *const *choices)
{
    return (struct ls_replay){
        .recipe = ls_recipe_find(recipe), .scenario = SCENARIO, .choices = choices, .schedule = "search"};
}

static struct ls_replay_result run(struct ls_replay replay)
{
    static struct ls_replay_result result;
    assert_int_equal(ls_replay_run(&replay, &result), LS_OK);
    return result;
}

static void the_same_violation_at_the_same_step(void **state)
{
    (void)state;
    struct ls_replay replay = with("broken-no-sort", CHOICES);
    struct ls_replay_result result = run(replay);
    assert_int_equal(result.verdict, LS_REPLAY_VIOLATED);
    assert_string_equal(result.property, "at_most_one_holder");
    assert_int_equal(result.step, 11);
    assert_int_equal(result.steps, 11);
    assert_true(result.choices == 11 && result.fits == 11 && result.left_out == 0);
    assert_non_null(
        strstr(result.text, "at_most_one_holder is violated at step 11 of 11: a was granted x but"));
    assert_non_null(strstr(result.text, result.promise));
    /* Only what is asked about counts. */
    replay.property = "granted_in_order";
    assert_string_equal(run(replay).property, "granted_in_order");
    replay.property = "no_lost_wakeup";
    assert_int_not_equal(run(replay).verdict, LS_REPLAY_VIOLATED);
}

static const char *breaks_at_once(const void *state)
{
    (void)state;
    return "nothing";
}

/* Whatever the file names, and whether a property is asked about or not. */
static void a_recipe_that_misbehaves_violates_its_contract(void **state)
{
    (void)state;
    static const char *const scenario[] = {
        "world used", "mutex /locks/x", "process a: acquire", "properties granted_in_order", "----", NULL};
    struct ls_recipe recipe = *ls_recipe_find("mutex");
    struct ls_replay replay = {.recipe = &recipe,
                               .scenario = scenario,
                               .choices = (const char *const[]){NULL},
                               .schedule = "search"};
    recipe.wrong = breaks_at_once;
    assert_int_equal(run(replay).verdict, LS_REPLAY_VIOLATED);
    assert_string_equal(run(replay).property, "contract_is_kept");
    replay.property = "contract_is_kept";
    assert_int_equal(run(replay).verdict, LS_REPLAY_VIOLATED);
}

/* Behind the list the programs go on, so that both get the lock. */
static void a_mended_recipe_runs_to_its_end(void **state)
{
    (void)state;
    struct ls_replay replay = with("mutex", CHOICES);
    struct ls_replay_result result = run(replay);
    assert_int_not_equal(result.verdict, LS_REPLAY_VIOLATED);
    assert_null(result.property);
    assert_true(result.steps > 11);
    replay.property = "granted_in_order";
    assert_int_equal(run(replay).verdict, LS_REPLAY_HOLDS);
}

/* What is not possible yet is waited for, what never is possible is left out, and a budget is not overdrawn. */
static void a_list_that_does_not_fit(void **state)
{
    (void)state;
    static const char *const choices[] = {"a acquire",
                                          "deliver a create-reply", /* only behind four other steps */
                                          "fire a no-such-timer",
                                          "cut a keep=0 apply=0 rc=-4",
                                          "connect a s1",
                                          "cut a keep=0 apply=0 rc=-4", /* the budget is one */
                                          NULL};
    struct ls_replay_result result = run(with("mutex", choices));
    assert_int_equal(result.fits, 1);
    assert_int_equal(result.left_out, 2);
    assert_non_null(strstr(
        result.text, "the first 1 of 6 choices were done as they stand; choice 2, 'deliver a create-reply'"));
    assert_int_not_equal(result.verdict, LS_REPLAY_VIOLATED);
}

static void nothing_about_a_property(void **state)
{
    (void)state;
    static const char *const nothing[] = {NULL};
    static const char *const refusing[] = {"world used settings=local-sessions", "mutex /locks/x",
                                           "process a b: acquire release", "----", NULL};
    struct ls_replay replay = with("mutex", nothing);
    replay.scenario = refusing;
    replay.property = "at_most_one_holder";
    struct ls_replay_result result = run(replay);
    assert_int_equal(result.verdict, LS_REPLAY_NOT_JUDGED);
    assert_non_null(strstr(result.text, "at_most_one_holder is not judged"));
}

static void refused(struct ls_replay replay, const char *complaint)
{
    struct ls_replay_result result;
    assert_int_equal(ls_replay_run(&replay, &result), LS_EINVAL);
    if (!strstr(result.text, complaint)) {
        fail_msg("expected '%s', found '%s'", complaint, result.text);
    }
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    static const char *const no_scenario[] = {"mutex x", NULL};
    struct ls_replay good = with("mutex", CHOICES), bad = with("no-such-recipe", CHOICES);
    refused(bad, "expected a recipe");
    bad = good;
    bad.scenario = NULL;
    refused(bad, "expected the lines of a scenario and choices");
    bad = good;
    bad.choices = NULL;
    refused(bad, "expected the lines of a scenario and choices");
    bad = good;
    bad.schedule = "alphabetical";
    refused(bad, "expected the schedule directed, uniform, pct, swarm or search, found 'alphabetical'");
    bad = good;
    bad.schedule = NULL;
    refused(bad, "found nothing");
    bad = good;
    bad.seeded = "sown";
    refused(bad, "expected a seed that is given, swept or neither, found 'sown'");
    bad = good;
    bad.without = "?";
    refused(bad, "expected letters of choice points, found '?'");
    bad = good;
    bad.scenario = no_scenario;
    refused(bad, "scenario:1:7: expected an absolute path");
    bad = good;
    bad.property = "no_such_property";
    refused(bad, "expected a property that this scenario is judged by, found 'no_such_property'");
    bad.property = "deadline_is_kept"; /* needs a clock */
    refused(bad, "expected a property that this scenario is judged by");
    /* And afterwards it goes on. */
    assert_int_equal(run(with("broken-no-sort", CHOICES)).verdict, LS_REPLAY_VIOLATED);
}

/* The linker wants these names. NOLINTBEGIN(bugprone-reserved-identifier) */
int __real_arena_open(struct arena *arena, size_t capacity);
int __wrap_arena_open(struct arena *arena, size_t capacity);
/* NOLINTEND(bugprone-reserved-identifier) */

static bool no_room; /* the next world finds no place */

int __wrap_arena_open(struct arena *arena, size_t capacity)
{
    if (no_room) {
        errno = ENOMEM;
        return -1;
    }
    return __real_arena_open(arena, capacity);
}

static void without_a_world_there_is_no_verdict(void **state)
{
    (void)state;
    struct ls_replay replay = with("mutex", CHOICES);
    struct ls_replay_result result;
    no_room = true;
    int rc = ls_replay_run(&replay, &result);
    no_room = false;
    assert_int_equal(rc, LS_ENOMEM);
    assert_string_not_equal(result.text, "");
    assert_int_equal(run(with("broken-no-sort", CHOICES)).verdict, LS_REPLAY_VIOLATED);
}

static void a_property_that_is_no_file_is_refused(void **state)
{
    (void)state;
    char why[200] = "";
    assert_int_equal(ls_property_load("/no/such/property.so", why, sizeof why), LS_EINVAL);
    assert_string_not_equal(why, "");
}

/* A program may have tests of its own kind beside these. */
static void another_world_may_be_opened_after_it(void **state)
{
    (void)state;
    struct world_options options;
    run(with("mutex", CHOICES));
    world_options_default(&options);
    options.recipe = ls_recipe_find("mutex");
    options.processes = options.locks = 1;
    options.lock_path[0] = "/locks/x";
    strcpy(options.name[0], "a");
    struct world *world = world_open(&options, NULL, NULL);
    assert_non_null(world);
    world_close(world);
    run(with("mutex", CHOICES));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_violation_at_the_same_step),
        cmocka_unit_test(a_mended_recipe_runs_to_its_end),
        cmocka_unit_test(a_list_that_does_not_fit),
        cmocka_unit_test(nothing_about_a_property),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(without_a_world_there_is_no_verdict),
        cmocka_unit_test(a_property_that_is_no_file_is_refused),
        cmocka_unit_test(a_recipe_that_misbehaves_violates_its_contract),
        cmocka_unit_test(another_world_may_be_opened_after_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
