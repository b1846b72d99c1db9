/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A recipe that never returns costs one scenario, also in the middle of a search. */
#include "cli/cli.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static int start(void *state, struct ls_env *env, const struct ls_recipe_config *config)
{
    (void)state;
    (void)env;
    (void)config;
    return 0;
}

static void stop(void *state)
{
    (void)state;
}

/* The third owner never gets an answer. */
static int acquire(void *state, int lock, int owner, int timeout_ms)
{
    (void)state;
    (void)lock;
    (void)timeout_ms;
    volatile int patience = owner == 2 ? 1 : 0;
    while (patience > 0) {
#ifdef __SANITIZE_THREAD__
        for (volatile int i = 0; i < 1000000; i++) {
        }
        usleep(0); /* that sanitizer lets signals wait for a call of the library */
#endif
    }
    return -3;
}

static int refuse(void *state, int lock, int owner)
{
    (void)state;
    (void)lock;
    (void)owner;
    return -6;
}

static enum ls_belief query(const void *state, int lock, int owner)
{
    (void)state;
    (void)lock;
    (void)owner;
    return LS_NOT_HELD;
}

static const struct ls_recipe STUBBORN = {.name = "stubborn",
                                          .summary = "never returns",
                                          .state_size = 8,
                                          .start = start,
                                          .stop = stop,
                                          .acquire = acquire,
                                          .cancel = refuse,
                                          .release = refuse,
                                          .query = query};

static void on_report(void *ctx, const struct cli_job *job)
{
    (void)job;
    ++*(int *)ctx;
}

static void a_step_that_does_not_end_ends_its_search(void **state)
{
    (void)state;
    /* It says "busy" without a try: with all properties the search would end at that, and begin another one. */
    static const char *const TEXTS[] = {"mutex /l/x\nprocess a: acquire acquire owner=1 acquire owner=2\n"
                                        "properties at_most_one_holder\n----\n",
                                        "mutex /l/x\nprocess a b: acquire acquire owner=1\n"
                                        "properties at_most_one_holder\n----\n"};
    struct cli_job jobs[2];
    struct cli_options options = {
        .found_recipe = &STUBBORN, .recipe_given = true, .out = "/nonexistent", .jobs = 1};
    struct input_error error;
    int reports = 0;
    memset(jobs, 0, sizeof jobs);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(scenario_read_bytes(&jobs[i].scenario, "s", TEXTS[i], strlen(TEXTS[i]), &error), 0);
    }
    assert_int_equal(cli_run_jobs(&options, jobs, 2, on_report, &reports), 2);
    assert_int_equal(reports, 2);
    assert_int_equal(jobs[0].outcome->verdict, VERDICT_ERROR);
    assert_string_equal(jobs[0].outcome->text,
                        "  a step does not end: the recipe has used 10 s of processor time in it\n");
    assert_true(jobs[0].outcome->search.states > 1); /* what it did until then is still there */
    assert_int_equal(jobs[1].outcome->verdict, VERDICT_HOLDS);
    scenario_close(&jobs[0].scenario);
    scenario_close(&jobs[1].scenario);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_step_that_does_not_end_ends_its_search)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
