/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "explore/persistent_set.h"

#include "base/assert.h"

#include <string.h>

bool partial_open(struct partial *partial, const struct search *search)
{
    struct world *world = search->run->world;
    memset(partial, 0, sizeof *partial);
    if (!search->options->partial_order || !world_knows_alone(world)) {
        return false;
    }
    partial->judges = &search->run->set;
    partial->processes = world_get_options(world)->processes;
    for (int p = 0; p < partial->processes; p++) {
        world_own_blocks(world, p, partial->own[p]);
    }
    arena_set_add(partial->common, world_budget_block(world));
    LS_ASSERT(partial->processes <= WORLD_PROCESSES_MAX);
    return true;
}

bool partial_is_alone(const struct partial *partial, int process, const uint64_t read[2],
                      const struct memo_change *changes, int count, const struct run_events *events)
{
    LS_ASSERT(process >= 0 && process < partial->processes && count >= 0);
    const uint64_t *own = partial->own[process];
    for (int word = 0; word < 2; word++) {
        if ((read[word] & ~own[word] & ~partial->common[word]) != 0) {
            return false;
        }
    }
    for (int i = 0; i < count; i++) {
        if (!arena_set_has(own, (int)changes[i].block)) {
            return false;
        }
    }
    for (int i = 0; i < events->count; i++) {
        if (events->event[i].process != process || !check_set_is_local(partial->judges, &events->event[i])) {
            return false;
        }
    }
    return true;
}
