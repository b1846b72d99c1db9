/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The steps of a replay as JSON objects: for `lockstep replay --json`, and for the page of a run. docs/cli.md
 * lists their fields. */
#ifndef REPORT_STEPS_H
#define REPORT_STEPS_H

#include "report/state_text.h"
#include "sim/remark.h"

#define STEPS_FORMAT 1 /* grows when a field changes its meaning or goes away */

struct cJSON;

/* Data that the steps of one replay share. Zero at first. */
struct steps {
    const struct trace *trace;
    struct run *run;
    struct state_view view;
    int count;                  /* steps so far */
    struct coord_detail detail; /* of the next step's action */
};

/* Begins; `trace` and `run` must outlive the steps. steps_close() frees the data. Returns the object about
 * the whole run, which the caller deletes; NULL if memory is short. */
struct cJSON *steps_head(struct steps *steps, const struct trace *trace, struct run *run);

/* Looks at a choice before it is made. Call it as `choice` of the replay's listener. */
void steps_choice(struct steps *steps, const struct replay_step *step);

/* Returns the object of a step, with the state after it and the choices that are possible then. The caller
 * deletes the object. NULL if memory is short. */
struct cJSON *steps_step(struct steps *steps, const struct replay_step *step);

/* Returns the object about the end of the run: its number of actions, its trouble if it has one, and its
 * violations. The caller deletes the object. NULL if memory is short. */
struct cJSON *steps_end(const struct steps *steps);

void steps_close(struct steps *steps);

#endif
