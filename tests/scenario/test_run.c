/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Runs: what a command stands for in the world, what a run records, what random schedules depend on. */
#include "scenario/direct.h"
#include "scenario/expected_counts.h"
#include "scenario/random.h"
#include "scenario/recipes.h"

#include <lockstep/error.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct scenario scenario;

static void open_scenario(const char *text)
{
    struct input_error error;
    if (scenario_read_bytes(&scenario, "s", text, strlen(text), &error) != 0) {
        fail_msg("%s", error.text);
    }
}

static struct run_setup setup_of(const char *recipe)
{
    return (struct run_setup){.scenario = &scenario, .recipe = recipe_find(recipe)};
}

/* Every client verb and fault that the language has is the world's own: its label, read by the world, is the
 * action. */
static void commands_are_the_worlds_actions(void **state)
{
    (void)state;
    static const char *const LINES[] = {
        "a acquire x",
        "a acquire y owner=2 timeout=1500ms",
        "a try x",
        "a release y owner=1",
        "a stop",
        "cut a keep=0 apply=0 rc=-7",
        "partition a",
        "expire a",
        "pause a",
        "crash a",
        "fail-alloc a n=2",
        "fail-call a n=2",
        "freeze s2",
        "lag s2",
        "restart-server s1",
        "create /top perms=1",
        "remove /locks/x",
    };
    for (size_t i = 0; i < sizeof LINES / sizeof LINES[0]; i++) {
        char text[300];
        struct run run;
        struct action mine, theirs;
        const char *why = "";
        snprintf(text, sizeof text,
                 "world servers=3 used\nmutex /locks/x\nmutex /locks/y\nprocess a b\nsettle\n%s\n----\n",
                 LINES[i]);
        open_scenario(text);
        struct run_setup setup = setup_of("mutex");
        assert_int_equal(run_init(&run, &setup), 0);
        run_begin(&run, SCHEDULE_DIRECTED, 0);
        run_settle(&run);
        assert_int_equal(run_resolve(&run, &scenario.command[1], &mine), 0);
        if (world_find(run.world, LINES[i], &theirs, &why) != 0) {
            fail_msg("%s: %s", LINES[i], why);
        }
        assert_memory_equal(&mine, &theirs, sizeof mine);
        char label[WORLD_LABEL_MAX];
        world_label(run.world, &mine, label);
        assert_string_equal(label, LINES[i]);
        assert_int_equal(run_apply(&run, &mine), 0);
        run_close(&run);
        scenario_close(&scenario);
    }
}

static void a_run_records_its_choices(void **state)
{
    (void)state;
    open_scenario("mutex /locks/x\nprocess a\na acquire\nsettle\nrest\n----\n");
    struct run run;
    struct run_setup setup = setup_of("mutex");
    assert_int_equal(run_init(&run, &setup), 0);
    run.recording = true;
    run_begin(&run, SCHEDULE_DIRECTED, 0);
    direct_group(&run, &scenario.group[0]);
    assert_null(run_trouble(&run));
    assert_int_equal(run.steps, world_steps(run.world));
    assert_int_equal(run.choices, run.steps + 1);
    assert_string_equal(run.choice[0].label, "a acquire");
    assert_int_equal(run.choice[0].index, -1);
    assert_string_equal(run.choice[1].label, "advance");
    assert_true(run.choice[1].index >= 0);
    assert_string_equal(run.choice[run.choices - 1].label, TRACE_REST);
    int choices = run.choices;
    run_begin(&run, SCHEDULE_DIRECTED, 0);
    assert_int_equal(run.choices, 0);
    direct_group(&run, &scenario.group[0]);
    assert_int_equal(run.choices, choices);
    run_close(&run);
    scenario_close(&scenario);
}

static void what_cannot_be_done_is_told(void **state)
{
    (void)state;
    open_scenario(
        "mutex /locks/x\nprocess a\na cancel\nresume a\nafter deliver a set-reply\ndo bury a\nrest\n----\n");
    struct run run;
    struct run_setup setup = setup_of("mutex");
    assert_int_equal(run_init(&run, &setup), 0);
    run.narrator = narrator_open(&scenario, SHOW_DEFAULT, true, 0);
    run_begin(&run, SCHEDULE_DIRECTED, 0);
    direct_group(&run, &scenario.group[0]);
    assert_non_null(strstr(narrator_text(run.narrator), "[    0ms] - cannot   a cancel\n"));
    assert_non_null(strstr(narrator_text(run.narrator), "[    0ms] - cannot   resume a\n"));
    assert_non_null(strstr(narrator_text(run.narrator), "- never    deliver a set-reply\n"));
    assert_non_null(strstr(narrator_text(run.narrator), "- cannot   bury a\n"));
    assert_null(strstr(narrator_text(run.narrator), "not-at-rest"));
    narrator_close(run.narrator);
    run_close(&run);
    scenario_close(&scenario);
}

static void before_stops_where_it_says(void **state)
{
    (void)state;
    open_scenario("world used\nmutex /locks/x\nprocess a\na acquire\nbefore deliver a create-reply\n----\n"
                  "\nafter deliver a list-reply\nrest\n----\n");
    struct run run;
    struct run_setup setup = setup_of("mutex");
    struct action action;
    const char *why;
    assert_int_equal(run_init(&run, &setup), 0);
    run.narrator = narrator_open(&scenario, SHOW_DEFAULT, true, 0);
    run_begin(&run, SCHEDULE_DIRECTED, 0);
    direct_group(&run, &scenario.group[0]);
    assert_int_equal(world_find(run.world, "deliver a create-reply", &action, &why), 0);
    assert_string_equal(narrator_text(run.narrator), "");
    direct_group(&run, &scenario.group[1]);
    assert_int_equal(world_find(run.world, "deliver a list-reply", &action, &why), LS_ENOENT);
    assert_non_null(strstr(narrator_text(run.narrator), "a held"));
    narrator_close(run.narrator);
    run_close(&run);
    scenario_close(&scenario);
}

/* Same seed, same run: by the labels of its choices. */
static char *labels_of(struct run *run, uint64_t seed)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    run->recording = true;
    random_one(run, seed);
    for (int i = 0; i < run->choices; i++) {
        fprintf(file, "%d %s\n", run->choice[i].index, run->choice[i].label);
    }
    fclose(file);
    return text;
}

static void random_runs_depend_on_the_seed_alone(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {
        "mutex /locks/x\nprocess a b\na acquire\nb acquire\nsettle\ncut a\na release\nexpire "
        "b\nsettle\n----\n",
        "world servers=3\nmutex /locks/x\nprocess a b c: acquire release\nexplore loss<=1 expire<=1 lag<=1 "
        "crash<=1 "
        "pause<=1\n----\n",
    };
    for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++) {
        struct run run;
        int different = 0;
        open_scenario(TEXTS[i]);
        struct run_setup setup = setup_of("mutex");
        setup.schedule = SCHEDULE_UNIFORM;
        assert_int_equal(run_init(&run, &setup), 0);
        for (uint64_t seed = 1; seed <= 20; seed++) {
            char *first = labels_of(&run, seed), *other = labels_of(&run, seed + 20),
                 *again = labels_of(&run, seed);
            assert_string_equal(first, again);
            different += strcmp(first, other) != 0;
            assert_true(world_at_rest(run.world));
            assert_false(run_violated(&run));
            free(first);
            free(other);
            free(again);
        }
        assert_true(different >= 18);
        run_close(&run);
        scenario_close(&scenario);
    }
}

/* Recording must not change what happens. */
static void recording_changes_nothing(void **state)
{
    (void)state;
    struct run run;
    open_scenario("mutex /locks/x\nprocess a b: acquire release\nexplore loss<=1 expire<=1\n----\n");
    struct run_setup setup = setup_of("mutex");
    setup.schedule = SCHEDULE_UNIFORM;
    assert_int_equal(run_init(&run, &setup), 0);
    for (uint64_t seed = 1; seed <= 50; seed++) {
        run.recording = false;
        random_one(&run, seed);
        uint64_t plain = world_fingerprint(run.world);
        uint64_t steps = run.steps;
        run.recording = true;
        random_one(&run, seed);
        uint64_t recorded = world_fingerprint(run.world);
        assert_int_equal(run.steps, steps);
        assert_true(plain == recorded);
    }
    run_close(&run);
    scenario_close(&scenario);
}

static void a_broken_recipe_is_caught(void **state)
{
    (void)state;
    static struct outcome outcome;
    char folder[] = "/tmp/lockstep-run-XXXXXX";
    assert_non_null(mkdtemp(folder));
    open_scenario(
        "mutex /locks/x\nprocess a b: acquire release\nexplore loss<=1\n----\nholds no_orphan_node\n");
    struct run_setup setup = setup_of("broken-no-protection");
    random_run(&setup, 1, 1000, folder, &outcome);
    int orphan = check_position("no_orphan_node");
    assert_int_equal(outcome.verdict, VERDICT_VIOLATED);
    assert_true(outcome.stats.violated >> orphan & 1);
    assert_int_equal(outcome_verdict(&outcome, orphan), CHECK_VIOLATED);
    assert_int_equal(outcome.stats.finding[orphan].step, outcome.last_steps);
    struct trace trace;
    struct input_error error;
    assert_int_equal(trace_read(&trace, outcome.trace, &error), 0);
    assert_string_equal(trace.recipe, "broken-no-protection");
    assert_int_equal(trace.seed, outcome.seed);
    assert_non_null(strstr(trace.found, "no_orphan_node"));
    trace_close(&trace);
    remove(outcome.trace);
    assert_int_equal(remove(folder), 0);
    scenario_close(&scenario);
}

/* Where a state was compared as it is, the number of states says nothing. */
static void a_count_needs_renamed_states(void **state)
{
    (void)state;
    static struct outcome outcome;
    memset(&outcome, 0, sizeof outcome);
    open_scenario("world used\nmutex /l/x\nprocess a: acquire\n----\nholds at_most_one_holder\nstates 7\n");
    outcome.search.states = 7;
    assert_true(counts_are_expected(&outcome, &scenario));
    outcome.search.unrenamed = 1;
    assert_false(counts_are_expected(&outcome, &scenario));
    scenario_close(&scenario);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_are_the_worlds_actions),
        cmocka_unit_test(a_run_records_its_choices),
        cmocka_unit_test(what_cannot_be_done_is_told),
        cmocka_unit_test(before_stops_where_it_says),
        cmocka_unit_test(random_runs_depend_on_the_seed_alone),
        cmocka_unit_test(recording_changes_nothing),
        cmocka_unit_test(a_broken_recipe_is_caught),
        cmocka_unit_test(a_count_needs_renamed_states),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
