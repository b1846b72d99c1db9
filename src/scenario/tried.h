/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* What the runs of an exploring scenario have tried: which budgeted faults happened, which steps of programs were done,
 * and which programs came to their end. A pass says nothing about a fault that no run could have.
 *
 * A search remembers steps, but does each one at least once in the world itself, so that nothing is missed. */
#ifndef SCENARIO_TRIED_H
#define SCENARIO_TRIED_H

#include <lockstep/sim.h>

#define TRIED_KEY_MAX 40
#define TRIED_WHY_MAX 64

struct tried {
    uint32_t faults;                    /* a bit for each enum world_fault that happened */
    uint32_t ended;                     /* a bit for each process whose program came to its end */
    uint32_t step[WORLD_PROCESSES_MAX]; /* of each program, a bit for each step that was done */
    bool container;                     /* the directory of a lock was a container */
};

struct scenario;

/* Notes which step of a program an enabled action is, before it is done. */
void tried_before(struct tried *tried, struct world *world, const struct action *action);

/* Notes what the action has led to, after it was done; NULL: several actions were. */
void tried_after(struct tried *tried, struct world *world, const struct action *action);

/* Adds what other runs of the same scenario have tried. */
void tried_merge(struct tried *to, const struct tried *from);

/* Treats processes as one: what one has done counts for all. For searches up to the names of processes. */
void tried_share(struct tried *tried, int processes);

/* Writes the key of the index-th item that was not tried, as in `not-tried KEY`, and why. Keys are the name of a fault,
 * `PROCESS.VERB.N` (the N-th step of a program) and `PROCESS.end`. Returns false behind the last item. */
bool tried_lacks(const struct tried *tried, const struct scenario *scenario, int index,
                 char key[TRIED_KEY_MAX], char why[TRIED_WHY_MAX]);

/* Adds the item with this key to `tried`. Returns false if the scenario has no such item. */
bool tried_add(struct tried *tried, const struct scenario *scenario, const char *key, size_t size);

/* Writes the key of the first item that is in one and not in the other: that was not tried and is not claimed
 * (*claimed false), or that is claimed and was tried. Returns false if there is none. */
bool tried_differs(const struct tried *tried, const struct scenario *scenario, char key[TRIED_KEY_MAX],
                   bool *claimed);

#endif
