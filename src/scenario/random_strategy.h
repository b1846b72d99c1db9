/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Strategies: how the seeds of random runs choose, and the swarm of a seed.
 *
 * A swarm run first draws which kinds of fault exist in it, how many of each, and how often a step is a
 * fault. An exploring scenario with five kinds of fault then mostly runs with two or three of them. Faults
 * that end a run early (a crash, an expiry) are often absent and do not hide what only the other faults
 * show. */
#ifndef SCENARIO_RANDOM_STRATEGY_H
#define SCENARIO_RANDOM_STRATEGY_H

#include "scenario/scenario.h"

#define STRATEGY_DEPTH_DEFAULT 3
#define STRATEGY_DEPTH_MAX 16
#define STRATEGY_STEPS_DEFAULT 128 /* steps of a run that was not measured */

enum strategy {
    STRATEGY_MIXED,   /* odd seeds uniform, even ones PCT */
    STRATEGY_UNIFORM, /* any enabled action, with equal probability */
    STRATEGY_PCT,     /* by random priorities that change at depth - 1 random steps */
    STRATEGY_SWARM,   /* with the faults that the seed draws; odd seeds uniform, even ones PCT */
    STRATEGIES
};

/* How a set of random runs chooses. Zeroes are the defaults. */
struct strategy_plan {
    enum strategy strategy;
    int depth;      /* of PCT: finds bugs with so many ordering constraints; 0 = STRATEGY_DEPTH_DEFAULT */
    uint32_t steps; /* of PCT: priorities change within so many steps; 0 = STRATEGY_STEPS_DEFAULT */
};

const char *strategy_name(enum strategy strategy);

/* Returns the strategy of that name; -1 if there is none. */
int strategy_find(const char *name);

struct swarm {
    uint8_t budget[WORLD_FAULTS]; /* number of faults of each kind; 0 = the kind does not exist */
    uint32_t fault_one_in;        /* one in so many steps at which a fault is possible is a fault */
};

/* Draws the swarm, a function of the seed and of the scenario alone. In an exploring scenario no budget is
 * exceeded.
 *
 * A directed scenario gets up to two faults of each kind that its world can have. It gets none of the kinds
 * of the caller (cancel), of its machine (alloc, call) and of an operator (rmdir, evict, touch, restrict). If
 * servers have defects, or a command forbids access or stops a client, it gets no fault at all: recipes
 * promise nothing about other faults there. */
void swarm_draw(const struct scenario *scenario, uint64_t seed, struct swarm *swarm);

/* Writes the budgets of the world for swarms of this scenario: the maximum that any seed may draw. An
 * exploring scenario keeps its own budgets, so that its states are the same as in other runs. */
void swarm_budgets(const struct scenario *scenario, uint8_t budget[WORLD_FAULTS]);

/* Writes "loss<=1 expire<=1, one fault in 16 steps", or "no faults". Returns `text`. */
const char *swarm_text(const struct swarm *swarm, char *text, size_t size);

#endif
