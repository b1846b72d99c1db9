/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Schedules: who goes on at each point of a run, and all runs that differ from the plain one in a few places.
 *
 * At each point the one to be asked next stands first in the list; taking another is a deviation. Runs with at most so many
 * deviations are done one by one, each from its start; or a run is drawn. */
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
    uint64_t seed; /* 0 = not drawn */
};

/* The choice at the next point, among `count` ones: 0 is the plain one. */
int schedules_choose(int count);

/* How many points the present run has had. */
int schedules_points(void);

/* Does all runs with at most `deviations` deviations; false if one of them says so, which is then in *schedule. Returns in
 * *runs how many there were. */
bool schedules_all(int deviations, bool (*run)(void *ctx), void *ctx, struct schedule *schedule, long *runs);

/* Does `runs` drawn ones. */
bool schedules_drawn(long runs, bool (*run)(void *ctx), void *ctx, struct schedule *schedule);

/* Does one again. */
bool schedules_again(const struct schedule *schedule, bool (*run)(void *ctx), void *ctx);

#endif
