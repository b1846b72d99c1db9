/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Depth-first and breadth-first search find the same states. Breadth first finds the shortest violation. */
#include "explore/expansion.h"
#include "replay/replay.h"
#include "scenario/recipes.h"
#include "state/intern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define PAIR "world used\nmutex /l/x\nprocess a b: acquire release\n"

static char folder[] = "/tmp/lockstep-XXXXXX";
static struct outcome outcome;

/* The memory of steps counts as full each time that the search asks, so it is cleared again and again. */
static bool forgetful;
static int sweeps;

/* Memory is refused from the n-th next request on; -1 = never. */
static int refused_in = -1;

static bool is_refused(void)
{
    refused_in -= refused_in > 0;
    return refused_in == 0;
}

/* The linker wants these names. NOLINTBEGIN(bugprone-reserved-identifier) */
uint32_t __real_intern_take(struct intern *intern, int block);
uint32_t __wrap_intern_take(struct intern *intern, int block);
uint32_t __wrap_intern_take(struct intern *intern, int block)
{
    return is_refused() ? INTERN_NONE : __real_intern_take(intern, block);
}

bool __real_expansion_is_full(const struct expansion *x);
bool __wrap_expansion_is_full(const struct expansion *x);
bool __wrap_expansion_is_full(const struct expansion *x)
{
    sweeps += forgetful;
    return forgetful || __real_expansion_is_full(x);
}

uint32_t __real_intern_move(struct intern *to, struct intern *from, uint32_t number);
uint32_t __wrap_intern_move(struct intern *to, struct intern *from, uint32_t number);
uint32_t __wrap_intern_move(struct intern *to, struct intern *from, uint32_t number)
{
    return is_refused() ? INTERN_NONE : __real_intern_move(to, from, number);
}

/* NOLINTEND(bugprone-reserved-identifier) */

static void search(const char *text, const char *recipe, const struct explore_options *options)
{
    struct scenario scenario;
    struct input_error error;
    if (scenario_read_bytes(&scenario, "s", text, strlen(text), &error) != 0) {
        fail_msg("%s", error.text);
    }
    struct run_setup setup = {.scenario = &scenario, .recipe = recipe_find(recipe)};
    memset(&outcome, 0, sizeof outcome);
    explore_run(&setup, options, &outcome);
    scenario_close(&scenario);
}

static bool every_step;

static void search_in(enum explore_order order, bool layers, const char *text)
{
    search(
        text, RECIPE_DEFAULT,
        &(struct explore_options){.order = order, .layers = layers, .every_step = every_step, .out = folder});
}

static void test_the_orders_count_the_same(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {
        PAIR "----\n",
        PAIR "explore loss<=1\n----\n",
        PAIR "explore expire<=1 cancel<=1 total<=1\n----\n",
        "world servers=2 used\nmutex /l/x\nprocess a: acquire release\nexplore loss<=1 lag<=1\n----\n",
    };
    for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++) {
        search_in(EXPLORE_DEPTH_FIRST, false, TEXTS[i]);
        struct search_counts deep = outcome.search;
        assert_int_equal(outcome.verdict, VERDICT_HOLDS);
        assert_true(outcome.exhausted);
        assert_true(deep.states > 500);
        for (int way = 1; way < 8; way++) {
            every_step = way & 4;
            search_in(way & 1 ? EXPLORE_BREADTH_FIRST : EXPLORE_DEPTH_FIRST, way & 2, TEXTS[i]);
            assert_int_equal(outcome.verdict, VERDICT_HOLDS);
            assert_true(outcome.search.states == deep.states);
            assert_true(outcome.search.transitions == deep.transitions);
            assert_true(way & 5 ? outcome.search.depth <= deep.depth + 2
                                : outcome.search.depth == deep.depth);
            assert_int_equal(outcome.search.complete_faults, outcome.search.faults_last);
        }
        every_step = false;
    }
}

static enum replay_result replay(const char *path)
{
    struct trace trace;
    struct input_error error;
    FILE *nowhere = fopen("/dev/null", "w");
    assert_non_null(nowhere);
    if (trace_read(&trace, path, &error) != 0) {
        fail_msg("%s", error.text);
    }
    enum replay_result result = replay_trace(&trace, nowhere, &error);
    trace_close(&trace);
    fclose(nowhere);
    return result;
}

static void test_breadth_first_finds_the_shortest(void **state)
{
    (void)state;
    static const char *const RECIPES[] = {"broken-no-sort", "broken-waits-for-absent",
                                          "broken-no-protection"};
    static const char TEXT[] = PAIR "explore loss<=1\n----\n";
    for (size_t i = 0; i < sizeof RECIPES / sizeof RECIPES[0]; i++) {
        assert_non_null(recipe_find(RECIPES[i]));
        struct explore_options options = {.order = EXPLORE_BREADTH_FIRST, .layers = true, .out = folder};
        search(TEXT, RECIPES[i], &options);
        uint64_t shortest = outcome.last_steps;
        assert_int_equal(outcome.verdict, VERDICT_VIOLATED);
        assert_int_equal(replay(outcome.trace), REPLAY_VIOLATED);
        unlink(outcome.trace);
        options.order = EXPLORE_DEPTH_FIRST;
        search(TEXT, RECIPES[i], &options);
        assert_int_equal(outcome.verdict, VERDICT_VIOLATED);
        assert_true(shortest <= outcome.last_steps);
        assert_int_equal(replay(outcome.trace), REPLAY_VIOLATED);
        unlink(outcome.trace);
    }
}

static void test_limits_end_a_search(void **state)
{
    (void)state;
    static const volatile int stop = 1;
    static const char TEXT[] = PAIR "explore loss<=1\n----\n";
    for (int order = EXPLORE_DEPTH_FIRST; order <= EXPLORE_BREADTH_FIRST; order++) {
        search(TEXT, RECIPE_DEFAULT,
               &(struct explore_options){.order = order, .states_max = 1000, .out = folder});
        assert_int_equal(outcome.verdict, VERDICT_LIMIT);
        assert_true(outcome.search.states == 1000);
        assert_false(outcome.exhausted);
        search(TEXT, RECIPE_DEFAULT, &(struct explore_options){.order = order, .stop = &stop, .out = folder});
        assert_int_equal(outcome.verdict, VERDICT_LIMIT);
        assert_string_equal(outcome.text, "  interrupted\n");
        assert_true(outcome.search.states < 1000);
    }
}

static void test_refused_memory_is_a_limit(void **state)
{
    (void)state;
    for (int order = EXPLORE_DEPTH_FIRST; order <= EXPLORE_BREADTH_FIRST; order++) {
        refused_in = 2000;
        search_in(order, false, PAIR "explore loss<=1\n----\n");
        refused_in = -1;
        assert_int_equal(outcome.verdict, VERDICT_LIMIT);
        assert_string_equal(outcome.text, "  memory is short\n");
        assert_true(outcome.search.states >= 15);
    }
    search_in(EXPLORE_BREADTH_FIRST, false, PAIR "----\n"); /* a search after these failures works */
    assert_int_equal(outcome.verdict, VERDICT_HOLDS);
}

static void test_what_is_forgotten_is_found_again(void **state)
{
    (void)state;
    static const char LONG[] = PAIR "explore loss<=1 expire<=1\n----\n",
                      TEXT[] = PAIR "explore loss<=1\n----\n";
    search_in(EXPLORE_DEPTH_FIRST, false, LONG);
    struct search_counts whole = outcome.search;
    for (int order = EXPLORE_DEPTH_FIRST; order <= EXPLORE_BREADTH_FIRST; order++) {
        forgetful = true;
        sweeps = 0;
        search_in(order, false, LONG);
        forgetful = false;
        assert_int_equal(outcome.verdict, VERDICT_HOLDS);
        assert_true(sweeps > 1);
        assert_true(outcome.search.states == whole.states);
        assert_true(outcome.search.transitions == whole.transitions);
    }
    for (refused_in = 100000; refused_in > 3000; refused_in -= 1500) {
        int wanted = refused_in;
        forgetful = true;
        search_in(EXPLORE_DEPTH_FIRST, false, TEXT);
        forgetful = false;
        assert_int_equal(outcome.verdict, refused_in == 0 ? VERDICT_LIMIT : VERDICT_HOLDS);
        refused_in = wanted;
    }
    refused_in = -1;
}

/* Subsumption gives fewer states and the same verdicts. Without budgets it leaves out no state. */
static void test_subsumed_states_hide_nothing(void **state)
{
    (void)state;
    static const char TEXT[] = PAIR "explore loss<=2 cancel<=1 total<=2\n----\n";
    static const char *const RECIPES[] = {RECIPE_DEFAULT, "broken-no-sort", "broken-waits-for-absent",
                                          "broken-cancel-leaks", "broken-no-protection"};
    for (size_t i = 0; i < 2 * sizeof RECIPES / sizeof RECIPES[0]; i++) {
        struct explore_options options = {.order = i & 1, .renaming = true, .out = folder};
        search(TEXT, RECIPES[i / 2], &options);
        enum verdict verdict = outcome.verdict;
        uint64_t all = outcome.search.states;
        unlink(outcome.trace);
        options.subsume = true;
        search(TEXT, RECIPES[i / 2], &options);
        unlink(outcome.trace);
        assert_int_equal(outcome.verdict, verdict);
        assert_int_equal(verdict, i < 2 ? VERDICT_HOLDS : VERDICT_VIOLATED);
        assert_true(i >= 2 || (outcome.search.states < all && outcome.search.states > all / 2));
    }
    search(PAIR "----\n", RECIPE_DEFAULT, &(struct explore_options){.out = folder});
    uint64_t all = outcome.search.states;
    search(PAIR "----\n", RECIPE_DEFAULT, &(struct explore_options){.subsume = true, .out = folder});
    assert_true(outcome.search.states == all); /* states without a budget subsume none */
}

/* No run can spend three cancels, so each waiting owner has a cancel left. */
static void test_a_cancel_that_is_left_does_not_hide_rest(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct explore_options options = {.order = i & 1, .subsume = i >= 2, .renaming = true, .out = folder};
        search(PAIR "explore cancel<=3\n----\n", "broken-waits-for-absent", &options);
        unlink(outcome.trace);
        assert_int_equal(outcome.verdict, VERDICT_VIOLATED);
        assert_true((outcome.stats.violated & CHECK_BIT(check_position("no_lost_wakeup"))) != 0);
    }
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int drop_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_orders_count_the_same),
        cmocka_unit_test(test_breadth_first_finds_the_shortest),
        cmocka_unit_test(test_limits_end_a_search),
        cmocka_unit_test(test_refused_memory_is_a_limit),
        cmocka_unit_test(test_what_is_forgotten_is_found_again),
        cmocka_unit_test(test_subsumed_states_hide_nothing),
        cmocka_unit_test(test_a_cancel_that_is_left_does_not_hide_rest),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
