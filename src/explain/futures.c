/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Depth-first search over images of the world. A state is the world up to renaming, and what is left of the
 * script. States on the path keep their image; all visited states leave a fingerprint. */
#include "explain/futures.h"

#include "base/array.h"
#include "base/assert.h"
#include "base/hash.h"
#include "sim/remark.h"
#include "sim/waiters.h"
#include "state/canon.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DEPTH_MAX 3000   /* steps of a continuation; a longer one is not decided */
#define FIRST_SLOTS 4096 /* a power of two */
#define LISTS (WORLD_PROCESSES_MAX + 1)

/* Position in the script: how many acts of each process are passed, and of no process in the last place. */
struct place {
    uint16_t done[LISTS];
};

struct node {
    struct world_image *image;
    struct action *action; /* owned: enabled actions of the world, then acts of the script */
    int actions, acts;     /* number of all of them, and of the acts at the end */
    int next;              /* the first one that is not done yet */
    struct place place;
    uint64_t key;
    bool calls; /* a caller acts in the step to the next node */
};

enum goal { GOAL_BREAK, GOAL_KEEP };

struct futures {
    struct run *run;
    int position;
    bool serves; /* `waiter` has to be served; false = the promise is judged by events */
    struct waiter waiter;
    struct canon *canon; /* NULL = states are compared without renaming */
    bool each_rest;      /* see futures_judge_each_rest() */
    bool endless;        /* some program has no end, so a circle of calls counts as an end */
    uint64_t *slot;      /* fingerprints of visited states; 0 = free */
    size_t slots, known;
    struct node *node; /* the path */
    size_t depth, depth_max;
    struct action *enabled;

    /* The present search. */
    enum goal goal;
    const struct script *script;
    int acts[LISTS]; /* number of acts of each list of the script */
    struct futures_bounds bounds;
    struct futures_found *found;
    check_mask violated; /* in the state where the search began */
    bool over;
};

/* ---- life ---- */

static bool has_endless_program(const struct world_options *options)
{
    for (int p = 0; p < options->processes; p++) {
        if (options->program[p].endless) {
            return true;
        }
    }
    return false;
}

struct futures *futures_open(struct run *run, int position, int waiter)
{
    LS_ASSERT(position >= 0 && position < CHECK_PROPERTIES_MAX);
    struct futures *f = calloc(1, sizeof *f);
    if (f == NULL) {
        return NULL;
    }
    *f = (struct futures){.run = run, .position = position, .serves = waiter >= 0, .slots = FIRST_SLOTS};
    if (f->serves) {
        struct waiter list[WAITERS_MAX];
        LS_ALWAYS(waiter < waiters_list(world_get_options(run->world), list));
        f->waiter = list[waiter];
    }
    f->slot = calloc(f->slots, sizeof *f->slot);
    f->enabled = malloc(WORLD_ACTIONS_MAX * sizeof *f->enabled);
    f->canon = world_canon(run->world);
    f->endless = has_endless_program(world_get_options(run->world));
    if (f->slot == NULL || f->enabled == NULL) {
        futures_close(f);
        return NULL;
    }
    return f;
}

void futures_judge_each_rest(struct futures *f)
{
    LS_ASSERT(f->depth == 0);
    f->each_rest = true;
}

static void pop(struct futures *f)
{
    LS_ASSERT(f->depth > 0);
    struct node *node = &f->node[--f->depth];
    world_image_free(node->image);
    free(node->action);
}

void futures_close(struct futures *f)
{
    if (f == NULL) {
        return;
    }
    LS_ASSERT(f->depth == 0);
    canon_close(f->canon);
    free(f->slot);
    free(f->node);
    free(f->enabled);
    free(f);
}

static int list_of(const struct action *action)
{
    return action->process < WORLD_PROCESSES_MAX ? action->process : WORLD_PROCESSES_MAX;
}

/* ---- visited states ---- */

static bool grow(struct futures *f)
{
    size_t slots = 2 * f->slots;
    LS_ASSERT(f->known <= f->slots && (f->slots & (f->slots - 1)) == 0);
    uint64_t *slot = calloc(slots, sizeof *slot);
    if (slot == NULL) {
        return false;
    }
    for (size_t i = 0; i < f->slots; i++) {
        size_t at = f->slot[i] & (slots - 1);
        while (f->slot[i] != 0 && slot[at] != 0) {
            at = (at + 1) & (slots - 1);
        }
        slot[at] = f->slot[i] != 0 ? f->slot[i] : slot[at];
    }
    free(f->slot);
    f->slot = slot;
    f->slots = slots;
    return true;
}

/* Returns whether the state is new, and keeps it. */
static bool is_new(struct futures *f, uint64_t key)
{
    size_t at = key & (f->slots - 1);
    while (f->slot[at] != 0 && f->slot[at] != key) {
        at = (at + 1) & (f->slots - 1);
    }
    if (f->slot[at] == key) {
        return false;
    }
    f->slot[at] = key;
    f->known++;
    LS_ASSERT(f->known < f->slots);
    return true;
}

static void forget(struct futures *f)
{
    LS_ASSERT(f->depth == 0);
    memset(f->slot, 0, f->slots * sizeof *f->slot);
    f->known = 0;
}

/* A place in the script counts by the acts that are left: so tails of one script have comparable states. */
static uint64_t key_of(struct futures *f, const struct place *place)
{
    uint64_t print = f->canon != NULL ? canon_fingerprint(f->canon) : world_fingerprint(f->run->world);
    for (int i = 0; f->script->count > 0 && i < LISTS; i++) {
        uint64_t left = (uint64_t)(f->acts[i] - place->done[i]);
        print = left > 0 ? hash_mix(print ^ hash_mix((uint64_t)(i + 1) << 32 | left)) : print;
    }
    return print + (print == 0);
}

/* ---- the script ---- */

/* Returns the next act of a list behind the acts that are done; NULL = none is left. */
static const struct action *next_act(const struct futures *f, const struct place *place, int list)
{
    int passed = 0;
    LS_ASSERT(list >= 0 && list < LISTS && place->done[list] <= f->acts[list]);
    for (int i = 0; i < f->script->count; i++) {
        const struct action *action = &f->script->action[i];
        if (list_of(action) == list && passed++ == place->done[list]) {
            return action;
        }
    }
    return NULL;
}

/* Passes over ends of faults that have ended already. */
static void pass_over(struct futures *f, struct place *place)
{
    const struct action *act;
    for (int list = 0; list < LISTS; list++) {
        while ((act = next_act(f, place, list)) != NULL && action_has(act, TRAIT_HEALS) &&
               !world_enabled(f->run->world, act)) {
            place->done[list]++;
        }
    }
}

static int add_acts(struct futures *f, const struct place *place, int count)
{
    int first = count;
    LS_ASSERT(count >= 0 && count <= WORLD_ACTIONS_MAX);
    for (int list = 0; f->script->count > 0 && list < LISTS && count < WORLD_ACTIONS_MAX; list++) {
        const struct action *act = next_act(f, place, list);
        if (act != NULL && world_enabled(f->run->world, act)) {
            f->enabled[count++] = *act;
        }
    }
    return count - first;
}

/* ---- ends of the search ---- */

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void stop(struct futures *f, const char *limit)
{
    LS_ASSERT(!f->over && f->found->answer == FUTURES_NONE);
    f->found->answer = FUTURES_UNDECIDED;
    f->found->limit = limit;
    f->over = true;
}

/* Ends the search with the path to the present state, `steps` long. */
static void succeed(struct futures *f, size_t steps)
{
    LS_ASSERT(!f->over && f->found->answer == FUTURES_NONE);
    f->found->answer = FUTURES_SOME;
    f->found->steps = steps;
    f->over = true;
    if (steps > 0) {
        LS_ASSERT(f->depth > 0);
        world_restore(f->run->world, f->node[0].image);
        world_label(f->run->world, &f->node[0].action[f->node[0].next - 1], f->found->first);
    }
}

static bool is_violated(const struct futures *f)
{
    return (f->run->stats.violated >> f->position & 1) != 0;
}

/* Restores the violations of the state where the search began: one of another branch must not count. */
static void forget_violation(struct futures *f)
{
    f->run->stats.violated = f->violated;
    f->run->stats.finding[f->position].violated = false;
    LS_ASSERT(!is_violated(f));
}

static bool is_limited(struct futures *f)
{
    const char *trouble = run_trouble(f->run);
    if (trouble != NULL) {
        stop(f, "a run met a limit of the world");
    } else if (f->bounds.states_max > 0 && f->found->states >= f->bounds.states_max) {
        stop(f, "states");
    } else if (f->bounds.until_s > 0 && f->found->states % 64 == 0 && now_s() > f->bounds.until_s) {
        stop(f, "time");
    } else if (f->depth >= DEPTH_MAX) {
        stop(f, "a run is too long");
    } else if (f->known >= f->slots / 4 * 3 && !grow(f)) {
        stop(f, "memory is short");
    }
    return f->over;
}

/* ---- one state ---- */

static bool moves(const struct action *actions, int count)
{
    for (int i = 0; i < count; i++) {
        if (action_has(&actions[i], TRAIT_MOVES)) {
            return true;
        }
    }
    return false;
}

/* If the world is at rest, judges it and returns true. Judges may write to their block. */
static bool rests(struct futures *f)
{
    return world_at_rest(f->run->world) && world_rest(f->run->world);
}

/* Judges the present state if it is at rest. If the state, `steps` from the first one, answers the question,
 * ends the search. Returns whether no step is to be done from this state. */
static bool ends(struct futures *f, size_t steps, int count, int acts)
{
    LS_ASSERT(acts >= 0 && acts <= count);
    bool served = f->serves && !waiter_waits(&f->waiter);
    bool moving = moves(f->enabled, count - acts) || acts > 0;
    bool rest = (!moving || f->each_rest) && rests(f);
    if (rest && is_violated(f)) {
        if (f->goal == GOAL_BREAK) {
            succeed(f, steps);
        }
        return true;
    }
    bool late = f->bounds.until_ms > 0 && world_now_ms(f->run->world) > f->bounds.until_ms;
    bool kept = f->serves ? served : (rest && !moving) || count == 0 || late;
    f->found->timed_out = f->found->timed_out || (late && !rest);
    if (kept && f->goal == GOAL_KEEP) {
        succeed(f, steps);
    }
    return (rest && !moving && world_get_options(f->run->world)->timed) || late || f->over;
}

/* Puts the present state at the end of the path, unless it was visited before, is an end, or the search
 * ends. */
static void visit(struct futures *f, struct place place)
{
    struct world *world = f->run->world;
    pass_over(f, &place);
    uint64_t key = key_of(f, &place);
    if (!is_new(f, key) || is_limited(f)) {
        return;
    }
    f->found->states++;
    int count = world_actions(world, f->enabled), acts = add_acts(f, &place, count);
    count += acts;
    if (ends(f, f->depth, count, acts)) {
        return;
    }
    struct node node = {
        .image = world_save(world), .actions = count, .acts = acts, .place = place, .key = key};
    node.action = malloc((size_t)(count + 1) * sizeof *node.action);
    if (node.image == NULL || node.action == NULL ||
        !array_room(&f->node, f->depth, &f->depth_max, sizeof *f->node, 256)) {
        world_image_free(node.image);
        free(node.action);
        stop(f, "memory is short");
        return;
    }
    memcpy(node.action, f->enabled, (size_t)count * sizeof *node.action);
    f->node[f->depth++] = node;
}

/* Returns whether the state with this key is on the path, and a caller acts between it and the path's end. */
static bool closes_circle(const struct futures *f, uint64_t key)
{
    bool calls = false;
    for (size_t i = f->depth; i-- > 0;) {
        calls = calls || f->node[i].calls;
        if (f->node[i].key == key) {
            return calls;
        }
    }
    return false;
}

/* Does the next action of the last node. */
static void step(struct futures *f)
{
    struct node *node = &f->node[f->depth - 1];
    int index = node->next++;
    struct action action = node->action[index];
    struct place place = node->place;
    LS_ASSERT(index < node->actions);
    world_restore(f->run->world, node->image);
    forget_violation(f);
    node->calls = action_has(&action, TRAIT_VERB);
    if (index >= node->actions - node->acts) {
        LS_ASSERT(place.done[list_of(&action)] < f->acts[list_of(&action)]);
        place.done[list_of(&action)]++;
    }
    run_do(f->run, &action, f->run->steps);
    if (is_violated(f)) {
        if (f->goal == GOAL_BREAK) {
            succeed(f, f->depth);
        }
        return;
    }
    /* a promise about waiting: the waiter waits in each state of the path, so in the whole circle */
    bool keeps = f->endless && !f->serves && f->goal == GOAL_KEEP;
    if (keeps && closes_circle(f, key_of(f, &place))) {
        succeed(f, f->depth);
        return;
    }
    visit(f, place);
}

static void begin(struct futures *f, enum goal goal, const struct script *script,
                  struct futures_bounds bounds, struct futures_found *found)
{
    LS_ASSERT(f->depth == 0 && !is_violated(f));
    *found = (struct futures_found){.answer = FUTURES_NONE};
    f->goal = goal;
    f->script = script;
    f->bounds = bounds;
    f->found = found;
    f->violated = f->run->stats.violated;
    f->over = false;
    memset(f->acts, 0, sizeof f->acts);
    for (int i = 0; i < script->count; i++) {
        f->acts[list_of(&script->action[i])]++;
    }
}

static void go_through(struct futures *f)
{
    visit(f, (struct place){0});
    while (!f->over && f->depth > 0) {
        if (f->node[f->depth - 1].next == f->node[f->depth - 1].actions) {
            pop(f);
        } else {
            step(f);
        }
    }
    while (f->depth > 0) {
        pop(f);
    }
}

/* The present state of a run, to come back to. */
struct kept {
    struct world_image *image; /* NULL = memory was short */
    struct check_stats stats;
    uint64_t steps;
    check_mask told;
};

static void keep(struct kept *kept, const struct run *run)
{
    kept->image = world_save(run->world);
    kept->stats = run->stats;
    kept->steps = run->steps;
    kept->told = run->told;
}

static void come_back(struct kept *kept, struct run *run)
{
    world_restore(run->world, kept->image);
    world_image_free(kept->image);
    run->stats = kept->stats;
    run->steps = kept->steps;
    run->told = kept->told;
}

static void search(struct futures *f, enum goal goal, const struct script *script,
                   struct futures_bounds bounds, struct futures_found *found)
{
    static struct kept here;
    keep(&here, f->run);
    begin(f, goal, script, bounds, found);
    if (here.image == NULL) {
        stop(f, "memory is short");
        return;
    }
    go_through(f);
    come_back(&here, f->run);
}

/* ---- questions ---- */

void futures_break(struct futures *futures, const struct script *script, struct futures_bounds bounds,
                   struct futures_found *found)
{
    forget(futures);
    search(futures, GOAL_BREAK, script, bounds, found);
}

void futures_keep(struct futures *futures, const struct script *script, struct futures_bounds bounds,
                  struct futures_found *found)
{
    forget(futures);
    search(futures, GOAL_KEEP, script, bounds, found);
}

void futures_keep_unharmed(struct futures *futures, const struct script *script, struct futures_bounds bounds,
                           struct futures_found *found)
{
    struct world_image *here = world_save(futures->run->world);
    if (here == NULL) {
        *found = (struct futures_found){.answer = FUTURES_UNDECIDED, .limit = "memory is short"};
        return;
    }
    world_end_faults(futures->run->world);
    search(futures, GOAL_KEEP, script, bounds, found);
    world_restore(futures->run->world, here);
    world_image_free(here);
}

/* Asks both questions about the present state, the second without new faults. Of a promise about waiting for
 * ever, asks only the second: no event breaks it. */
static void ask_both(struct futures *futures, const struct script *script, struct futures_bounds bounds,
                     struct futures_behind *found)
{
    if (!futures->serves) {
        futures_break(futures, script, bounds, &found->breaks);
    }
    world_end_faults(futures->run->world);
    futures_keep(futures, script, bounds, &found->keeps);
}

void futures_behind(struct futures *futures, const struct action *choice, const struct script *script,
                    struct futures_bounds bounds, struct futures_behind *found)
{
    static struct kept here;
    const struct futures_found none = {.answer = FUTURES_UNDECIDED, .limit = "memory is short"};
    struct run *run = futures->run;
    LS_ASSERT(!is_violated(futures));
    *found = (struct futures_behind){.breaks = none, .keeps = none};
    keep(&here, run);
    if (here.image == NULL) {
        return;
    }
    run_do(run, choice, run->steps + 1);
    found->at_once = is_violated(futures);
    if (!found->at_once) {
        ask_both(futures, script, bounds, found);
    }
    come_back(&here, run);
}
