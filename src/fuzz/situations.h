/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Abstract situations of a run, as coverage for a fuzzer: they may show that a run is new where its code
 * coverage does not. The situation of a process consists of four things:
 *
 * - The states of its recipe's attempts.
 * - The last event of its link or its session, or of its end.
 * - Its best place in line.
 * - The kind of the last fault.
 *
 * A mark that the recipe reaches (<lockstep/sometimes.h>) is a situation too. Slots are counters of one byte;
 * `slot` may point to memory of the fuzzer. */
#ifndef FUZZ_SITUATIONS_H
#define FUZZ_SITUATIONS_H

#include <lockstep/event.h>
#include <lockstep/sim.h>

#define SITUATION_SLOTS 16384u
#define SITUATION_MARKS 256u /* the last slots: one for each mark, which no other situation shares */

#define SITUATION_NODES_MAX 64

struct situations {
    uint8_t *slot;                        /* SITUATION_SLOTS counters; NULL = not wanted */
    uint8_t session[WORLD_PROCESSES_MAX]; /* kind of the last event about each process's session; 0 = none */
    uint8_t fault;                        /* action kind of the last fault of any process; 0 = none */
    struct {
        int64_t czxid;
        uint8_t process, lock;
    } node[SITUATION_NODES_MAX]; /* existing contenders, oldest first */
    int nodes;
};

void situations_begin(struct situations *situations);

void situations_event(struct situations *situations, const struct event *event);

/* Counts the situation of a process. Called after each step of that process. */
void situations_count(struct situations *situations, struct world *world, int process);

void situations_mark(struct situations *situations, int index);

#endif
