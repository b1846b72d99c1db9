/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* One run of a scenario as a trace in memory, whether it violates something or not. */
#ifndef SCENARIO_RECORD_H
#define SCENARIO_RECORD_H

#include "scenario/run.h"

#define RECORD_NOTHING "nothing" /* `found` of a run that violates no property */

/* Runs a directed scenario, or the random schedule of setup->seed for an exploring one. Makes the trace of
 * the whole run. The caller closes the trace. Returns 0; or -1 with the complaint in *error and nothing to
 * close. */
int record_run(const struct run_setup *setup, struct trace *trace, struct input_error *error);

#endif
