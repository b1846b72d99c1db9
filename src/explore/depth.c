/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Depth-first search. All new successors of a state are pushed on a stack at once, and the last state of the
 * stack that waits is expanded next. A state on the stack waits, is on the path from the first state to the
 * present one, was given to another worker, or was not looked up. */
#include "base/arena.h"
#include "base/array.h"
#include "base/assert.h"
#include "explore/checkpoint.h"
#include "explore/expansion.h"
#include "explore/self_check.h"
#include "explore/work_sharing.h"
#include "state/visited.h"

#include <stdlib.h>
#include <string.h>

/* A state on the stack. Its block numbers are in `state` of struct descent. */
struct place {
    struct action action;
    enum { PLACE_WAITS, PLACE_ON_PATH, PLACE_GIVEN_AWAY, PLACE_UNSEEN } is;
};

struct descent {
    struct search *search;
    struct expansion *expansion;
    const struct share_piece *piece; /* another worker's: its path leads to the first place; NULL = none */
    struct place *place;
    uint32_t *state;
    size_t blocks;
    size_t places, places_max;
    size_t depth; /* places on the path, without the first */
    bool whole;   /* all work that is left is on the stack */
};

/* Returns the number of steps from the first state of all runs to the end of the path. */
static uint64_t depth_of(const struct descent *d)
{
    return (d->piece != NULL ? d->piece->length : 0) + d->depth;
}

static uint32_t *state_at(const struct descent *d, size_t place)
{
    LS_ASSERT(place < d->places_max);
    return d->state + place * d->blocks;
}

static bool make_room(struct descent *d)
{
    if (d->places < d->places_max) {
        return true;
    }
    size_t more = array_more(d->places_max, 1024);
    if (!array_resize(&d->place, more, sizeof *d->place) ||
        !array_resize(&d->state, more, d->blocks * sizeof *d->state)) {
        return false;
    }
    d->places_max = more;
    return true;
}

static bool push(struct descent *d, const struct action *action, const uint32_t *state)
{
    if (!make_room(d)) {
        d->search->limit = "memory is short";
        return false;
    }
    d->place[d->places] = (struct place){.action = *action};
    memcpy(state_at(d, d->places), state, d->blocks * sizeof *state);
    d->places++;
    LS_ASSERT(d->places <= d->places_max);
    return true;
}

static bool visit(struct descent *d, int successor)
{
    struct search *search = d->search;
    struct expansion *x = d->expansion;
    if (expansion_is_subsumed(x, successor)) {
        return true;
    }
    if (search->exact != NULL) {
        expansion_load(x, expansion_state(x, successor));
    }
    switch (search_visit(search, expansion_fingerprint(x, successor))) {
    case VISITED_NEW:
        return push(d, expansion_action(x, successor), expansion_state(x, successor));
    case VISITED_KNOWN:
        return true;
    default:
        return false;
    }
}

/* If checkpoints are written, pushes the successors from `first` on, at which a limit has ended the search.
 * They are unseen, but for `first` if it is counted already. --subsume, which takes another order, excludes
 * checkpoints. */
static void leave_unseen(struct descent *d, int first, int count)
{
    LS_ASSERT(first >= 0 && first < count);
    struct expansion *x = d->expansion;
    bool well = checkpoint_is_wanted(d->search);
    for (int i = first; well && i < count; i++) {
        bool counted = i == first && visited_has(d->search->visited, expansion_fingerprint(x, i));
        well = push(d, expansion_action(x, i), expansion_state(x, i));
        if (well && !counted) {
            d->place[d->places - 1].is = PLACE_UNSEEN;
        }
    }
    d->whole = well;
}

/* Copies the actions of the places from 1 to `place` - 1 that are on the path. Returns their number. */
static size_t copy_path(const struct descent *d, struct action *to, size_t place)
{
    LS_ASSERT(place <= d->places);
    size_t count = 0;
    for (size_t i = 1; i < place; i++) {
        if (d->place[i].is == PLACE_ON_PATH) {
            to[count++] = d->place[i].action;
        }
    }
    return count;
}

/* Returns the actions from the first state of all runs to the present one, then `last` unless it is NULL.
 * Sets *length. The caller frees the list; NULL if memory is short. */
static struct action *whole_path(const struct descent *d, const struct action *last, size_t *length)
{
    size_t before = d->piece != NULL ? d->piece->length : 0;
    struct action *path = malloc((before + d->depth + 2) * sizeof *path);
    if (path == NULL) {
        return NULL;
    }
    if (before > 0) {
        memcpy(path, d->piece->action, before * sizeof *path);
    }
    *length = before + copy_path(d, path + before, d->places);
    LS_ASSERT(*length == depth_of(d));
    if (last != NULL) {
        path[(*length)++] = *last;
    }
    return path;
}

static bool doubt_path(struct descent *d)
{
    size_t length = 0;
    struct action *path = whole_path(d, NULL, &length);
    expansion_load(d->expansion, state_at(d, d->places - 1));
    bool right = path == NULL || distrust_path(d->search, path, length);
    free(path);
    return right;
}

static void keep_path(struct descent *d)
{
    struct search *search = d->search;
    size_t length = 0;
    struct action *path =
        whole_path(d, search->path_rests ? NULL : expansion_action(d->expansion, 0), &length);
    search_keep_path(search, path, path != NULL ? length : 1);
}

static void pop(struct descent *d)
{
    LS_ASSERT(d->places > 0 && d->place[d->places - 1].is != PLACE_WAITS);
    d->places--;
    d->depth -= d->place[d->places].is == PLACE_ON_PATH && d->places > 0;
    LS_ASSERT(d->depth <= d->places);
}

/* Expands the last place, which waits. It becomes the end of the path. False if the search is over. */
static bool go_down(struct descent *d)
{
    struct search *search = d->search;
    struct place *place = &d->place[d->places - 1];
    LS_ASSERT(place->is == PLACE_WAITS);
    place->is = PLACE_ON_PATH;
    d->depth += d->places > 1;
    if (depth_of(d) > search->counts->depth) {
        search->counts->depth = depth_of(d);
    }
    if (distrust_is_due(search, DISTRUST_PATH_EVERY, &search->next_again) && !doubt_path(d)) {
        return false;
    }
    static uint32_t state[ARENA_BLOCKS_MAX]; /* a copy: the list moves while it grows */
    memcpy(state, state_at(d, d->places - 1), d->blocks * sizeof *state);
    d->whole = false;
    int count = expansion_of(d->expansion, state, depth_of(d));
    for (int i = 0; i < count; i++) {
        /* a process's faults are listed last, and the last one pushed is expanded first: with --subsume,
         * states with more budget left are to go first */
        if (!visit(d, d->search->options->subsume ? count - 1 - i : i)) {
            leave_unseen(d, i, count);
            return false;
        }
    }
    d->whole = count >= 0;
    return count >= 0;
}

/* Expands the last place if it waits; else pops it. Returns false if the search is over, or no place is
 * left. */
static bool advance(struct descent *d)
{
    if (d->places == 0) {
        return false;
    }
    if (d->place[d->places - 1].is != PLACE_WAITS) {
        pop(d);
        return d->places > 0;
    }
    return go_down(d);
}

static bool sweep(struct descent *d)
{
    bool swept = expansion_sweep(d->expansion);
    for (size_t i = 0; swept && i < d->places; i++) {
        swept = expansion_keep(d->expansion, state_at(d, i));
    }
    expansion_swept(d->expansion);
    if (!swept) {
        d->search->limit = "memory is short";
    }
    return swept;
}

static void note_progress(struct descent *d)
{
    struct search_counts *counts = d->search->counts;
    counts->frontier = d->places;
    counts->waiting_bytes =
        expansion_bytes(d->expansion) + d->places_max * (sizeof *d->place + d->blocks * sizeof *d->state);
}

/* ---- among several workers ---- */

/* Gives the waiting successors of one state of the path, but for the last place of the stack, to another
 * worker. Takes the state with such successors that is nearest to the first state. */
static void give_away(struct descent *d)
{
    static struct share_piece piece;
    size_t before = d->piece != NULL ? d->piece->length : 0;
    for (size_t i = 0; i + 1 < d->places && before + i <= SHARE_PATH_MAX; i++) {
        if (d->place[i].is != PLACE_WAITS) {
            continue;
        }
        size_t end = i;
        piece.untried = 0;
        if (before > 0) {
            memcpy(piece.action, d->piece->action, before * sizeof piece.action[0]);
        }
        piece.length = (uint32_t)(before + copy_path(d, piece.action + before, i));
        for (; end + 1 < d->places && d->place[end].is != PLACE_ON_PATH; end++) {
            if (d->place[end].is == PLACE_WAITS) {
                piece.action[piece.length + piece.untried++] = d->place[end].action;
            }
        }
        LS_ASSERT(piece.untried > 0 &&
                  piece.length + piece.untried <= sizeof piece.action / sizeof piece.action[0]);
        bool given = share_put(d->search->share, &piece);
        for (; given && i < end; i++) {
            d->place[i].is = PLACE_GIVEN_AWAY;
        }
        return;
    }
}

/* Does the path of a piece, and pushes its last state and the states behind its untried actions. The giver
 * has counted them already. */
static bool enter_piece(struct descent *d)
{
    const struct share_piece *piece = d->piece;
    struct run *run = d->search->run;
    LS_ASSERT(d->places == 0 && piece->untried > 0);
    struct check_stats stats = run->stats;
    uint32_t state[ARENA_BLOCKS_MAX];
    uint64_t fingerprint;
    for (uint32_t i = 0; i < piece->length; i++) {
        run_do(run, &piece->action[i], i + 1);
    }
    bool well = expansion_present(d->expansion, state, &fingerprint) && push(d, &(struct action){0}, state);
    for (uint32_t i = 0; well && i < piece->untried; i++) {
        const struct action *action = &piece->action[piece->length + i];
        expansion_load(d->expansion, state_at(d, 0));
        run_do(run, action, piece->length + 1);
        well = expansion_present(d->expansion, state, &fingerprint) && push(d, action, state);
    }
    run->stats = stats;
    if (well) {
        d->place[0].is = PLACE_ON_PATH;
    }
    return well;
}

/* ---- checkpoints ---- */

static bool add_place(struct stack *stack, const struct place *place)
{
    static const enum stack_mark MARKS[] = {
        [PLACE_WAITS] = STACK_WAITS, [PLACE_ON_PATH] = STACK_PATH, [PLACE_UNSEEN] = STACK_UNSEEN};
    LS_ASSERT(place->is <= PLACE_UNSEEN);
    return place->is == PLACE_GIVEN_AWAY || stack_add(stack, &place->action, MARKS[place->is]);
}

static bool list_stack(const struct descent *d, struct stack *stack)
{
    bool well = true;
    size_t before = d->piece != NULL ? d->piece->length : 0;
    if (d->piece != NULL && d->places > 0) {
        well = stack_add(stack, &(struct action){0}, STACK_PATH);
    }
    for (size_t i = 0; well && d->places > 0 && i < before; i++) {
        well = stack_add(stack, &d->piece->action[i], STACK_PATH);
    }
    for (size_t i = d->piece != NULL; well && i < d->places; i++) {
        well = add_place(stack, &d->place[i]);
    }
    return well;
}

/* Keeps the stack: a single worker writes the checkpoint; one of several gives its stack to share_hold(). */
static void keep(struct descent *d)
{
    struct search *search = d->search;
    struct stack stack = {0};
    bool well = list_stack(d, &stack);
    if (search->share != NULL) {
        share_hold(search, well ? &stack : NULL);
    } else if (well) {
        checkpoint_save(search, &search->run->stats, &stack, stack.size > 0);
    }
    stack_free(&stack);
}

/* Keeps the stack for a checkpoint if a limit, or the end of a shared search, ended this search. */
static void keep_rest(struct descent *d)
{
    struct search *search = d->search;
    struct stack stack = {0};
    bool over = search->share != NULL ? share_is_over(search->share) : false;
    if (!checkpoint_is_wanted(search) || search->violated || search->wrong[0] != 0 ||
        (search->limit == NULL && !over)) {
        return;
    }
    bool well = d->whole && list_stack(d, &stack);
    if (search->share != NULL) {
        share_leave(search, well ? &stack : NULL);
    } else if (well) {
        checkpoint_save(search, &search->run->stats, &stack, stack.size > 0);
    }
    stack_free(&stack);
}

static bool keep_is_due(const struct search *search)
{
    return search->share != NULL ? share_is_held(search->share) : checkpoint_is_due(search);
}

struct again {
    struct descent *d;
    size_t last; /* index of the last place on the path; the next entries are its successors */
    bool listed; /* `action` has the enabled actions of that place */
    struct action action[WORLD_ACTIONS_MAX];
    int actions;
};

/* Does an entry's action in the last state of the path. Returns false if it is not enabled there: the file of
 * a checkpoint is not trusted. */
static bool do_again(struct again *again, const struct action *action)
{
    struct descent *d = again->d;
    struct run *run = d->search->run;
    LS_ASSERT(again->last < d->places && d->place[again->last].is == PLACE_ON_PATH);
    expansion_load(d->expansion, state_at(d, again->last));
    if (!again->listed) {
        again->actions = world_actions(run->world, again->action);
        again->listed = true;
    }
    for (int i = 0; i < again->actions; i++) {
        if (world_same_action(&again->action[i], action)) {
            run_do(run, &again->action[i], d->depth + 1);
            return true;
        }
    }
    return false;
}

/* Pushes an entry's state, but looks up an unseen one first. If it is known, it is not pushed. If a limit
 * prevents the lookup, it stays unseen. */
static bool take_back(struct again *again, const struct action *action, enum stack_mark mark,
                      const uint32_t *state, uint64_t fingerprint)
{
    struct descent *d = again->d;
    bool unseen = mark == STACK_UNSEEN;
    LS_ASSERT(mark != STACK_PATH || d->places == 0 || d->place[0].is == PLACE_ON_PATH);
    if (unseen && d->search->limit == NULL) {
        enum visited_answer answer = search_visit(d->search, fingerprint);
        unseen = answer == VISITED_FULL && !visited_has(d->search->visited, fingerprint);
        if (answer == VISITED_KNOWN) {
            return true;
        }
    }
    if (!push(d, action, state)) {
        return false;
    }
    d->place[d->places - 1].is = unseen ? PLACE_UNSEEN : mark == STACK_PATH ? PLACE_ON_PATH : PLACE_WAITS;
    if (mark == STACK_PATH) {
        again->last = d->places - 1;
        again->listed = false;
        d->depth += again->last > 0;
    }
    return true;
}

static bool enter_entry(struct again *again, const struct stack *stack, size_t index)
{
    struct descent *d = again->d;
    struct action action;
    enum stack_mark mark;
    uint32_t state[ARENA_BLOCKS_MAX];
    uint64_t fingerprint;
    bool fits =
        stack_entry(stack, index, &action, &mark) &&
        (index == 0 || (d->places > 0 && d->place[0].is == PLACE_ON_PATH && do_again(again, &action)));
    if (!fits) {
        checkpoint_is_wrong(d->search, "a state that it knows of cannot be reached");
        return false;
    }
    run_beat();
    return expansion_present(d->expansion, state, &fingerprint) &&
           take_back(again, &action, mark, state, fingerprint);
}

/* Does the actions of a stack's entries, and pushes their states (see take_back()). Counts no transition, and
 * leaves the findings as they were. */
static bool enter_stack(struct descent *d, const struct stack *stack)
{
    static struct again again;
    struct run *run = d->search->run;
    struct check_stats stats = run->stats;
    size_t entries = stack_entries(stack);
    bool well = true;
    LS_ASSERT(d->places == 0 && d->depth == 0);
    again = (struct again){.d = d};
    d->whole = false;
    for (size_t i = 0; well && i < entries; i++) {
        well = enter_entry(&again, stack, i);
    }
    run->stats = stats;
    d->whole = well;
    return well;
}

static bool open_descent(struct descent *d)
{
    d->expansion = expansion_open(d->search);
    if (d->expansion == NULL) {
        d->search->limit = "memory is short";
        return false;
    }
    d->blocks = (size_t)expansion_blocks(d->expansion);
    return true;
}

static bool begin(struct descent *d)
{
    struct search *search = d->search;
    uint32_t state[ARENA_BLOCKS_MAX];
    uint64_t fingerprint;
    if (!open_descent(d)) {
        return false;
    }
    if (d->piece != NULL) {
        return enter_piece(d);
    }
    return expansion_present(d->expansion, state, &fingerprint) &&
           search_visit(search, fingerprint) != VISITED_FULL && push(d, &(struct action){0}, state);
}

static void end(struct descent *d)
{
    if (d->search->violated) {
        keep_path(d);
    }
    keep_rest(d);
    if (d->expansion != NULL) {
        note_progress(d);
    }
    expansion_close(d->expansion);
    free(d->place);
    free(d->state);
}

static void descend(struct descent *d)
{
    struct search *search = d->search;
    bool goes_on = search->limit == NULL;
    while (goes_on && !search_limited(search)) {
        goes_on = advance(d);
        bool looks = search->counts->transitions >= search->look;
        if (looks) {
            note_progress(d);
            goes_on = goes_on && (!expansion_is_full(d->expansion) || sweep(d));
        }
        if (goes_on && search->share != NULL && share_is_hungry(search->share)) {
            give_away(d);
        }
        if (goes_on && (looks || search->share != NULL) && keep_is_due(search)) {
            keep(d);
        }
    }
}

void search_depth_first(struct search *search, const struct share_piece *piece)
{
    struct descent d = {.search = search, .piece = piece, .whole = true};
    if (begin(&d)) {
        descend(&d);
    } else {
        d.whole = false;
    }
    end(&d);
}

void search_depth_first_again(struct search *search, const struct stack *stack)
{
    struct descent d = {.search = search, .whole = true};
    if (open_descent(&d) && enter_stack(&d, stack)) {
        descend(&d);
    } else {
        d.whole = false;
    }
    end(&d);
}
