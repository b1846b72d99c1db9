/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Random runs: schedules of a scenario that nobody wrote down.
 *
 * Of a directed scenario: its commands in order, with a random number of random actions of the system between
 * two of them. Of an exploring one: any enabled action, faults as far as the budgets allow. Every run ends
 * with all faults over and the world at rest. Odd seeds choose uniformly, even ones by priorities (PCT). */
#ifndef SCENARIO_RANDOM_H
#define SCENARIO_RANDOM_H

#include "scenario/outcome.h"

/* The schedule that a seed stands for. */
enum schedule random_schedule(uint64_t seed);

/* Does the run with this seed; the run has been initialised for the scenario. Returns the number of commands
 * that could not be applied. */
int random_one(struct run *run, uint64_t seed);

/* Runs the seeds first … first + count - 1 until one violates a property, which is then run again with its
 * choices recorded and written as a trace below `out`. */
void random_run(const struct run_setup *setup, uint64_t first, uint64_t count, const char *out,
                struct outcome *outcome);

#endif
