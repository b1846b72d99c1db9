/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* What is covered: marks, pairs, rows; and that noting it changes nothing. */
#include "scenario/coverage.h"
#include "scenario/direct.h"
#include "scenario/random.h"
#include "scenario/recipes.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct scenario scenario;
static struct coverage coverage;
static struct outcome outcome;

static void open_scenario(const char *text)
{
    struct input_error error;
    if (scenario_read_bytes(&scenario, "s", text, strlen(text), &error) != 0) {
        fail_msg("%s", error.text);
    }
    memset(&coverage, 0, sizeof coverage);
    memset(&outcome, 0, sizeof outcome);
}

static struct run_setup setup_of(const char *recipe)
{
    return (struct run_setup){.scenario = &scenario, .recipe = recipe_find(recipe)};
}

/* The states in which an event was seen, by name, between blanks. */
static const char *seen(const char *event, const char *recipe)
{
    static char text[512];
    text[0] = 0;
    for (uint32_t i = 0; i < coverage.events; i++) {
        for (int s = 0; strcmp(coverage.event[i].name, event) == 0 && s < LS_RECIPE_STATES_MAX; s++) {
            if (coverage.event[i].seen >> s & 1) {
                strcat(strcat(text, text[0] ? " " : ""), coverage_state_name(recipe_find(recipe), s));
            }
        }
    }
    return text;
}

static bool reached(const char *name)
{
    const struct ls_mark *mark;
    int place = 0;
    for (int i = 0; (mark = coverage_mark(recipe_find("mutex"), i, &place)) != NULL; i++) {
        if (strcmp(mark->name, name) == 0) {
            return coverage.mark[place] != 0;
        }
    }
    fail_msg("no mark %s", name);
    return false;
}

static void direct(const char *text, const char *recipe)
{
    struct direct_options options = {.out = "/nonexistent"};
    open_scenario(text);
    struct run_setup setup = setup_of(recipe);
    coverage_into(&coverage, setup.recipe);
    direct_run(&setup, &options, &outcome);
    coverage_into(NULL, NULL);
    scenario_close(&scenario);
}

/* Names are words, unique, in their order; and the compiler and linker have left none out. */
static void marks_have_names(void **state)
{
    (void)state;
    const struct ls_mark *mark, *before = NULL;
    int count = 0, place = 0;
    for (; (mark = coverage_mark(recipe_find("mutex"), count, &place)) != NULL; count++) {
        for (const char *at = mark->name; *at; at++) {
            assert_true(islower((unsigned char)*at) || *at == '-');
        }
        assert_true(before == NULL || strcmp(before->name, mark->name) < 0);
        assert_int_equal(strncmp(mark->file, "src/lock/", 9), 0);
        assert_in_range(mark->line, 1, 2000);
        before = mark;
    }
    assert_in_range(count, 30, COVERAGE_MARKS_MAX);
    assert_null(coverage_mark(recipe_find("textbook"), 0, &place));
}

static void a_lost_reply_is_seen_where_it_came(void **state)
{
    (void)state;
    direct(
        "world used\nmutex /locks/x\nprocess a b\na acquire\nbefore deliver a create-reply\ncut a\nsettle\n"
        "b acquire\nsettle\na release\nsettle\n----\n",
        "mutex");
    assert_string_equal(seen("acquire", "mutex"), "none");
    assert_string_equal(seen("create-reply lost", "mutex"), "claiming");
    assert_string_equal(seen("create-reply ok", "mutex"), "claiming");
    assert_string_equal(seen("session-connected", "mutex"), "none claiming searching");
    assert_string_equal(seen("sync-reply ok", "mutex"), "searching");
    assert_string_equal(seen("exists-reply ok", "mutex"), "identifying");
    assert_string_equal(seen("deleted other", "mutex"), "waiting");
    assert_string_equal(seen("release", "mutex"), "held");
    assert_string_equal(seen("delete-reply ok", "mutex"), "releasing");
    assert_string_equal(seen("session-expired", "mutex"), "");
    assert_true(reached("lost-create-found"));
    assert_false(reached("lost-create-never-applied"));
    assert_false(reached("request-ends-with-minus-seven"));
    uint32_t pairs = 0;
    for (uint32_t i = 0; i < coverage.events; i++) {
        pairs += (uint32_t)__builtin_popcount(coverage.event[i].seen);
    }
    assert_int_equal(coverage_pairs(&coverage), pairs);
}

static void timers_and_codes_have_names(void **state)
{
    (void)state;
    direct("world used rc=-7\nmutex /locks/x\nprocess a b\na acquire\nsettle\nb acquire timeout=1s\nsettle\n"
           "advance 2s\nexpire a\nsettle\nb try\nbefore deliver b create-reply\ncut b\nsettle\n----\n",
           "mutex");
    assert_string_equal(seen("acquire timeout", "mutex"), "none");
    assert_string_equal(seen("deadline-timer", "mutex"), "waiting");
    assert_string_equal(seen("try", "mutex"), "none");
    assert_string_equal(seen("create-reply timed-out", "mutex"), "leftover"); /* the loss has ended the try */
    assert_string_equal(seen("session-expired", "mutex"), "held");
    assert_string_equal(seen("reopen-timer", "mutex"), "tomb");
    assert_true(reached("request-ends-with-minus-seven"));
    assert_true(reached("held-lock-goes-with-its-session"));
}

/* Two attempts in different states: it is not known whose a reply is, so it is nobody's. What all hear of counts for both. */
static void what_is_not_certain_is_not_seen(void **state)
{
    (void)state;
    direct("world used\nmutex /locks/x\nprocess a\na acquire\nsettle\na acquire owner=1\nsettle\ncut "
           "a\nsettle\n----\n",
           "mutex");
    assert_string_equal(seen("create-reply ok", "mutex"), "claiming"); /* the first one's */
    assert_string_equal(seen("get-reply ok", "mutex"), "");            /* the second one's */
    assert_string_equal(seen("acquire", "mutex"), "none held");
    assert_string_equal(seen("session-connecting", "mutex"), "waiting held");
}

static void other_recipes_have_states_too(void **state)
{
    (void)state;
    direct("world used\nmutex /locks/x\nprocess a\na acquire\nsettle\na release\nsettle\n----\n", "textbook");
    assert_string_equal(seen("create-reply ok", "textbook"), "creating");
    assert_string_equal(seen("release", "textbook"), "held");
    assert_string_equal(seen("delete-reply ok", "textbook"), "deleting");
    struct ls_recipe plain = *recipe_find("textbook");
    plain.states = NULL;
    plain.states_now = NULL;
    assert_int_equal(coverage_states(&plain), 1);
    assert_string_equal(coverage_state_name(&plain, 0), "any");
    assert_int_equal(coverage_states(recipe_find("mutex")), 13);
}

static void no_more_states_than_bits_are_counted(void **state)
{
    (void)state;
    const char *names[LS_RECIPE_STATES_MAX + 2];
    for (int i = 0; i <= LS_RECIPE_STATES_MAX; i++) {
        names[i] = "state";
    }
    names[LS_RECIPE_STATES_MAX + 1] = NULL;
    struct ls_recipe many = *recipe_find("textbook");
    many.states = names;
    assert_int_equal(coverage_states(&many), LS_RECIPE_STATES_MAX);
}

/* ---- random runs ---- */

static void rows_stand_at_powers_of_two(void **state)
{
    (void)state;
    open_scenario("world used\nmutex /locks/x\nprocess a b: acquire release\nexplore loss<=1\n----\n");
    struct run_setup setup = setup_of("mutex");
    coverage_into(&coverage, setup.recipe);
    random_run(&setup, 1, 300, "/nonexistent", &outcome);
    coverage_into(NULL, NULL);
    assert_int_equal(coverage.rows, 10);
    for (uint32_t i = 0; i < 10; i++) {
        const struct coverage_row *row = &coverage.row[i];
        assert_int_equal(row->runs, i < 9 ? 1u << i : 300);
        assert_true(i == 0 || (row->states > row[-1].states && row->steps > row[-1].steps &&
                               row->pairs >= row[-1].pairs && row->marks >= row[-1].marks));
        assert_true(row->states <=
                    row->steps + row->runs); /* the first state of a run, and one behind each step */
    }
    assert_int_equal(coverage.row[9].steps, outcome.steps);
    assert_true(coverage.row[9].pairs <= coverage_pairs(&coverage));
    assert_true(coverage.row[9].marks >= 2);
    assert_false(coverage.full);
    scenario_close(&scenario);
}

/* One run without faults and with one order: each step leads to a new state. */
static void states_are_counted_once(void **state)
{
    (void)state;
    open_scenario("world used\nmutex /locks/x\nprocess a: acquire release\nexplore loss<=0\n----\n");
    struct run_setup setup = setup_of("mutex");
    setup.plan.strategy = STRATEGY_PCT;
    coverage_into(&coverage, setup.recipe);
    random_run(&setup, 2, 64, "/nonexistent", &outcome);
    coverage_into(NULL, NULL);
    assert_int_equal(coverage.row[0].states, coverage.row[0].steps + 1);
    assert_true(coverage.row[6].states < 2 * coverage.row[0].states);
    scenario_close(&scenario);
}

static void noting_changes_nothing(void **state)
{
    (void)state;
    struct run run;
    open_scenario("world servers=2 used\nmutex /locks/x\nprocess a b: acquire release\n"
                  "explore loss<=1 expire<=1 lag<=1 crash<=1\n----\n");
    struct run_setup setup = setup_of("mutex");
    setup.schedule = SCHEDULE_UNIFORM;
    assert_int_equal(run_init(&run, &setup), 0);
    for (uint64_t seed = 1; seed <= 100; seed++) {
        random_one(&run, seed);
        uint64_t plain = world_fingerprint(run.world), steps = run.steps;
        coverage_into(&coverage, setup.recipe);
        coverage_begin_growth(&run);
        random_one(&run, seed);
        coverage_grow(&run, 1, steps, true);
        coverage_end_growth();
        coverage_into(NULL, NULL);
        assert_int_equal(run.steps, steps);
        assert_true(world_fingerprint(run.world) == plain);
    }
    assert_true(coverage.events > 10);
    run_close(&run);
    scenario_close(&scenario);
}

/* ---- reports ---- */

static void merging_adds_bits(void **state)
{
    (void)state;
    static struct coverage one, other;
    memset(&one, 0, sizeof one);
    memset(&other, 0, sizeof other);
    one.events = 2;
    one.event[0] = (struct coverage_event){.name = "release", .seen = 1};
    one.event[1] = (struct coverage_event){.name = "cancel", .seen = 2};
    other.events = 1;
    other.event[0] = (struct coverage_event){.name = "release", .seen = 4};
    other.mark[3] = COVERAGE_EVER;
    coverage_merge(&one, &other);
    coverage_sort(&one);
    assert_int_equal(one.events, 2);
    assert_string_equal(one.event[0].name, "cancel");
    assert_int_equal(one.event[1].seen, 5);
    assert_int_equal(one.mark[3], COVERAGE_EVER);
    assert_int_equal(coverage_pairs(&one), 3);
    assert_false(one.full);
    one.events = COVERAGE_EVENTS_MAX; /* no room for another name is said, not hidden */
    other.event[0] = (struct coverage_event){.name = "new", .seen = 1};
    coverage_merge(&one, &other);
    assert_true(one.full);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_have_names),
        cmocka_unit_test(a_lost_reply_is_seen_where_it_came),
        cmocka_unit_test(timers_and_codes_have_names),
        cmocka_unit_test(what_is_not_certain_is_not_seen),
        cmocka_unit_test(other_recipes_have_states_too),
        cmocka_unit_test(no_more_states_than_bits_are_counted),
        cmocka_unit_test(rows_stand_at_powers_of_two),
        cmocka_unit_test(states_are_counted_once),
        cmocka_unit_test(noting_changes_nothing),
        cmocka_unit_test(merging_adds_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
