/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Workers: one that dies is told and costs its own scenario only; the others are reported in order. */
#include "cli/cli.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

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

/* Owner 1 dies of a signal, owner 2 leaves, the others, which only try, are told that the lock is busy. */
static int acquire(void *state, int lock, int owner, int timeout_ms)
{
    (void)state;
    (void)lock;
    (void)timeout_ms;
    if (owner == 1) {
        abort();
    }
    if (owner == 2) {
        _Exit(7);
    }
    return -3; /* LS_EBUSY */
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

static const struct ls_recipe FRAGILE = {.name = "fragile",
                                         .summary = "dies",
                                         .state_size = 8,
                                         .start = start,
                                         .stop = stop,
                                         .acquire = acquire,
                                         .cancel = refuse,
                                         .release = refuse,
                                         .query = query};

#define JOBS 6
static int reported[JOBS];
static int reports;

static void on_report(void *ctx, const struct cli_job *job)
{
    reported[reports++] = (int)(job - (const struct cli_job *)ctx);
}

static void open_job(struct cli_job *job, int owner)
{
    char text[200];
    struct input_error error;
    snprintf(text, sizeof text,
             "mutex /locks/x\nprocess a\na try owner=%d\n----\n[    0ms] a failed   %src=busy\n", owner,
             owner > 0 ? "owner=3 " : "");
    if (scenario_read_bytes(&job->scenario, "s", text, strlen(text), &error) != 0) {
        fail_msg("%s", error.text);
    }
}

static void a_dead_worker_costs_one_scenario(void **state)
{
    (void)state;
    static const int OWNERS[JOBS] = {0, 1, 3, 2, 0, 3};
    struct cli_job jobs[JOBS];
    struct cli_options options = {
        .found_recipe = &FRAGILE, .recipe_given = true, .out = "/nonexistent", .jobs = 3};
    memset(jobs, 0, sizeof jobs);
    for (int i = 0; i < JOBS; i++) {
        open_job(&jobs[i], OWNERS[i]);
    }
    assert_int_equal(cli_run_jobs(&options, jobs, JOBS, on_report, jobs), JOBS);
    assert_int_equal(reports, JOBS);
    for (int i = 0; i < JOBS; i++) {
        assert_int_equal(reported[i], i);
        enum verdict wanted = OWNERS[i] == 1 || OWNERS[i] == 2 ? VERDICT_ERROR : VERDICT_HOLDS;
        assert_int_equal(jobs[i].outcome->verdict, wanted);
        scenario_close(&jobs[i].scenario);
    }
    /* Another worker has done it under a guard and says which step that was. Its trace cannot be replayed: this recipe has no name there. */
    assert_true(jobs[1].guarded);
    assert_non_null(strstr(jobs[1].outcome->text, "a misbehaved crash SIGABRT"));
    assert_string_equal(jobs[3].outcome->text, "  the worker ended with status 7\n");
    assert_string_equal(jobs[0].outcome->text, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dead_worker_costs_one_scenario),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
