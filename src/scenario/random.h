/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Random runs: schedules of a scenario that nobody wrote down.
 *
 * Of a directed scenario: its commands in order, with a random number of random actions of the system between
 * two of them. Of an exploring one: any enabled action, faults as far as the budgets allow. Every run ends
 * with all faults over and the world at rest. How a seed chooses the setup's plan says (strategy.h).
 *
 * PCT, after Burckhardt and others (2010). A run of n threads (of each process its program with its callbacks, its
 * timers, and the servers' work for it; each server; the operator) and k steps: all threads get random priorities, the first
 * enabled one goes on, and at depth - 1 steps drawn among k the one that has just been chosen falls behind all
 * others. A bug that needs `depth` orders of steps shows in one run with a probability of at least
 * 1 / (n k^(depth - 1)). Three things are drawn besides and multiply it: whether a step is a fault and which, which of
 * several steps of one thread it is, and in a directed scenario how far things go before its next command. k is
 * what the longest of eight plain runs takes; of longer runs the guarantee is about their first k steps. */
#ifndef SCENARIO_RANDOM_H
#define SCENARIO_RANDOM_H

#include "scenario/outcome.h"

/* The schedule that a seed stands for. */
enum schedule random_schedule(const struct strategy_plan *plan, uint64_t seed);

/* Does the run with this seed by the plan of the setup; the run has been initialised for the scenario. Returns
 * the number of commands that could not be applied. */
int random_one(struct run *run, uint64_t seed);

/* Runs the seeds first … first + count - 1 until one violates a property, which is then run again with its
 * choices recorded and written as a trace below `out`. */
void random_run(const struct run_setup *setup, uint64_t first, uint64_t count, const char *out,
                struct outcome *outcome);

/* Behind a violation in random_run(): runs the same seeds again for each property that is not violated yet, until no further one
 * is. The mistake behind a violation may violate other properties in other runs. */
void random_find_others(const struct run_setup *setup, uint64_t first, uint64_t count,
                        struct outcome *outcome);

/* Of an exploring scenario: schedules that hold are a limit, unless they have shown all that the file says is violated. */
void random_judge_exploring(const struct scenario *scenario, struct outcome *outcome);

#endif
