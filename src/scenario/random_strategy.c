/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "scenario/random_strategy.h"

#include "base/assert.h"
#include "base/rng.h"
#include "coord/coordinator.h"

#include <stdio.h>
#include <string.h>

#define SWARM_SALT 0x737761726dull
#define DIRECTED_MAX 2    /* maximum of faults of a kind in a directed scenario */
#define DIRECTED_ONE_IN 3 /* one in so many kinds is drawn there */
#define RATE_LOG2_MIN 2   /* one fault in 4 … 64 steps */
#define RATE_LOG2_COUNT 5

static const char *const NAMES[] = {"mixed", "uniform", "pct", "swarm"};
_Static_assert(sizeof NAMES / sizeof NAMES[0] == STRATEGIES, "one name per strategy");

const char *strategy_name(enum strategy strategy)
{
    LS_ASSERT(strategy < STRATEGIES);
    return NAMES[strategy];
}

int strategy_find(const char *name)
{
    for (int i = 0; i < STRATEGIES; i++) {
        if (strcmp(NAMES[i], name) == 0) {
            return i;
        }
    }
    return -1;
}

/* Returns whether a directed scenario gets no further faults: recipes promise nothing about them there. */
static bool is_touchy(const struct scenario *scenario)
{
    bool touchy = scenario->options.defects != 0;
    for (int i = 0; i < scenario->commands; i++) {
        const struct action *action = &scenario->command[i].action;
        bool forbids = action->kind == ACTION_FOREIGN && action->perms != 0;
        touchy |= scenario->command[i].step == STEP_ACTION && (forbids || action->kind == ACTION_STOP);
    }
    return touchy;
}

/* Returns the maximum of faults of a kind in a directed scenario, besides its own. */
static uint8_t directed_max(const struct world_options *options, int fault)
{
    LS_ASSERT(fault >= 0 && fault < WORLD_FAULTS);
    switch (fault) {
    case WORLD_FAULT_CANCEL:
    case WORLD_FAULT_ALLOC:
    case WORLD_FAULT_RMDIR: /* these seven kinds come only where a file names them */
    case WORLD_FAULT_EVICT:
    case WORLD_FAULT_TOUCH:
    case WORLD_FAULT_CALL:
    case WORLD_FAULT_RESTRICT:
        return 0;
    case WORLD_FAULT_LAG:
    case WORLD_FAULT_LATE:
        return options->servers > 1 ? DIRECTED_MAX : 0;
    case WORLD_FAULT_SWEEP:
        return options->no_containers ? 0 : DIRECTED_MAX;
    default:
        return coordinator_lacking(options, (enum world_fault)fault) == NULL ? DIRECTED_MAX : 0;
    }
}

static uint8_t most_of(const struct scenario *scenario, int fault)
{
    return scenario->exploring   ? scenario->options.budget[fault]
           : is_touchy(scenario) ? 0
                                 : directed_max(&scenario->options, fault);
}

void swarm_budgets(const struct scenario *scenario, uint8_t budget[WORLD_FAULTS])
{
    for (int fault = 0; fault < WORLD_FAULTS; fault++) {
        budget[fault] = most_of(scenario, fault);
    }
}

/* Draws all numbers for each kind, needed or not: the limit of one kind must not change the next draw. */
void swarm_draw(const struct scenario *scenario, uint64_t seed, struct swarm *swarm)
{
    struct rng rng;
    rng_seed(&rng, seed ^ SWARM_SALT);
    *swarm = (struct swarm){.fault_one_in = 1u << (RATE_LOG2_MIN + rng_below(&rng, RATE_LOG2_COUNT))};
    for (int fault = 0; fault < WORLD_FAULTS; fault++) {
        uint8_t most = most_of(scenario, fault);
        bool drawn = rng_below(&rng, scenario->exploring ? 2 : DIRECTED_ONE_IN) == 0;
        uint64_t number = rng_next(&rng);
        if (drawn && most > 0) {
            swarm->budget[fault] = (uint8_t)(1 + number % most);
            LS_ASSERT(swarm->budget[fault] > 0 && swarm->budget[fault] <= most);
        }
    }
}

const char *swarm_text(const struct swarm *swarm, char *text, size_t size)
{
    size_t used = 0;
    for (int fault = 0; fault < WORLD_FAULTS; fault++) {
        if (swarm->budget[fault] > 0 && used < size) {
            used += (size_t)snprintf(text + used, size - used, "%s%s<=%d", used > 0 ? " " : "",
                                     world_fault_name((enum world_fault)fault), swarm->budget[fault]);
        }
    }
    if (used == 0) {
        snprintf(text, size, "no faults");
    } else if (used < size) {
        snprintf(text + used, size - used, ", one fault in %u steps", (unsigned)swarm->fault_one_in);
    }
    return text;
}
