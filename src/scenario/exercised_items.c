/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "scenario/exercised_items.h"

#include "base/assert.h"
#include "coord/coordinator.h"
#include "scenario/scenario.h"
#include "scenario/verbs.h"

#include <stdio.h>
#include <string.h>

void tried_before(struct tried *tried, struct world *world, const struct action *action)
{
    int step = world_is_verb(action) ? world_program_step(world, action) : -1;
    if (step >= 0) {
        LS_ASSERT(step < 32);
        tried->step[action->process] |= 1u << step;
    }
}

void tried_after(struct tried *tried, struct world *world, const struct action *action)
{
    const struct world_options *options = world_get_options(world);
    bool one = action != NULL && !options->timed;
    int first = one ? action->process : 0;
    int end = one && first < options->processes ? first + 1 : options->processes;
    tried->faults |= world_faults_paid(world);
    for (int p = first; p < end; p++) {
        if ((tried->ended >> p & 1u) == 0 && world_program_ended(world, p)) {
            tried->ended |= 1u << p;
        }
    }
    if (!tried->container && options->budget[WORLD_FAULT_SWEEP] > 0) {
        tried->container = world_has_container(world);
    }
}

void tried_merge(struct tried *to, const struct tried *from)
{
    LS_ASSERT(to != from);
    to->faults |= from->faults;
    to->ended |= from->ended;
    to->container = to->container || from->container;
    for (int p = 0; p < WORLD_PROCESSES_MAX; p++) {
        to->step[p] |= from->step[p];
    }
}

void tried_share(struct tried *tried, int processes)
{
    LS_ASSERT(processes > 0 && processes <= WORLD_PROCESSES_MAX);
    uint32_t all = processes < 32 ? (1u << processes) - 1 : UINT32_MAX, steps = 0;
    for (int p = 0; p < processes; p++) {
        steps |= tried->step[p];
    }
    for (int p = 0; p < processes; p++) {
        tried->step[p] = steps;
    }
    tried->ended = (tried->ended & all) != 0 ? tried->ended | all : tried->ended;
}

/* ---- items: faults with a budget, then steps and end of each program ---- */

enum item_kind { ITEM_FAULT, ITEM_STEP, ITEM_END };

struct item {
    enum item_kind kind;
    int fault, process, step;
};

static bool has_item(const struct world_options *options, const struct item *item)
{
    LS_ASSERT(item->process < options->processes && (item->kind != ITEM_FAULT || item->fault >= 0));
    const struct world_program *program = &options->program[item->process];
    switch (item->kind) {
    case ITEM_FAULT:
        return options->budget[item->fault] > 0 && options->budget_total > 0;
    case ITEM_STEP:
        return item->step < program->count;
    default:
        return program->count > 0 && !program->endless;
    }
}

/* Moves to the next item that the scenario has; `item` must begin as FIRST. Returns false behind the last. */
static bool next_item(const struct world_options *options, struct item *item)
{
    do {
        if (item->kind == ITEM_FAULT && item->fault + 1 < WORLD_FAULTS) {
            item->fault++;
        } else if (item->kind == ITEM_FAULT) {
            item->kind = ITEM_STEP;
        } else if (item->kind == ITEM_STEP && item->step + 1 < WORLD_PROGRAM_MAX) {
            item->step++;
        } else if (item->kind == ITEM_STEP) {
            item->kind = ITEM_END;
        } else {
            *item = (struct item){.kind = ITEM_STEP, .process = item->process + 1};
        }
    } while (item->process < options->processes && !has_item(options, item));
    return item->process < options->processes;
}

static const struct item FIRST = {.kind = ITEM_FAULT, .fault = -1};

static bool has(const struct tried *tried, const struct item *item)
{
    LS_ASSERT(item->fault < WORLD_FAULTS && item->step < WORLD_PROGRAM_MAX);
    switch (item->kind) {
    case ITEM_FAULT:
        return (tried->faults >> item->fault & 1u) != 0;
    case ITEM_STEP:
        return (tried->step[item->process] >> item->step & 1u) != 0;
    default:
        return (tried->ended >> item->process & 1u) != 0;
    }
}

static void write_key(const struct world_options *options, const struct item *item, char key[TRIED_KEY_MAX])
{
    LS_ASSERT(item->process < options->processes && item->step < WORLD_PROGRAM_MAX);
    const char *name = options->name[item->process];
    const struct action *op = &options->program[item->process].ops[item->step];
    switch (item->kind) {
    case ITEM_FAULT:
        snprintf(key, TRIED_KEY_MAX, "%s", world_fault_name((enum world_fault)item->fault));
        break;
    case ITEM_STEP:
        snprintf(key, TRIED_KEY_MAX, "%s.%s.%d", name, verb_of_step(op), item->step + 1);
        break;
    default:
        snprintf(key, TRIED_KEY_MAX, "%s.end", name);
    }
}

static const char *why_no_fault(const struct tried *tried, const struct world_options *options, int fault)
{
    static const char *const WHY[WORLD_FAULT_OWN] = {
        [WORLD_FAULT_LOSS] = "no connection was up",
        [WORLD_FAULT_EXPIRE] = "no session was open",
        [WORLD_FAULT_PAUSE] = "no process was running",
        [WORLD_FAULT_CRASH] = "no process was running",
        [WORLD_FAULT_REFUSE] = "no connection was looked for",
        [WORLD_FAULT_LAG] = "there is no follower",
        [WORLD_FAULT_LATE] = "no write was on its way by a follower",
        [WORLD_FAULT_CANCEL] = "no acquire was unanswered",
        [WORLD_FAULT_ALLOC] = "no process was running",
        [WORLD_FAULT_CALL] = "no process was running",
        [WORLD_FAULT_SERVER] = "no server was running",
        [WORLD_FAULT_RMDIR] = "no directory of a lock was empty",
        [WORLD_FAULT_EVICT] = "no contender stood in a line",
        [WORLD_FAULT_TOUCH] = "no contender stood in a line",
        [WORLD_FAULT_RESTRICT] = "no contender stood in a line",
    };
    if (fault == WORLD_FAULT_SWEEP) {
        return tried->container ? "the directory was never empty after a use"
                                : "the directory is no container";
    }
    LS_ASSERT(fault < WORLD_FAULTS && (fault >= WORLD_FAULT_OWN || WHY[fault] != NULL));
    return fault < WORLD_FAULT_OWN
               ? WHY[fault]
               : coordinator_never(coordinator_find(options->coordinator), (enum world_fault)fault);
}

static const char *why_not(const struct tried *tried, const struct world_options *options,
                           const struct item *item)
{
    switch (item->kind) {
    case ITEM_FAULT:
        return why_no_fault(tried, options, item->fault);
    case ITEM_STEP:
        return "no run came to it, or it was passed over";
    default:
        return "no run came to the end of the program";
    }
}

bool tried_lacks(const struct tried *tried, const struct scenario *scenario, int index,
                 char key[TRIED_KEY_MAX], char why[TRIED_WHY_MAX])
{
    LS_ASSERT(index >= 0);
    struct item item = FIRST;
    while (next_item(&scenario->options, &item)) {
        if (!has(tried, &item) && index-- == 0) {
            write_key(&scenario->options, &item, key);
            snprintf(why, TRIED_WHY_MAX, "%s", why_not(tried, &scenario->options, &item));
            return true;
        }
    }
    return false;
}

bool tried_add(struct tried *tried, const struct scenario *scenario, const char *wanted, size_t size)
{
    struct item item = FIRST;
    while (next_item(&scenario->options, &item)) {
        char key[TRIED_KEY_MAX];
        write_key(&scenario->options, &item, key);
        if (strlen(key) != size || memcmp(key, wanted, size) != 0) {
            continue;
        }
        tried->faults |= item.kind == ITEM_FAULT ? 1u << item.fault : 0;
        tried->step[item.process] |= item.kind == ITEM_STEP ? 1u << item.step : 0;
        tried->ended |= item.kind == ITEM_END ? 1u << item.process : 0;
        return true;
    }
    return false;
}

bool tried_differs(const struct tried *tried, const struct scenario *scenario, char key[TRIED_KEY_MAX],
                   bool *claimed)
{
    struct item item = FIRST;
    while (next_item(&scenario->options, &item)) {
        *claimed = has(&scenario->not_tried, &item);
        if (*claimed == has(tried, &item)) {
            write_key(&scenario->options, &item, key);
            return true;
        }
    }
    return false;
}
