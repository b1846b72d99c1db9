/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Abstract situations of a run, as coverage for a fuzzer: they may show that a run is new where its code
 * coverage does not. A situation of a process consists of the states of its recipe's attempts, its session's
 * state, its place in line, and the kind of the last fault. A mark reached by the recipe
 * (<lockstep/sometimes.h>) is a situation too.
 *
 * Slots are counters of one byte each. To give them to a fuzzer, a caller points `slot` at the fuzzer's
 * memory. */
#ifndef FUZZ_SITUATIONS_H
#define FUZZ_SITUATIONS_H

#include <lockstep/event.h>
#include <lockstep/sim.h>

#define SITUATION_SLOTS 16384u
#define SITUATION_MARKS 256u /* the last slots, one for each mark: no other situation shares it */

#define SITUATION_NODES_MAX 64

struct situations {
    uint8_t *slot;                        /* SITUATION_SLOTS counters; NULL = not wanted */
    uint8_t session[WORLD_PROCESSES_MAX]; /* kind of the last event about each session */
    uint8_t fault;                        /* action kind of the last fault of any process, 0 = none yet */
    struct {
        int64_t czxid;
        uint8_t process, lock;
    } node[SITUATION_NODES_MAX]; /* existing contenders, oldest first */
    int nodes;
};

/* Begins a run. */
void situations_begin(struct situations *situations);

void situations_event(struct situations *situations, const struct event *event);

/* Counts the situation of a process after a step of it. */
void situations_count(struct situations *situations, struct world *world, int process);

/* Counts that the recipe has reached its mark of this index. */
void situations_mark(struct situations *situations, int index);

#endif
