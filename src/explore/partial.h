/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Partial order: of a state in which one step is independent of all that anybody else can do before it, only that step is
 * done. See ARCHITECTURE.md for why nothing is missed. */
#ifndef EXPLORE_PARTIAL_H
#define EXPLORE_PARTIAL_H

#include "explore/memo.h"
#include "explore/search.h"

struct partial {
    const struct check_set *judges;
    int processes;
    uint64_t own[WORLD_PROCESSES_MAX][2]; /* blocks that are a process's alone */
    uint64_t common[2];                   /* and those that its deliveries may read besides */
};

/* False if the world cannot tell, or the options do not want it. */
bool partial_open(struct partial *partial, const struct search *search);

/* Whether a step that world_alone() has named has kept to its process: what it has read and changed, and the events that the
 * judges see. */
bool partial_is_alone(const struct partial *partial, int process, const uint64_t read[2],
                      const struct memo_change *changes, int count, const struct run_events *events);

#endif
