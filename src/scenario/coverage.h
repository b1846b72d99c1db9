/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* What runs have covered of a recipe: its marks, and which event has met which of its abstract states.
 *
 * An event is what an action brings to a process (world_stimulus()): a reply with its code, a watch event, a session event, a
 * timer, a verb of the caller. It counts for the state that the process's attempts are in. If they are in different ones it
 * is not known whose event it is, and it counts for none, unless it is for all of them (session events, start and stop): what
 * is said to be seen was seen. Callbacks that the client library makes while a handle is opened or closed are
 * no actions and do not count.
 *
 * Marks and pairs are noted when a step is done. A search remembers steps and does each at least once in its surroundings,
 * which include all that the process's recipe can see: it misses none, but its counts would mean nothing, so there are none.
 *
 * Everything lies in one struct without pointers, in memory that workers share: they set bits, and a name is entered under
 * a lock. */
#ifndef SCENARIO_COVERAGE_H
#define SCENARIO_COVERAGE_H

#include "scenario/run.h"

#include <lockstep/sometimes.h>

#define COVERAGE_EVENTS_MAX 256
#define COVERAGE_NAME_MAX 48
#define COVERAGE_MARKS_MAX 256
#define COVERAGE_ROWS_MAX 64

/* Bits: ever; and since random runs have begun. */
#define COVERAGE_EVER 1u
#define COVERAGE_GROWN 2u

struct coverage_event {
    char name[COVERAGE_NAME_MAX];
    uint32_t seen;  /* a bit for each state of the recipe in which it came */
    uint32_t grown; /* the same, since random runs have begun */
};

/* What so many random runs have covered. */
struct coverage_row {
    uint64_t runs, steps;
    uint64_t
        states; /* different ones up to renaming, as a search counts them; run constants are no part of them */
    uint32_t marks, pairs;
};

struct coverage {
    int lock;
    bool full; /* an event was left out, or memory for states was short */
    uint32_t events;
    struct coverage_event event[COVERAGE_EVENTS_MAX]; /* in the order in which they came */
    uint8_t mark[COVERAGE_MARKS_MAX];                 /* COVERAGE_… bits, in the order of coverage_mark() */
    uint64_t told;                                    /* see `take_told` of coord/coordinator.h */
    uint32_t rows;
    struct coverage_row row[COVERAGE_ROWS_MAX];
};

/* The marks of a recipe that is in another module, which the linker's list of this one lacks; all of them count. At most one
 * recipe's, the last. */
void coverage_marks_of(const struct ls_recipe *recipe, struct ls_mark *first, int count);

/* The next mark behind this index, -1 to begin with, that was reached since it was taken last, among those of the module that
 * the recipe is in. Returns its index, below COVERAGE_MARKS_MAX, or -1 if there is none. */
int coverage_take_mark(const struct ls_recipe *recipe, int behind);

/* From now on this process and those that it forks note what they cover there; NULL: nothing is noted. `recipe` is whose
 * marks count. */
void coverage_into(struct coverage *coverage, const struct ls_recipe *recipe);
bool coverage_is_on(void);

/* Before an enabled action is done, and after it. */
void coverage_before(struct run *run, const struct action *action);
void coverage_after(void);

/* Random runs begin, and end; between them states are counted. After each run: a row if the number of runs is a power of two,
 * or if it was the last. */
void coverage_begin_growth(struct run *run);
void coverage_grow(struct run *run, uint64_t runs, uint64_t steps, bool last);
void coverage_end_growth(void);

/* ---- for reports ---- */

/* Adds what one has covered to another, without rows. */
void coverage_merge(struct coverage *into, const struct coverage *from);

/* Sorts the events by name. Nobody may note anything any more. */
void coverage_sort(struct coverage *coverage);

/* The index-th mark of the recipe, by name; NULL behind the last. *place is its index in `mark`. */
const struct ls_mark *coverage_mark(const struct ls_recipe *recipe, int index, int *place);

/* Number of the recipe's states, at least 1, and their names. */
int coverage_states(const struct ls_recipe *recipe);
const char *coverage_state_name(const struct ls_recipe *recipe, int state);

/* How many pairs were seen. */
uint32_t coverage_pairs(const struct coverage *coverage);

#endif
