/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A world of an exploring scenario. The test takes steps, in place of a search. Included by one file of
 * each program. */
#ifndef TESTS_SIM_SEARCHED_H
#define TESTS_SIM_SEARCHED_H

#include "scenario/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct scenario scenario;
static struct run run;

/* Begins a run. `header` has further header lines, the processes among them, without a final line end. */
static void begin_with(const struct ls_recipe *recipe, const char *header)
{
    static struct run_setup setup;
    static char text[400];
    struct input_error error;
    snprintf(text, sizeof text, "world used\nmutex /locks/x\n%s\n----\n", header);
    if (scenario_read_bytes(&scenario, "s", text, strlen(text), &error) != 0) {
        fail_msg("%s", error.text);
    }
    setup = (struct run_setup){.scenario = &scenario, .recipe = recipe, .schedule = SCHEDULE_SEARCH};
    assert_int_equal(run_init(&run, &setup), 0);
    run_begin(&run, SCHEDULE_SEARCH, 1);
}

static void end(void)
{
    run_close(&run);
    scenario_close(&scenario);
}

/* Returns the enabled action with this label, or NULL. The action is valid until the next call. */
static const struct action *find(const char *label)
{
    static struct action actions[WORLD_ACTIONS_MAX];
    char found[WORLD_LABEL_MAX];
    int count = world_actions(run.world, actions);
    for (int i = 0; i < count; i++) {
        world_label(run.world, &actions[i], found);
        if (strcmp(found, label) == 0) {
            return &actions[i];
        }
    }
    return NULL;
}

#endif
