/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "support/schedules.h"

#include "base/assert.h"
#include "base/rng.h"

#include <string.h>

#define DEVIATE_ONE_IN 6

static struct schedule present;
static struct rng rng;
static int point, next_deviation;
static uint8_t choices[POINTS_MAX]; /* number of choices at each point of the present run */

int schedules_points(void)
{
    return point;
}

static int draw(int count)
{
    return rng_below(&rng, DEVIATE_ONE_IN) == 0 ? (int)rng_below(&rng, (uint32_t)count) : 0;
}

int schedules_choose(int count)
{
    int choice = 0;
    LS_ASSERT(count > 0 && count < 256);
    if (point == POINTS_MAX) {
        return 0;
    }
    if (present.seed != 0) {
        choice = draw(count);
    } else if (next_deviation < present.deviations && present.deviation[next_deviation].point == point) {
        choice = present.deviation[next_deviation++].choice;
        LS_ASSERT(choice < count);
    }
    choices[point++] = (uint8_t)count;
    return choice;
}

bool schedules_again(const struct schedule *schedule, bool (*run)(void *ctx), void *ctx)
{
    present = *schedule;
    point = 0;
    next_deviation = 0;
    if (present.seed != 0) {
        rng_seed(&rng, present.seed);
    }
    return run(ctx);
}

/* Does the run of this schedule, and all runs that deviate from it later, in at most `more` points. */
static bool run_below(struct schedule *schedule, int more, bool (*run)(void *ctx), void *ctx, long *runs)
{
    uint8_t counts[POINTS_MAX];
    ++*runs;
    if (!schedules_again(schedule, run, ctx)) {
        return false;
    }
    int points = point;
    memcpy(counts, choices, (size_t)points);
    int last = schedule->deviations;
    int from = last > 0 ? schedule->deviation[last - 1].point + 1 : 0;
    for (int at = from; more > 0 && at < points; at++) {
        for (int choice = 1; choice < counts[at]; choice++) {
            schedule->deviation[last].point = (uint16_t)at;
            schedule->deviation[last].choice = (uint8_t)choice;
            schedule->deviations = last + 1;
            if (!run_below(schedule, more - 1, run, ctx, runs)) {
                return false;
            }
            schedule->deviations = last;
        }
    }
    return true;
}

bool schedules_all(int deviations, bool (*run)(void *ctx), void *ctx, struct schedule *schedule, long *runs)
{
    LS_ASSERT(deviations <= DEVIATIONS_MAX);
    *schedule = (struct schedule){.deviations = 0};
    *runs = 0;
    return run_below(schedule, deviations, run, ctx, runs);
}

bool schedules_drawn(long runs, bool (*run)(void *ctx), void *ctx, struct schedule *schedule)
{
    for (long i = 1; i <= runs; i++) {
        *schedule = (struct schedule){.seed = (uint64_t)i};
        if (!schedules_again(schedule, run, ctx)) {
            return false;
        }
    }
    return true;
}
