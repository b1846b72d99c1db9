/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "scenario/coverage.h"

#include "base/arena.h"
#include "base/assert.h"
#include "coord/coordinator.h"
#include "state/canon.h"
#include "state/visited.h"

#include <stdlib.h>
#include <string.h>

#define STATES_BYTES_MAX ((size_t)2 << 30) /* for the set of states: 8 bytes for each, and room to grow */

/* The linker defines both symbols; a program without marks has neither. */
extern struct ls_mark __start_ls_marks[]         /* NOLINT(bugprone-reserved-identifier) */
    __attribute__((weak, visibility("hidden"))); /* the first */
extern struct ls_mark __stop_ls_marks[]          /* NOLINT(bugprone-reserved-identifier) */
    __attribute__((weak, visibility("hidden"))); /* behind the last */

static struct coverage *into;
static const struct ls_recipe *of;
/* Not NULL while states of random runs are counted. */
static struct visited *states;
static struct canon *canon;

static struct {
    const struct ls_recipe *recipe;
    struct ls_mark *first;
    int count;
} elsewhere;

void coverage_marks_of(const struct ls_recipe *recipe, struct ls_mark *first, int count)
{
    LS_ASSERT(count >= 0);
    elsewhere.recipe = recipe;
    elsewhere.first = first;
    elsewhere.count = count;
}

/* Returns the marks of the module that contains the recipe. */
static struct ls_mark *marks_near(const struct ls_recipe *recipe, int *count)
{
    bool here = recipe == NULL || recipe != elsewhere.recipe;
    int found = here ? (int)(__stop_ls_marks - __start_ls_marks) : elsewhere.count;
    LS_ASSERT(found >= 0);
    *count = found < COVERAGE_MARKS_MAX ? found : COVERAGE_MARKS_MAX;
    return here ? __start_ls_marks : elsewhere.first;
}

static bool is_of(const struct ls_mark *mark, const struct ls_recipe *recipe)
{
    return recipe == elsewhere.recipe || (recipe->marks != NULL && strstr(mark->file, recipe->marks) != NULL);
}

void coverage_into(struct coverage *coverage, const struct ls_recipe *recipe)
{
    into = coverage;
    of = recipe;
    (void)coordinator_find(NULL)->take_told(); /* drop the bits of earlier runs */
}

bool coverage_is_on(void)
{
    return into != NULL;
}

static void set_bits(uint32_t *where, uint32_t bits)
{
    if ((__atomic_load_n(where, __ATOMIC_RELAXED) & bits) != bits) {
        __atomic_fetch_or(where, bits, __ATOMIC_RELAXED);
    }
}

static struct coverage_event *find(struct coverage *c, const char *name)
{
    uint32_t count = __atomic_load_n(&c->events, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(c->event[i].name, name) == 0) {
            return &c->event[i];
        }
    }
    return NULL;
}

/* Returns the event of this name, after adding it if it is new, under a lock: two workers may meet one new
 * event at once. Returns NULL if there is no room. */
static struct coverage_event *enter(struct coverage *c, const char *name)
{
    while (__atomic_exchange_n(&c->lock, 1, __ATOMIC_ACQUIRE) != 0) {
    }
    struct coverage_event *event = find(c, name);
    if (event == NULL && c->events < COVERAGE_EVENTS_MAX) {
        event = &c->event[c->events];
        LS_ASSERT(strlen(name) < sizeof event->name);
        strncpy(event->name, name, sizeof event->name - 1);
        __atomic_store_n(&c->events, c->events + 1, __ATOMIC_RELEASE);
    }
    c->full |= event == NULL;
    __atomic_store_n(&c->lock, 0, __ATOMIC_RELEASE);
    return event;
}

static bool is_for_all(const struct action *action, const char *name)
{
    return action->kind == ACTION_STOP || action->kind == ACTION_START || action->kind == ACTION_RESTART ||
           strncmp(name, "session-", 8) == 0;
}

static void note_pair(struct coverage *c, struct run *run, const struct action *action)
{
    char name[WORLD_LABEL_MAX];
    if (!world_stimulus(run->world, action, name)) {
        return;
    }
    uint32_t now = world_recipe_states(run->world, action->process);
    if ((now & (now - 1)) != 0 && !is_for_all(action, name)) {
        return;
    }
    name[COVERAGE_NAME_MAX - 1] = 0;
    struct coverage_event *event = find(c, name);
    event = event != NULL ? event : enter(c, name);
    if (event != NULL) {
        set_bits(&event->seen, now);
        set_bits(&event->grown, states != NULL ? now : 0);
    }
}

static void note_state(struct run *run)
{
    uint64_t fingerprint = canon != NULL ? canon_fingerprint(canon) : world_fingerprint(run->world);
    into->full |= visited_add(states, fingerprint) == VISITED_FULL;
}

/* Restores `read` of the arena, where a search notes the blocks that a step reads: the reads of this function
 * are no part of the step. */
void coverage_before(struct run *run, const struct action *action)
{
    if (into == NULL) {
        return;
    }
    uint64_t *read = world_arena(run->world)->read;
    uint64_t kept[2] = {read[0], read[1]};
    note_pair(into, run, action);
    if (states != NULL) {
        note_state(run);
    }
    read[0] = kept[0];
    read[1] = kept[1];
}

int coverage_take_mark(const struct ls_recipe *recipe, int behind)
{
    int count;
    struct ls_mark *first = marks_near(recipe, &count);
    for (int i = behind + 1; i < count; i++) {
        if (__atomic_load_n(&first[i].reached, __ATOMIC_RELAXED)) {
            first[i].reached = 0;
            return i;
        }
    }
    return -1;
}

void coverage_after(void)
{
    if (into == NULL) {
        return;
    }
    uint8_t bits = states != NULL ? COVERAGE_EVER | COVERAGE_GROWN : COVERAGE_EVER;
    for (int i = -1; (i = coverage_take_mark(of, i)) >= 0;) {
        __atomic_fetch_or(&into->mark[i], bits, __ATOMIC_RELAXED);
    }
    uint64_t told = coordinator_find(NULL)->take_told();
    if ((__atomic_load_n(&into->told, __ATOMIC_RELAXED) & told) != told) {
        __atomic_fetch_or(&into->told, told, __ATOMIC_RELAXED);
    }
}

void coverage_begin_growth(struct run *run)
{
    if (into == NULL) {
        return;
    }
    LS_ASSERT(states == NULL && canon == NULL);
    coverage_after(); /* takes marks reached before the random runs */
    states = visited_open(STATES_BYTES_MAX);
    canon = world_canon(run->world);
    into->full |= states == NULL;
    into->rows = 0;
}

static uint32_t count_bits(uint32_t bits)
{
    return (uint32_t)__builtin_popcount(bits);
}

static void add_row(uint64_t runs, uint64_t steps)
{
    LS_ASSERT(into != NULL && into->rows <= COVERAGE_ROWS_MAX);
    LS_ASSERT(into->rows == 0 || into->row[into->rows - 1].runs < runs);
    struct coverage_row row = {.runs = runs, .steps = steps, .states = visited_count(states)};
    for (uint32_t i = 0; i < into->events; i++) {
        row.pairs += count_bits(into->event[i].grown);
    }
    int count;
    const struct ls_mark *first = marks_near(of, &count);
    for (int i = 0; i < count; i++) {
        row.marks += is_of(&first[i], of) && (into->mark[i] & COVERAGE_GROWN) != 0;
    }
    if (into->rows < COVERAGE_ROWS_MAX) {
        into->row[into->rows++] = row;
    }
}

void coverage_grow(struct run *run, uint64_t runs, uint64_t steps, bool last)
{
    if (states == NULL) {
        return;
    }
    note_state(run);
    coverage_after();
    if (last || (runs & (runs - 1)) == 0) {
        add_row(runs, steps);
    }
}

void coverage_end_growth(void)
{
    visited_close(states);
    canon_close(canon);
    states = NULL;
    canon = NULL;
}

/* ---- reports ---- */

void coverage_merge(struct coverage *target, const struct coverage *from)
{
    LS_ASSERT(target != from && from->events <= COVERAGE_EVENTS_MAX);
    target->full |= from->full;
    target->told |= from->told;
    for (uint32_t i = 0; i < from->events; i++) {
        struct coverage_event *event = enter(target, from->event[i].name);
        if (event != NULL) {
            event->seen |= from->event[i].seen;
            event->grown |= from->event[i].grown;
        }
    }
    for (int i = 0; i < COVERAGE_MARKS_MAX; i++) {
        target->mark[i] |= from->mark[i];
    }
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct coverage_event *)a)->name, ((const struct coverage_event *)b)->name);
}

void coverage_sort(struct coverage *coverage)
{
    qsort(coverage->event, coverage->events, sizeof coverage->event[0], by_name);
}

/* Returns how many marks of the recipe precede this one, by name and then by position. */
static int rank_of(const struct ls_mark *mark, const struct ls_recipe *recipe)
{
    int count, before = 0;
    const struct ls_mark *first = marks_near(recipe, &count);
    for (int i = 0; i < count; i++) {
        const struct ls_mark *other = &first[i];
        int order = is_of(other, recipe) ? strcmp(other->name, mark->name) : 1;
        before += order < 0 || (order == 0 && other < mark);
    }
    LS_ASSERT(before < count);
    return before;
}

const struct ls_mark *coverage_mark(const struct ls_recipe *recipe, int index, int *place)
{
    int count;
    const struct ls_mark *first = marks_near(recipe, &count);
    for (int i = 0; i < count; i++) {
        const struct ls_mark *mark = &first[i];
        if (is_of(mark, recipe) && rank_of(mark, recipe) == index) {
            *place = i;
            return mark;
        }
    }
    return NULL;
}

int coverage_states(const struct ls_recipe *recipe)
{
    int count = 0;
    while (recipe->states != NULL && count < LS_RECIPE_STATES_MAX && recipe->states[count] != NULL) {
        count++;
    }
    return count > 0 ? count : 1;
}

const char *coverage_state_name(const struct ls_recipe *recipe, int state)
{
    LS_ASSERT(state >= 0 && state < LS_RECIPE_STATES_MAX);
    return recipe->states != NULL ? recipe->states[state] : "any";
}

uint32_t coverage_pairs(const struct coverage *coverage)
{
    uint32_t pairs = 0;
    for (uint32_t i = 0; i < coverage->events; i++) {
        pairs += count_bits(coverage->event[i].seen);
    }
    return pairs;
}
