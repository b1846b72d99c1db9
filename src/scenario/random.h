/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Random runs: schedules drawn from a seed.
 *
 * A directed scenario runs its commands in order, without `before`, `after`, `do`, and `advance` by less than
 * a session timeout. Between two commands there is a random number of random system actions; in a swarm, also
 * of faults. An exploring scenario runs any enabled action, with faults within its budgets. If a run violates
 * no property and meets no limit, all faults end at its end, the default schedule runs until rest, and
 * properties at rest are judged. The setup's plan says how a seed chooses (random_strategy.h).
 *
 * PCT, after Burckhardt and others (2010), has n threads and k steps. Each process has three threads: its
 * program with its callbacks, its timers, and the servers' work for it. Each server and the operator are
 * threads too. All threads get random priorities, and the enabled thread of the highest priority goes on. At
 * depth - 1 steps drawn among k, the thread just chosen falls behind all threads that have not fallen. A bug
 * that needs `depth` ordered steps shows in one run with a probability of at least 1 / (n k^(depth - 1)).
 * Three more draws lower that bound. They choose whether a step is a fault and which, the step of a thread,
 * and how far a directed scenario runs before its next command. The value of k is the length of the longest
 * of eight plain runs; in longer runs the bound covers their first k steps. */
#ifndef SCENARIO_RANDOM_H
#define SCENARIO_RANDOM_H

#include "scenario/outcome.h"

enum schedule random_schedule(const struct strategy_plan *plan, uint64_t seed);

/* Does the run of this seed in an initialised run. Returns the number of commands that it could not apply. */
int random_one(struct run *run, uint64_t seed);

/* Runs the seeds first … first + count - 1 until one violates a property that the file does not declare as
 * violated, or meets a limit. In these cases, and if the runs differ from the file's claims, repeats the last
 * run with its choices recorded, and writes a trace below `out`. */
void random_run(const struct run_setup *setup, uint64_t first, uint64_t count, const char *out,
                struct outcome *outcome);

/* Does the run of this seed with its choices recorded, and shows it to `ended` before it is closed.
 * Returns 0, or -1 with errno set if no world can be made. */
int random_record(const struct run_setup *setup, uint64_t seed,
                  void (*ended)(void *ctx, const struct run *run), void *ctx);

/* After a violation in random_run(), repeats its seeds without the properties violated so far, until no other
 * is violated, or outcome_is_broken_off() is true. */
void random_find_others(const struct run_setup *setup, uint64_t first, uint64_t count,
                        struct outcome *outcome);

/* Turns the verdict `holds` of an exploring scenario into `limit`, because random schedules prove nothing.
 * The verdict stays `holds` if the file claims violations alone and the runs have shown all of them. */
void random_judge_exploring(const struct scenario *scenario, struct outcome *outcome);

#endif
