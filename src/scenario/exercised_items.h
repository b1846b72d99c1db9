/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The items that the runs of an exploring scenario have tried: budgeted faults that happened, steps of
 * programs that were done, and programs that ended. A pass says nothing about a fault that no run could have.
 *
 * A search caches steps, but does each at least once in the world itself, so the cache hides no item. */
#ifndef SCENARIO_EXERCISED_ITEMS_H
#define SCENARIO_EXERCISED_ITEMS_H

#include <lockstep/sim.h>

#define TRIED_KEY_MAX 40
#define TRIED_WHY_MAX 64

struct tried {
    uint32_t faults;                    /* a bit for each enum world_fault that happened */
    uint32_t ended;                     /* a bit for each process whose program ended */
    uint32_t step[WORLD_PROCESSES_MAX]; /* of each process's program: a bit for each step that was done */
    bool container;                     /* the directory of a lock was a container */
};

struct scenario;

/* Notes the program step of an enabled action, before the action is done. */
void tried_before(struct tried *tried, struct world *world, const struct action *action);

/* Notes the effects of an action after it was done; `action` NULL: the effects of any actions so far. */
void tried_after(struct tried *tried, struct world *world, const struct action *action);

/* Adds the items that other runs of the same scenario have tried. */
void tried_merge(struct tried *to, const struct tried *from);

/* Treats processes as one: an item of one process counts for all. For searches that rename processes. */
void tried_share(struct tried *tried, int processes);

/* Writes the key and the reason of the index-th untried item. Keys are the name of a fault, `PROCESS.VERB.N`
 * (the N-th step of a program) and `PROCESS.end`. Returns false behind the last untried item. */
bool tried_lacks(const struct tried *tried, const struct scenario *scenario, int index,
                 char key[TRIED_KEY_MAX], char why[TRIED_WHY_MAX]);

/* Adds the item with this key to `tried`. Returns false if the scenario has no such item. */
bool tried_add(struct tried *tried, const struct scenario *scenario, const char *key, size_t size);

/* Writes the key of the first item that is untried without a claim `not-tried` (*claimed false), or tried in
 * spite of one (*claimed true). Returns false if there is none. */
bool tried_differs(const struct tried *tried, const struct scenario *scenario, char key[TRIED_KEY_MAX],
                   bool *claimed);

#endif
