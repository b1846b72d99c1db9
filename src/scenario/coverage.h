/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Coverage of a recipe by runs: its marks, and the pairs of an event and an abstract state that it met.
 *
 * An action may bring an event to a process (world_stimulus()): a reply with its code, a watch or session
 * event, a timer, a verb. The event counts for the abstract state of the process's attempts before the
 * action. If the attempts are in different states, the event counts for none of them, unless it is for all
 * attempts (session events, stop, start, restart). So a pair that is reported was really seen. Callbacks of
 * the client library during the opening or closing of a handle are no actions and do not count.
 *
 * Marks and pairs are noted when a step is done in the world. A search takes most steps from its step cache,
 * but the cache has only effects of steps that were done in the world. So the cache hides no pair and no mark
 * (docs/design/coverage-of-a-search.md). How often a pair is met is not counted.
 *
 * All data lies in one struct without pointers, in memory that workers share: workers set bits, and enter a
 * name under a lock. */
#ifndef SCENARIO_COVERAGE_H
#define SCENARIO_COVERAGE_H

#include "scenario/run.h"

#include <lockstep/sometimes.h>

#define COVERAGE_EVENTS_MAX 256
#define COVERAGE_NAME_MAX 48
#define COVERAGE_MARKS_MAX 256
#define COVERAGE_ROWS_MAX 64

#define COVERAGE_EVER 1u  /* reached by any run */
#define COVERAGE_GROWN 2u /* reached by a random run while states are counted */

struct coverage_event {
    char name[COVERAGE_NAME_MAX];
    uint32_t seen;  /* a bit for each state of the recipe in which the event came */
    uint32_t grown; /* as `seen`, of random runs while states are counted */
};

/* The coverage after `runs` random runs with `steps` actions in all. */
struct coverage_row {
    uint64_t runs, steps;
    uint64_t states; /* distinct up to renaming, as in a search, without run constants */
    uint32_t marks, pairs;
};

struct coverage {
    int lock;
    bool full; /* an event was left out, or memory for states was short */
    uint32_t events;
    struct coverage_event event[COVERAGE_EVENTS_MAX]; /* in order of arrival */
    uint8_t mark[COVERAGE_MARKS_MAX];                 /* COVERAGE_… bits, by `place` of coverage_mark() */
    uint64_t told;                                    /* see `take_told` of coord/coordinator.h */
    uint32_t rows;
    struct coverage_row row[COVERAGE_ROWS_MAX];
};

/* Sets the marks of a recipe from a shared object, which the linker's list lacks; all of them count as the
 * recipe's. A second call replaces the recipe of the first. */
void coverage_marks_of(const struct ls_recipe *recipe, struct ls_mark *first, int count);

/* Clears the first reached mark of the recipe's module whose index is greater than `behind`. Returns that
 * index, which is below COVERAGE_MARKS_MAX, or -1 if there is no such mark. */
int coverage_take_mark(const struct ls_recipe *recipe, int behind);

/* Makes this process and its later forks note coverage in `coverage` (NULL = not at all), with the marks of
 * the module that contains `recipe`. */
void coverage_into(struct coverage *coverage, const struct ls_recipe *recipe);
bool coverage_is_on(void);

/* Must be called before and after each enabled action. */
void coverage_before(struct run *run, const struct action *action);
void coverage_after(void);

/* Begin and end the counting of states of random runs. coverage_grow() must follow each run. It adds a row
 * if `runs` is a power of two, or if this was the last run. */
void coverage_begin_growth(struct run *run);
void coverage_grow(struct run *run, uint64_t runs, uint64_t steps, bool last);
void coverage_end_growth(void);

/* Adds the coverage of `from` to `into`, without rows. */
void coverage_merge(struct coverage *into, const struct coverage *from);

/* Sorts the events by name. No process may note coverage afterwards. */
void coverage_sort(struct coverage *coverage);

/* Returns the index-th mark of the recipe, by name; NULL behind the last. *place is its index in `mark`. */
const struct ls_mark *coverage_mark(const struct ls_recipe *recipe, int index, int *place);

/* Return the number of the recipe's abstract states, at least 1, and their names. */
int coverage_states(const struct ls_recipe *recipe);
const char *coverage_state_name(const struct ls_recipe *recipe, int state);

uint32_t coverage_pairs(const struct coverage *coverage);

#endif
