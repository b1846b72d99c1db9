/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Schedules: the choices at the points of a run, and all runs that differ from the plain one in a few
 * points.
 *
 * At each point a run chooses one of several candidates. The plain run always chooses the first; another
 * choice is a deviation. All runs with a bounded number of deviations are done one by one, each from its
 * start. A drawn run chooses at random. */
#ifndef TESTS_SUPPORT_SCHEDULES_H
#define TESTS_SUPPORT_SCHEDULES_H

#include <stdbool.h>
#include <stdint.h>

#define DEVIATIONS_MAX 4
#define POINTS_MAX 4000

struct schedule {
    struct {
        uint16_t point;
        uint8_t choice;
    } deviation[DEVIATIONS_MAX];
    int deviations;
    uint64_t seed; /* seed of a drawn run; 0 = the run is not drawn */
};

/* Returns the choice at the next point, from 0 to count - 1; 0 is the plain one. */
int schedules_choose(int count);

/* Returns how many points the present run has had. */
int schedules_points(void);

/* Does all runs with at most `deviations` deviations, until one returns false. Returns false then, with
 * that run in *schedule. *runs is the number of runs. */
bool schedules_all(int deviations, bool (*run)(void *ctx), void *ctx, struct schedule *schedule, long *runs);

/* Does at most `runs` drawn runs, until one returns false. Returns false then, with that run in *schedule. */
bool schedules_drawn(long runs, bool (*run)(void *ctx), void *ctx, struct schedule *schedule);

/* Does the run of this schedule again. Returns its result. */
bool schedules_again(const struct schedule *schedule, bool (*run)(void *ctx), void *ctx);

#endif
