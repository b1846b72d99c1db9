/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A replay is the same run; a trace that does not fit is told where it drifts. */
#include "replay/replay.h"
#include "scenario/random.h"
#include "scenario/recipes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char SCENARIO[] = "mutex /locks/x\nprocess a b: acquire release\nexplore loss<=1\n----\n";

/* A trace of the first violation of the broken recipe, as bytes. */
static char *record(size_t *size)
{
    static struct outcome outcome;
    struct scenario scenario;
    struct input_error error;
    char folder[] = "/tmp/lockstep-replay-XXXXXX", *bytes;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(scenario_read_bytes(&scenario, "two.scn", SCENARIO, sizeof SCENARIO - 1, &error), 0);
    struct run_setup setup = {.scenario = &scenario, .recipe = recipe_find("broken-no-protection")};
    memset(&outcome, 0, sizeof outcome);
    random_run(&setup, 1, 1000, folder, &outcome);
    assert_int_equal(outcome.verdict, VERDICT_VIOLATED);
    FILE *file = fopen(outcome.trace, "rb");
    assert_non_null(file);
    bytes = calloc(1, 1 << 16);
    *size = fread(bytes, 1, (1 << 16) - 1, file);
    fclose(file);
    remove(outcome.trace);
    remove(folder);
    scenario_close(&scenario);
    return bytes;
}

static enum replay_result replay(const char *bytes, char **told, struct input_error *error)
{
    struct trace trace;
    size_t size;
    FILE *out = open_memstream(told, &size);
    assert_int_equal(trace_read_bytes(&trace, "t", bytes, strlen(bytes), error), 0);
    enum replay_result result = replay_trace(&trace, out, error);
    trace_close(&trace);
    fclose(out);
    return result;
}

static void the_same_run_again(void **state)
{
    (void)state;
    size_t size;
    char *bytes = record(&size), *first, *second;
    struct input_error error;
    assert_int_equal(replay(bytes, &first, &error), REPLAY_VIOLATED);
    assert_int_equal(replay(bytes, &second, &error), REPLAY_VIOLATED);
    assert_string_equal(first, second);
    assert_non_null(strstr(first, "scenario two.scn\nrecipe   broken-no-protection\n"));
    assert_non_null(strstr(first, "\n    1  "));
    assert_non_null(strstr(first, "       ! no_orphan_node: "));
    assert_non_null(strstr(first, "\nno_orphan_node is violated at step "));
    free(first);
    free(second);
    free(bytes);
}

/* The integers are a cache: wrong ones change nothing. */
static void the_label_is_the_truth(void **state)
{
    (void)state;
    size_t size;
    char *bytes = record(&size), *first, *second;
    struct input_error error;
    assert_int_equal(replay(bytes, &first, &error), REPLAY_VIOLATED);
    for (char *at = strstr(bytes, "\nchoices "); (at = strchr(at + 1, '\n')) != NULL;) {
        if (at[1] >= '0' && at[1] <= '8') {
            at[1]++;
        }
    }
    assert_int_equal(replay(bytes, &second, &error), REPLAY_VIOLATED);
    assert_string_equal(first, second);
    free(first);
    free(second);
    free(bytes);
}

static char *change(const char *bytes, const char *from, const char *to)
{
    char *changed = calloc(1, strlen(bytes) + strlen(to) + 1), *at = strstr(bytes, from);
    assert_non_null(at);
    memcpy(changed, bytes, (size_t)(at - bytes));
    strcat(changed, to);
    strcat(changed, at + strlen(from));
    return changed;
}

static void expect_unfit(const char *bytes, const char *from, const char *to, const char *complaint)
{
    char *changed = change(bytes, from, to), *told;
    struct input_error error;
    assert_int_equal(replay(changed, &told, &error), REPLAY_UNFIT);
    if (!strstr(error.text, complaint)) {
        fail_msg("expected '%s', found '%s'", complaint, error.text);
    }
    free(told);
    free(changed);
}

static void drift_is_located(void **state)
{
    (void)state;
    size_t size;
    char *bytes = record(&size);
    expect_unfit(bytes, "broken-no-protection", "no-such-recipe",
                 "t:3:8: expected a recipe (see lockstep list recipes), found 'no-such-recipe'");
    expect_unfit(bytes, "schedule ", "schedule x",
                 "t:4:10: expected directed, uniform, pct, swarm or search, found 'x");
    expect_unfit(bytes, "| mutex /locks/x", "| mutex locks/x", "t:8:9: expected an absolute path");
    expect_unfit(bytes, " connect a s1\n", " connect a s2\n", "(connect a s1, ");
    expect_unfit(bytes, " connect a s1\n", " connect a s2\n", "found 'connect a s2'");
    expect_unfit(bytes, " connect a s1\n", " jump\n", "found 'jump': ");
    free(bytes);
}

static void a_sound_recipe_does_not_fit_or_holds(void **state)
{
    (void)state;
    static const char BYTES[] =
        "lockstep-trace 1\ntool 0\nrecipe mutex\nschedule directed\nseed 0\nfound difference\n"
        "scenario 4 x\n| mutex /locks/x\n| process a\n| settle\n| ----\n"
        "choices 3\n0 advance\n0 connect a s1\n0 deliver a session-connected\nend 3\n";
    struct input_error error;
    char *told;
    assert_int_equal(replay(BYTES, &told, &error), REPLAY_HOLDS);
    assert_string_equal(told, "scenario x\nrecipe   mutex\nschedule directed, seed 0\nfound    difference\n\n"
                              "    1  advance\n"
                              "    2  connect a s1\n"
                              "       [   40ms] a session-opened session=1\n"
                              "    3  deliver a session-connected\n"
                              "       [   40ms] a link-up  session=1\n"
                              "       [   40ms] a connected session=1\n"
                              "\nno property is violated in 3 steps\n");
    free(told);
    expect_unfit(BYTES, "0 deliver a session-connected", "- rest", "t:15:1: expected one of the ");
    expect_unfit(BYTES, "0 deliver a session-connected", "- rest", "the world is not at rest");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_run_again),
        cmocka_unit_test(the_label_is_the_truth),
        cmocka_unit_test(drift_is_located),
        cmocka_unit_test(a_sound_recipe_does_not_fit_or_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
