/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* How the seeds of random runs choose, and what a seed's swarm is.
 *
 * A swarm run first draws which kinds of fault exist in it at all, how many of each, and how often a step is one. A
 * scenario with five kinds of fault is mostly run with two or three of them then, so that those have room: faults that
 * end everything early (a crash, an expiry) do not stand in the way of what only the others show. */
#ifndef SCENARIO_STRATEGY_H
#define SCENARIO_STRATEGY_H

#include "scenario/scenario.h"

#define STRATEGY_DEPTH_DEFAULT 3
#define STRATEGY_DEPTH_MAX 16
#define STRATEGY_STEPS_DEFAULT 128 /* of a run, where nobody has measured any */

enum strategy {
    STRATEGY_MIXED,   /* odd seeds uniform, even ones PCT */
    STRATEGY_UNIFORM, /* any enabled action, each as likely as the others */
    STRATEGY_PCT,     /* by random priorities that change at depth - 1 random steps */
    STRATEGY_SWARM,   /* with the faults that the seed draws; odd seeds uniform, even ones PCT */
    STRATEGIES
};

/* Of a set of random runs. Zeroes are the defaults. */
struct strategy_plan {
    enum strategy strategy;
    int depth;      /* of PCT: finds bugs of so many ordering constraints; 0 = STRATEGY_DEPTH_DEFAULT */
    uint32_t steps; /* of PCT: priorities change within so many steps; 0 = STRATEGY_STEPS_DEFAULT */
};

/* "mixed", "uniform", "pct", "swarm". */
const char *strategy_name(enum strategy strategy);

/* The inverse; -1 if there is none. */
int strategy_find(const char *name);

/* What a swarm's seed draws. */
struct swarm {
    uint8_t budget[WORLD_FAULTS]; /* 0 = this kind does not exist */
    uint32_t fault_one_in;        /* where a fault is possible, one step in so many is one */
};

/* A function of the seed and of what the scenario allows, the same everywhere. An exploring scenario's budgets are never
 * exceeded. A directed one has none and gets up to two faults of a kind, of the kinds that its world can have; not those
 * that are its callers' (cancel) or its machine's (alloc), and none at all where the promises are not for every fault: if
 * servers have defects or refuse what is asked, or a client stops (which is told nothing any more). */
void swarm_draw(const struct scenario *scenario, uint64_t seed, struct swarm *swarm);

/* The budgets of the world in which swarms of this scenario run: what any seed may draw. Of an exploring scenario its own, so
 * that states are the same as in other runs of it. */
void swarm_budgets(const struct scenario *scenario, uint8_t budget[WORLD_FAULTS]);

/* "loss<=1 expire<=1, one fault in 16 steps", or "no faults". Returns `text`. */
const char *swarm_text(const struct swarm *swarm, char *text, size_t size);

#endif
