/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Directed runs: execute the commands of a scenario in order, and compare the observed trace with the
 * expected one. */
#ifndef SCENARIO_DIRECT_H
#define SCENARIO_DIRECT_H

#include "scenario/outcome.h"

/* Applies the commands of a group, in order, until run_trouble() returns a reason. A command that is not
 * possible adds a line to the story, and the run goes on. */
void direct_group(struct run *run, const struct scenario_group *group);

struct direct_options {
    const char *out; /* folder for traces; NULL = write none */
    bool rewrite;    /* write the observed trace into the file, unless rewrite() in direct.c refuses */
    void (*watch)(void *ctx, const struct run *run,
                  const struct action *action); /* see struct run; may be NULL */
    void (*watch_event)(void *ctx, const struct event *event);
    void *watch_ctx;
};

/* Runs and judges the scenario. If the verdict is `violated` or `differs`, and `out` is set, writes a trace
 * file. */
void direct_run(const struct run_setup *setup, const struct direct_options *options, struct outcome *outcome);

#endif
