/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Directed runs: the commands of a scenario one after the other, and its text with what was seen. */
#ifndef SCENARIO_DIRECT_H
#define SCENARIO_DIRECT_H

#include "scenario/outcome.h"

/* Applies the commands of a group. A command that cannot be done leaves a line in the story and the run goes
 * on: with a broken recipe the interesting part may still come. */
void direct_group(struct run *run, const struct scenario_group *group);

/* What a directed run needs besides its setup. */
struct direct_options {
    const char *out; /* folder for traces; NULL = write none */
    bool rewrite;    /* write what was seen into the file, unless a property is violated */
    void (*watch)(void *ctx, const struct run *run,
                  const struct action *action); /* see struct run; may be NULL */
    void (*watch_event)(void *ctx, const struct event *event);
    void *watch_ctx;
};

/* Runs the scenario, compares, judges, and writes a trace if something is wrong. */
void direct_run(const struct run_setup *setup, const struct direct_options *options, struct outcome *outcome);

#endif
