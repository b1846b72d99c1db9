/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A shrunk trace shows the same violation in a run that the scenario allows; it cannot be shrunk further. */
#include "replay/drop_process.h"
#include "replay/replay.h"
#include "replay/shrink.h"
#include "replay/shrink_bfs.h"
#include "scenario/random.h"
#include "scenario/recipes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char TWO[] =
    "world used\nmutex /locks/x\nprocess a b: acquire release\nexplore loss<=1 expire<=1\n----\n";
static const char THREE[] = "world used\nmutex /locks/x\nprocess a: acquire release\nprocess b c: acquire "
                            "release\nexplore loss<=1\n----\n";
static const char DIRECTED[] = "world used\nmutex /locks/x\nprocess a b\na acquire\nb acquire\n"
                               "cut a keep=0 apply=1\nsettle\nb release\na release\nsettle\nrest\n----\n";

static const char LONG[] =
    "world used\nmutex /locks/x\nprocess a b c d e f\na acquire\nb acquire\nc acquire\n"
    "d acquire\ne acquire\nf acquire\nsettle\n----\n";

/* A trace of the first violation by random schedules, read. */
static void record(struct trace *trace, const char *text, const char *recipe)
{
    static struct outcome outcome;
    struct scenario scenario;
    struct input_error error;
    char folder[] = "/tmp/lockstep-shrink-XXXXXX";
    assert_non_null(mkdtemp(folder));
    assert_int_equal(scenario_read_bytes(&scenario, "t.scn", text, strlen(text), &error), 0);
    struct run_setup setup = {.scenario = &scenario, .recipe = recipe_find(recipe)};
    memset(&outcome, 0, sizeof outcome);
    random_run(&setup, 1, 1000, folder, &outcome);
    assert_int_equal(outcome.verdict, VERDICT_VIOLATED);
    assert_int_equal(trace_read(trace, outcome.trace, &error), 0);
    remove(outcome.trace);
    remove(folder);
    scenario_close(&scenario);
}

static void shrink(const struct trace *trace, const struct shrink_options *options, enum shrink_result wanted,
                   struct shrunk *shrunk)
{
    struct input_error error = {.text = ""};
    enum shrink_result result = shrink_trace(trace, options, shrunk, &error);
    if (result != wanted) {
        fail_msg("expected %d, found %d: %s", wanted, result, error.text);
    }
}

static void read_again(struct trace *trace, const struct shrunk *shrunk)
{
    struct input_error error;
    assert_int_equal(trace_read_bytes(trace, "t", shrunk->bytes, shrunk->size, &error), 0);
}

/* What a replay of the shrunk trace tells. */
static void assert_told(const struct shrunk *shrunk, const char *text)
{
    struct trace trace;
    struct input_error error;
    char *told;
    size_t size;
    FILE *out = open_memstream(&told, &size);
    read_again(&trace, shrunk);
    assert_int_equal(replay_trace(&trace, out, &error), REPLAY_VIOLATED);
    fclose(out);
    if (!strstr(told, text)) {
        fail_msg("expected '%s' in:\n%s", text, told);
    }
    free(told);
    trace_close(&trace);
}

/* ---- what comes out ---- */

static void shorter_with_the_same_violation(void **state)
{
    (void)state;
    struct trace trace;
    struct shrunk shrunk;
    struct shrink_options options = {.property = "no_orphan_node"};
    record(&trace, TWO, "broken-no-protection");
    shrink(&trace, &options, SHRINK_DONE, &shrunk);
    assert_string_equal(shrunk.property->name, "no_orphan_node");
    assert_true(shrunk.after.steps < shrunk.before.steps);
    assert_int_equal(shrunk.after.faults, 1); /* it needs the lost answer, and nobody else */
    assert_int_equal(shrunk.after.processes, 1);
    assert_told(&shrunk, "\nno_orphan_node is violated at step ");
    free(shrunk.bytes);
    trace_close(&trace);
}

static void the_same_trace_gives_the_same_and_the_result_stays(void **state)
{
    (void)state;
    static const char *const RECIPES[] = {"broken-no-sort", "broken-no-protection",
                                          "broken-waits-for-absent"};
    struct shrink_options options = {0};
    for (size_t i = 0; i < sizeof RECIPES / sizeof RECIPES[0]; i++) {
        struct trace trace, again;
        struct shrunk first, second, third;
        record(&trace, TWO, RECIPES[i]);
        shrink(&trace, &options, SHRINK_DONE, &first);
        shrink(&trace, &options, SHRINK_DONE, &second);
        assert_string_equal(first.bytes, second.bytes);
        read_again(&again, &first);
        shrink(&again, &options, SHRINK_DONE, &third);
        assert_string_equal(first.bytes, third.bytes);
        free(first.bytes);
        free(second.bytes);
        free(third.bytes);
        trace_close(&again);
        trace_close(&trace);
    }
}

/* Tried here anew: each choice is left out, and the rest followed. */
static void assert_minimal(const char *text, const char *recipe)
{
    struct trace trace, small;
    struct shrunk shrunk;
    struct shrink_options options = {0};
    struct attempt attempt;
    struct attempt_list all, less, out;
    struct input_error error;
    record(&trace, text, recipe);
    shrink(&trace, &options, SHRINK_DONE, &shrunk);
    read_again(&small, &shrunk);
    assert_int_equal(attempt_open(&attempt, &small, &error), 0);
    attempt.position = check_position(shrunk.property->name);
    assert_int_equal(attempt_list_init(&attempt, &all), 0);
    assert_int_equal(attempt_list_init(&attempt, &less), 0);
    assert_int_equal(attempt_list_init(&attempt, &out), 0);
    assert_int_equal(attempt_list_trace(&attempt, &all), 0);
    struct attempt_how plain = {0};
    assert_true(attempt_follow(&attempt, &all, plain, attempt.room, &out));
    assert_int_equal(out.steps, shrunk.after.steps);
    assert_int_equal(out.faults, shrunk.after.faults);
    for (int without = 0; without < all.count; without++) {
        less.count = 0;
        for (int i = 0; i < all.count; i++) {
            if (i != without) {
                attempt_list_add(&less, &all.choice[i]);
            }
        }
        assert_false(attempt_follow(&attempt, &less, plain, attempt.room, &out));
    }
    attempt_list_close(&all);
    attempt_list_close(&less);
    attempt_list_close(&out);
    attempt_close(&attempt);
    free(shrunk.bytes);
    trace_close(&small);
    trace_close(&trace);
}

static void no_choice_can_be_left_out(void **state)
{
    (void)state;
    assert_minimal(TWO, "broken-waits-for-absent");
    assert_minimal(DIRECTED, "broken-no-protection");
    assert_minimal(LONG, "broken-busy-wait");
}

static void who_is_not_needed_is_not_declared(void **state)
{
    (void)state;
    struct trace trace;
    struct shrunk shrunk;
    struct shrink_options options = {.property = "no_orphan_node"};
    record(&trace, THREE, "broken-no-protection");
    shrink(&trace, &options, SHRINK_DONE, &shrunk);
    assert_int_equal(shrunk.after.processes, 1);
    const char *line = strstr(shrunk.bytes, "\n| process ");
    assert_non_null(line);
    assert_memory_equal(line + sizeof "\n| process x" - 1, ": acquire release\n", 18); /* one name */
    assert_null(strstr(line + 1, "\n| process "));
    assert_told(&shrunk, "\nno_orphan_node is violated at step ");
    free(shrunk.bytes);
    trace_close(&trace);
}

/* Of a script any part is a script. */
static void commands_of_a_script_are_left_out(void **state)
{
    (void)state;
    struct trace trace;
    struct shrunk shrunk;
    struct shrink_options options = {.property = "no_orphan_node"};
    record(&trace, DIRECTED, "broken-no-protection");
    shrink(&trace, &options, SHRINK_DONE, &shrunk);
    const char *choices = strstr(shrunk.bytes, "\nchoices ");
    assert_non_null(choices);
    assert_null(strstr(choices, " release\n"));
    assert_non_null(strstr(choices, " a acquire\n"));
    assert_null(strstr(choices, " b acquire\n"));
    assert_told(&shrunk, "\nno_orphan_node is violated at step ");
    free(shrunk.bytes);
    trace_close(&trace);
}

/* A choice without what it needs before it is another program, and left out too. */
static void programs_are_followed_in_order(void **state)
{
    (void)state;
    static const char *const LABELS[] = {"a acquire owner=1", "a acquire", "cut a keep=0 apply=0 rc=-4",
                                         "deliver a sync-reply", "connect a s1"};
    static const char *const POSSIBLE[] = {"a acquire", "connect a s1"};
    static const char TEXT[] =
        "world used\nmutex /locks/x\nprocess a: acquire release acquire owner=1\nprocess b: "
        "acquire release\nexplore loss<=1\n----\n";
    struct trace trace;
    struct attempt attempt;
    struct attempt_list in, out;
    struct attempt_how plain = {0};
    struct input_error error;
    record(&trace, TEXT, "broken-no-sort");
    assert_int_equal(attempt_open(&attempt, &trace, &error), 0);
    assert_int_equal(attempt_list_init(&attempt, &in), 0);
    assert_int_equal(attempt_list_init(&attempt, &out), 0);
    for (size_t i = 0; i < sizeof LABELS / sizeof LABELS[0]; i++) {
        struct attempt_choice choice = {.label = attempt_intern(&attempt, LABELS[i])};
        attempt_list_add(&in, &choice);
    }
    assert_false(attempt_follow(&attempt, &in, plain, attempt.room, &out));
    assert_int_equal(out.count, sizeof POSSIBLE / sizeof POSSIBLE[0]);
    for (int i = 0; i < out.count; i++) {
        assert_string_equal(out.choice[i].label, POSSIBLE[i]);
    }
    attempt_list_close(&in);
    attempt_list_close(&out);
    attempt_close(&attempt);
    trace_close(&trace);
}

/* ---- limits and refusals ---- */

static bool at_once(void *ctx)
{
    ++*(int *)ctx;
    return true;
}

static void a_limit_gives_the_best_so_far(void **state)
{
    (void)state;
    struct trace trace;
    struct shrunk shrunk;
    int asked = 0;
    struct shrink_options stopped = {.stop = at_once, .ctx = &asked}, few = {.max_steps = 1};
    record(&trace, TWO, "broken-no-sort");
    shrink(&trace, &stopped, SHRINK_LIMIT, &shrunk);
    assert_true(asked > 0);
    assert_int_equal(shrunk.after.steps, shrunk.before.steps);
    assert_told(&shrunk, " is violated at step ");
    free(shrunk.bytes);
    shrink(&trace, &few, SHRINK_LIMIT, &shrunk);
    assert_told(&shrunk, " is violated at step ");
    free(shrunk.bytes);
    trace_close(&trace);
}

static void what_holds_cannot_be_shrunk(void **state)
{
    (void)state;
    struct trace trace;
    struct shrunk shrunk;
    struct shrink_options other = {.property = "bounded_work"}, any = {0};
    record(&trace, TWO, "broken-no-sort");
    shrink(&trace, &other, SHRINK_HOLDS, &shrunk);
    trace.choices = 3;
    shrink(&trace, &any, SHRINK_HOLDS, &shrunk);
    trace_close(&trace);
}

static void what_does_not_fit_is_told(void **state)
{
    (void)state;
    struct trace trace;
    struct shrunk shrunk;
    struct input_error error;
    struct shrink_options options = {0};
    record(&trace, TWO, "broken-no-sort");
    const char *label = trace.choice[2].label;
    trace.choice[2].label = "deliver b sync-reply";
    assert_int_equal(shrink_trace(&trace, &options, &shrunk, &error), SHRINK_UNFIT);
    assert_non_null(strstr(error.text, "possible at choice 3"));
    trace.choice[2].label = label;
    trace_close(&trace);
}

/* Nothing is possible only because its step of the program does not wait: labels do not say so. */
static void programs_that_do_not_wait_are_followed(void **state)
{
    (void)state;
    static const char TEXT[] =
        "world used\nmutex /locks/x\nprocess a: acquire owner=1 nowait acquire nowait release "
        "release owner=1\nprocess b: acquire release\nexplore loss<=1\n----\n";
    struct trace trace;
    struct shrunk shrunk;
    struct shrink_options options = {.property = "at_most_one_holder"};
    record(&trace, TEXT, "broken-no-sort");
    shrink(&trace, &options, SHRINK_DONE, &shrunk);
    assert_true(shrunk.after.steps < shrunk.before.steps);
    free(shrunk.bytes);
    trace_close(&trace);
}

/* A replay follows whatever can be done; a shorter run has to be one of the scenario's. */
static void what_the_scenario_does_not_allow_is_told(void **state)
{
    (void)state;
    struct trace trace, edited;
    struct shrunk shrunk;
    struct input_error error;
    struct shrink_options options = {.property = "no_orphan_node"};
    record(&trace, TWO, "broken-no-protection");
    shrink(&trace, &options, SHRINK_DONE, &shrunk);
    char *budget = strstr(shrunk.bytes, "loss<=1");
    assert_non_null(budget);
    budget[6] = '0';
    read_again(&edited, &shrunk);
    struct shrunk none;
    assert_int_equal(shrink_trace(&edited, &options, &none, &error), SHRINK_UNFIT);
    assert_non_null(strstr(error.text, "expected a choice that the scenario allows, found 'cut "));
    trace_close(&edited);
    free(shrunk.bytes);
    trace_close(&trace);
}

/* ---- around a run ---- */

static void open_around(struct trace *trace, struct attempt *attempt, struct attempt_list *in,
                        struct attempt_list *out)
{
    struct input_error error;
    struct attempt_how plain = {0};
    record(trace, TWO, "broken-no-sort");
    assert_int_equal(attempt_open(attempt, trace, &error), 0);
    attempt->position = check_position("at_most_one_holder");
    assert_int_equal(attempt_list_init(attempt, in), 0);
    assert_int_equal(attempt_list_init(attempt, out), 0);
    assert_int_equal(attempt_list_trace(attempt, out), 0);
    assert_true(attempt_follow(attempt, out, plain, attempt->room, in));
}

static void close_around(struct trace *trace, struct attempt *attempt, struct attempt_list *in,
                         struct attempt_list *out)
{
    attempt_list_close(in);
    attempt_list_close(out);
    attempt_close(attempt);
    trace_close(trace);
}

static void the_shortest_run_is_found_and_none_is_shorter(void **state)
{
    (void)state;
    struct trace trace;
    struct attempt attempt;
    struct attempt_list in, out;
    struct around all = {.free = true};
    open_around(&trace, &attempt, &in, &out);
    assert_int_equal(around_search(&attempt, &in, all, in.count, &out), AROUND_FOUND);
    int shortest = out.count;
    assert_true(shortest < in.count);
    assert_int_equal(out.faults, 0);
    assert_int_equal(around_search(&attempt, &in, all, shortest, &out), AROUND_FOUND);
    assert_int_equal(out.count, shortest);
    assert_int_equal(around_search(&attempt, &in, all, shortest - 1, &out), AROUND_NONE);
    close_around(&trace, &attempt, &in, &out);
}

static void a_given_beginning_stays(void **state)
{
    (void)state;
    struct trace trace;
    struct attempt attempt;
    struct attempt_list in, out;
    open_around(&trace, &attempt, &in, &out);
    struct around how = {.from = in.count / 2, .faults = in.faults};
    assert_int_equal(around_search(&attempt, &in, how, in.count, &out), AROUND_FOUND);
    assert_true(out.count <= in.count && out.count > how.from);
    for (int i = 0; i < how.from; i++) {
        assert_string_equal(out.choice[i].label, in.choice[i].label);
    }
    close_around(&trace, &attempt, &in, &out);
}

/* ---- a text with one process less ---- */

static void assert_without(const char *text, const char *name, const char *wanted)
{
    size_t size = 0;
    char *found = without_process(text, strlen(text), name, &size);
    if (wanted) {
        assert_non_null(found);
        assert_string_equal(found, wanted);
        assert_int_equal(size, strlen(wanted));
    } else {
        assert_null(found);
    }
    free(found);
}

static void a_name_leaves_its_line(void **state)
{
    (void)state;
    assert_without("process a b c: acquire\n", "b", "process a c: acquire\n");
    assert_without("process a b\n", "a", "process b\n");
    assert_without("mutex /a\nprocess a: acquire\nprocess b: acquire\n", "a",
                   "mutex /a\nprocess b: acquire\n");
    assert_without("process b asleep: acquire\nprocess a\n", "b", "process a\n");
    assert_without("process ab a # b\n", "b", NULL);
    assert_without("process ab a # b\n", "a", "process ab # b\n");
    assert_without("process a: acquire b\n", "acquire", NULL);
    assert_without("mutex /a as process\n", "process", NULL);
    assert_without("  process a", "a", "");
    assert_without("process a b owner=1: acquire\nprocess a owner=2: try\n# a\n", "a",
                   "process b owner=1: acquire\n# a\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shorter_with_the_same_violation),
        cmocka_unit_test(the_same_trace_gives_the_same_and_the_result_stays),
        cmocka_unit_test(no_choice_can_be_left_out),
        cmocka_unit_test(who_is_not_needed_is_not_declared),
        cmocka_unit_test(commands_of_a_script_are_left_out),
        cmocka_unit_test(programs_are_followed_in_order),
        cmocka_unit_test(a_limit_gives_the_best_so_far),
        cmocka_unit_test(what_holds_cannot_be_shrunk),
        cmocka_unit_test(what_does_not_fit_is_told),
        cmocka_unit_test(programs_that_do_not_wait_are_followed),
        cmocka_unit_test(what_the_scenario_does_not_allow_is_told),
        cmocka_unit_test(the_shortest_run_is_found_and_none_is_shorter),
        cmocka_unit_test(a_given_beginning_stays),
        cmocka_unit_test(a_name_leaves_its_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
