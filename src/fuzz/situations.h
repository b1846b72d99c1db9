/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Abstract situations of a run, as coverage: where its code does not show that a run has been somewhere new, what its processes are
 * in the middle of may. A situation is, for one process: the states of its recipe's attempts, its session's state, its place in line,
 * and what kind of fault has come last. A mark that the recipe reaches (<lockstep/sometimes.h>) is one too.
 *
 * Slots are counters of one byte each. Whoever feeds them to a fuzzer gives their memory. */
#ifndef FUZZ_SITUATIONS_H
#define FUZZ_SITUATIONS_H

#include <lockstep/event.h>
#include <lockstep/sim.h>

#define SITUATION_SLOTS 16384u
#define SITUATION_MARKS 256u /* the last of them, one for each mark: what it says nothing else does */

#define SITUATION_NODES_MAX 64

struct situations {
    uint8_t *slot;                        /* SITUATION_SLOTS of them; NULL = nobody wants to know */
    uint8_t session[WORLD_PROCESSES_MAX]; /* kind of the last event about it */
    uint8_t fault;                        /* kind of the last fault of all, 0 = none yet */
    struct {
        int64_t czxid;
        uint8_t process, lock;
    } node[SITUATION_NODES_MAX]; /* contenders that stand, oldest first */
    int nodes;
};

/* A run begins. */
void situations_begin(struct situations *situations);

void situations_event(struct situations *situations, const struct event *event);

/* After a step of this process. */
void situations_count(struct situations *situations, struct world *world, int process);

/* The recipe has reached its mark of this index. */
void situations_mark(struct situations *situations, int index);

#endif
