/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Breadth-first search: all states of one depth are expanded before those of the next depth. So each state is
 * reached by a shortest path of the steps that are explored. A state's parent and the action from it are
 * kept, and its block numbers at least until it is expanded. */
#include "base/arena.h"
#include "base/array.h"
#include "base/assert.h"
#include "explore/expansion.h"

#include <stdlib.h>
#include <string.h>

struct origin {
    uint32_t parent; /* number of the state that it was found from; 0 for the first state */
    uint32_t depth;
    struct action action;
};

struct wave {
    struct search *search;
    struct expansion *expansion;
    struct origin *origin; /* by number of a state: states are numbered as they are found */
    size_t states, states_max;
    size_t next;     /* number of the first state that is not expanded */
    uint32_t *waits; /* the block numbers of the states from number `first` on */
    size_t first, waits_max;
    size_t blocks; /* length of a state: one number for each block */
};

static uint32_t *state_at(const struct wave *w, size_t state)
{
    LS_ASSERT(state >= w->first && state - w->first < w->waits_max);
    return w->waits + (state - w->first) * w->blocks;
}

/* Makes room for one more state. If the list is full, and more than half of it is expanded, moves the
 * frontier to the start of the list; else grows the list. */
static bool make_room_to_wait(struct wave *w)
{
    LS_ASSERT(w->first <= w->next && w->next <= w->states);
    if (w->states - w->first < w->waits_max) {
        return true;
    }
    if (w->next - w->first > w->waits_max / 2) {
        memmove(w->waits, state_at(w, w->next), (w->states - w->next) * w->blocks * sizeof *w->waits);
        w->first = w->next;
        return true;
    }
    return array_room(&w->waits, w->states - w->first, &w->waits_max, w->blocks * sizeof *w->waits, 1024);
}

static bool make_room(struct wave *w)
{
    if (w->states == UINT32_MAX || !make_room_to_wait(w)) {
        return false;
    }
    return array_room(&w->origin, w->states, &w->states_max, sizeof *w->origin, 1024);
}

static void note_progress(struct wave *w)
{
    struct search_counts *counts = w->search->counts;
    counts->frontier = w->states - w->next;
    counts->waiting_bytes = expansion_bytes(w->expansion) + w->states_max * sizeof *w->origin +
                            w->waits_max * w->blocks * sizeof *w->waits;
}

static bool add_state(struct wave *w, size_t parent, const struct action *action, const uint32_t *state,
                      uint32_t depth)
{
    LS_ASSERT(parent <= w->states && (w->states == 0 || depth >= w->origin[w->states - 1].depth));
    if (!make_room(w)) {
        w->search->limit = "memory is short";
        return false;
    }
    w->origin[w->states] = (struct origin){.parent = (uint32_t)parent, .depth = depth, .action = *action};
    memcpy(state_at(w, w->states), state, w->blocks * sizeof *state);
    w->states++;
    w->search->counts->depth = depth;
    return true;
}

/* Keeps the actions from the first state to this one, and then `last` unless it is NULL, as search->path. */
static void keep_path(struct wave *w, size_t state, const struct action *last)
{
    uint64_t length = w->origin[state].depth;
    struct action *path = malloc((length + 2) * sizeof *path);
    for (uint64_t i = length; path != NULL && i > 0; i--) {
        path[i - 1] = w->origin[state].action;
        LS_ASSERT(w->origin[state].parent < state);
        state = w->origin[state].parent;
    }
    LS_ASSERT(path == NULL || state == 0);
    if (path != NULL && last != NULL) {
        path[length++] = *last;
    }
    search_keep_path(w->search, path, path != NULL ? length : 1);
}

static bool visit(struct wave *w, size_t state, int successor)
{
    struct search *search = w->search;
    struct expansion *x = w->expansion;
    if (expansion_is_subsumed(x, successor)) {
        return true;
    }
    if (search->exact != NULL) {
        expansion_load(x, expansion_state(x, successor));
    }
    enum visited_answer answer = search_visit(search, expansion_fingerprint(x, successor));
    return answer != VISITED_FULL &&
           (answer == VISITED_KNOWN || add_state(w, state, expansion_action(x, successor),
                                                 expansion_state(x, successor), w->origin[state].depth + 1));
}

static bool expand(struct wave *w, size_t state)
{
    uint32_t numbers[ARENA_BLOCKS_MAX]; /* a copy: the list moves while it grows */
    struct search *search = w->search;
    LS_ASSERT(state < w->states);
    memcpy(numbers, state_at(w, state), w->blocks * sizeof *numbers);
    int count = expansion_of(w->expansion, numbers, w->origin[state].depth);
    if (count < 0 && search->violated) {
        keep_path(w, state, search->path_rests ? NULL : expansion_action(w->expansion, 0));
    }
    for (int i = 0; i < count; i++) {
        if (!visit(w, state, i)) {
            return false;
        }
    }
    return count >= 0;
}

static bool sweep(struct wave *w)
{
    bool swept = expansion_sweep(w->expansion);
    for (size_t i = w->next; swept && i < w->states; i++) {
        swept = expansion_keep(w->expansion, state_at(w, i));
    }
    expansion_swept(w->expansion);
    if (!swept) {
        w->search->limit = "memory is short";
    }
    return swept;
}

static bool begin(struct wave *w)
{
    uint32_t state[ARENA_BLOCKS_MAX];
    uint64_t fingerprint;
    w->expansion = expansion_open(w->search);
    if (w->expansion == NULL) {
        w->search->limit = "memory is short";
        return false;
    }
    w->blocks = (size_t)expansion_blocks(w->expansion);
    return expansion_present(w->expansion, state, &fingerprint) &&
           search_visit(w->search, fingerprint) != VISITED_FULL &&
           add_state(w, 0, &(struct action){0}, state, 0);
}

void search_breadth_first(struct search *search)
{
    struct wave w = {.search = search};
    bool goes_on = begin(&w);
    while (goes_on && w.next < w.states && !search_limited(search)) {
        goes_on = expand(&w, w.next++);
        if (search->counts->transitions >= search->look) {
            note_progress(&w);
            goes_on = goes_on && (!expansion_is_full(w.expansion) || sweep(&w));
        }
    }
    if (w.expansion != NULL) {
        note_progress(&w);
    }
    expansion_close(w.expansion);
    free(w.waits);
    free(w.origin);
}
