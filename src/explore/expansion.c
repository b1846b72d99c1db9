/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "explore/expansion.h"

#include "base/assert.h"
#include "explore/persistent_set.h"
#include "explore/self_check.h"
#include "explore/step_cache.h"
#include "explore/subsume.h"
#include "state/canon.h"
#include "state/intern.h"

#include <stdlib.h>
#include <string.h>

/* A sweep is due when contents and cache take more bytes than REMEMBERED_BYTES plus
 * REMEMBERED_BYTES_PER_STATE for each state that search->counts has. They must also take more than twice the
 * bytes that the last sweep left. */
#define REMEMBERED_BYTES ((size_t)8 << 20)
#define REMEMBERED_BYTES_PER_STATE 1

struct expansion {
    struct search *search;
    struct world *world;
    struct arena *arena;
    int blocks, judges; /* count of blocks; index of the judges' block */
    int groups;
    struct intern *intern, *old; /* old: only during a sweep */
    struct memo *memo;           /* NULL = nothing is cached */
    struct subsume *subsume;
    struct partial partial;
    bool reduces;
    size_t kept; /* bytes in use after the last sweep */
    bool short_of_memory;
    uint32_t loaded[ARENA_BLOCKS_MAX]; /* number of each block's present content; INTERN_NONE = not known */
    const uint32_t *from;
    uint64_t depth;
    /* Of the state that look_up() was called with last, by block: numbers, hashes and parts. look_up() finds
     * them anew only for blocks whose numbers differ. */
    uint32_t looked[ARENA_BLOCKS_MAX];
    uint64_t hash[ARENA_BLOCKS_MAX];
    const struct canon_part *part[ARENA_BLOCKS_MAX];
    uint64_t sum;        /* sum of `hash` */
    uint64_t changed[2]; /* set of blocks that look_up() found changed since the last expansion */
    /* The step that has just been done. */
    struct run_events events;
    struct memo_change change[ARENA_BLOCKS_MAX];
    int changes;
    bool unused; /* the step is a delivery after which world_uses() is as before */
    /* The successors: each has an action, a fingerprint, and changes, with room for all blocks. */
    int count;
    struct action *action;
    uint64_t *fingerprint;
    struct memo_change *made;
    uint8_t *mades;                   /* by successor: the number of its changes */
    uint32_t state[ARENA_BLOCKS_MAX]; /* the successor that expansion_state() returned last */
};

/* Actions are zeroed: if the findings of a checkpoint have a violation, is_well() may fail before any step,
 * and expansion_action(x, 0) is read all the same. */
static bool open_lists(struct expansion *x)
{
    x->action = calloc(WORLD_ACTIONS_MAX, sizeof *x->action);
    x->fingerprint = malloc(WORLD_ACTIONS_MAX * sizeof *x->fingerprint);
    x->made = malloc((size_t)WORLD_ACTIONS_MAX * (size_t)x->blocks * sizeof *x->made);
    x->mades = malloc(WORLD_ACTIONS_MAX * sizeof *x->mades);
    x->intern = intern_open(x->arena);
    return x->action != NULL && x->fingerprint != NULL && x->made != NULL && x->mades != NULL &&
           x->intern != NULL;
}

/* Returns false for --no-memo and --exact, with which the world does each step. Returns false for --without
 * too: it filters whole lists of actions, and the cache has a list for each process. */
static bool may_remember(const struct explore_options *options)
{
    return !options->every_step && !options->exact && options->without == 0;
}

static void forget_looked(struct expansion *x)
{
    memset(x->looked, 0xff, sizeof x->looked);
    memset(x->hash, 0, sizeof x->hash);
    x->sum = 0;
}

struct expansion *expansion_open(struct search *search)
{
    struct expansion *x = calloc(1, sizeof *x);
    if (x == NULL) {
        return NULL;
    }
    x->search = search;
    x->world = search->run->world;
    x->arena = world_arena(x->world);
    x->blocks = x->arena->blocks;
    x->judges = world_judge_block(x->world);
    LS_ASSERT(x->blocks <= ARENA_BLOCKS_MAX && x->judges >= 0 && x->judges < x->blocks);
    x->groups = world_get_options(x->world)->processes + 1;
    memset(x->loaded, 0xff, sizeof x->loaded);
    forget_looked(x);
    x->reduces = partial_open(&x->partial, search);
    bool remembers = may_remember(search->options);
    x->memo = remembers ? memo_open(x->world) : NULL;
    x->subsume = search->options->subsume ? subsume_open(search) : NULL;
    if (!open_lists(x) || (remembers && x->memo == NULL) ||
        (search->options->subsume && x->subsume == NULL)) {
        expansion_close(x);
        return NULL;
    }
    return x;
}

void expansion_close(struct expansion *x)
{
    if (x == NULL) {
        return;
    }
    memo_close(x->memo);
    subsume_close(x->subsume);
    intern_close(x->intern);
    intern_close(x->old);
    free(x->events.event);
    free(x->action);
    free(x->fingerprint);
    free(x->made);
    free(x->mades);
    free(x);
}

int expansion_blocks(const struct expansion *x)
{
    return x->blocks;
}

/* ---- between the world and lists of numbers ---- */

/* Returns the number of a block's present content; INTERN_NONE if memory is short. With renaming, attaches
 * the content's part (canon.h) to the number. */
static uint32_t take_block(struct expansion *x, int block)
{
    uint32_t number = intern_take(x->intern, block);
    struct canon *canon = x->search->canon;
    if (number != INTERN_NONE && canon != NULL && intern_attached(x->intern, number) == NULL) {
        size_t size;
        const struct canon_part *part = canon_part(canon, block, &size);
        number = intern_attach(x->intern, number, part, size) ? number : INTERN_NONE;
    }
    x->short_of_memory |= number == INTERN_NONE;
    x->loaded[block] = number;
    return number;
}

static void load_block(struct expansion *x, int block, uint32_t number)
{
    if (x->loaded[block] != number) {
        LS_ASSERT(number != INTERN_NONE && x->arena->stale_count == 0);
        intern_put(x->intern, block, number);
        x->loaded[block] = number;
    }
}

static void load_all_but_judges(struct expansion *x, const uint32_t *state)
{
    for (int block = 0; block < x->blocks; block++) {
        if (block != x->judges) {
            load_block(x, block, state[block]);
        }
    }
}

void expansion_load(struct expansion *x, const uint32_t *state)
{
    load_all_but_judges(x, state);
    load_block(x, x->judges, state[x->judges]);
}

static uint64_t look_up(struct expansion *x, const uint32_t *state)
{
    for (int block = 0; block < x->blocks; block++) {
        if (x->looked[block] != state[block]) {
            uint64_t hash = intern_hash(x->intern, state[block]);
            x->sum += hash - x->hash[block];
            x->hash[block] = hash;
            x->part[block] = intern_attached(x->intern, state[block]);
            x->looked[block] = state[block];
            arena_set_add(x->changed, block);
        }
    }
    return x->search->canon != NULL ? canon_sum(x->search->canon, x->part, x->sum) : x->sum;
}

bool expansion_present(struct expansion *x, uint32_t *state, uint64_t *fingerprint)
{
    arena_fingerprint(x->arena);
    LS_ASSERT(x->arena->stale_count == 0);
    for (int block = 0; block < x->blocks; block++) {
        state[block] = take_block(x, block);
    }
    if (x->short_of_memory) {
        x->search->limit = "memory is short";
        return false;
    }
    *fingerprint = look_up(x, state);
    return true;
}

/* ---- doing a step ---- */

static bool is_well(struct expansion *x)
{
    struct search *search = x->search;
    if (x->short_of_memory || x->events.refused) {
        search->limit = "memory is short";
    } else if (run_violated(search->run)) {
        search->violated = true;
    } else {
        search->limit = run_trouble(search->run);
    }
    return !search->violated && search->limit == NULL;
}

/* Fills x->change: the marked blocks whose contents differ from those of x->from, with the numbers of the new
 * contents. Leaves no block marked. */
static void note_changes(struct expansion *x)
{
    int block[ARENA_BLOCKS_MAX];
    int count = x->arena->stale_count;
    for (int i = 0; i < count; i++) {
        block[i] = x->arena->stale_list[i];
    }
    arena_fingerprint(x->arena);
    x->changes = 0;
    for (int i = 0; i < count; i++) {
        uint32_t number = take_block(x, block[i]);
        LS_ASSERT(x->loaded[block[i]] == number && block[i] < x->blocks);
        if (number != x->from[block[i]]) {
            x->change[x->changes++] = (struct memo_change){(uint32_t)block[i], number};
        }
    }
}

/* Does a step of the state x->from in the world itself. Its events are not judged yet. */
static bool do_step(struct expansion *x, const struct action *action)
{
    LS_ASSERT(x->from != NULL && x->old == NULL);
    load_all_but_judges(x, x->from);
    x->events.count = 0;
    bool watched = x->reduces && action->kind == ACTION_DELIVER;
    uint64_t uses = watched ? world_uses(x->world, action->process) : 0;
    x->arena->read[0] = x->arena->read[1] = 0;
    run_do_held(x->search->run, action, x->depth + 1, &x->events);
    uint64_t read[2] = {x->arena->read[0], x->arena->read[1]};
    x->unused = watched && world_uses(x->world, action->process) == uses;
    note_changes(x);
    memcpy(x->arena->read, read, sizeof read);
    return is_well(x);
}

/* Judges events. *judges is the number of the judges' content: before the events, and then after them. */
static bool judge_events(struct expansion *x, uint32_t *judges, const struct event *events, int count)
{
    LS_ASSERT(count > 0);
    load_block(x, x->judges, *judges);
    run_judge(x->search->run, events, count, x->depth + 1);
    arena_fingerprint(x->arena);
    *judges = take_block(x, x->judges);
    return is_well(x);
}

static bool judge_and_remember(struct expansion *x, uint32_t *judges, uint32_t place)
{
    struct check_stats *stats = &x->search->run->stats;
    uint32_t premises[2 * CHECK_PROPERTIES_MAX]; /* pairs */
    const struct event *events;
    int count = memo_event_list(x->memo, place, &events);
    uint32_t asked = *judges;
    int met = 0;
    stats->met = 0;
    if (!judge_events(x, judges, events, count)) {
        return false;
    }
    for (check_mask left = stats->met; left != 0; left &= left - 1) {
        int position = __builtin_ctzll(left);
        premises[met++] = (uint32_t)position;
        premises[met++] = stats->met_times[position];
    }
    LS_ASSERT(met % 2 == 0 && met <= 2 * CHECK_PROPERTIES_MAX);
    x->short_of_memory |= !memo_add_verdict(x->memo, asked, place, *judges, premises, met / 2);
    return is_well(x);
}

static bool judge_remembered(struct expansion *x, uint32_t *judges, uint32_t place)
{
    const uint32_t *premises;
    int count;
    uint32_t after = memo_verdict(x->memo, *judges, place, &premises, &count);
    if (after == INTERN_NONE) {
        return judge_and_remember(x, judges, place);
    }
    *judges = after;
    for (; count > 0; count--, premises += 2) {
        x->search->run->stats.finding[premises[0]].premises += premises[1];
    }
    return true;
}

/* ---- one successor ---- */

static void finish_successor(struct expansion *x, const struct memo_change *made, int count)
{
    struct canon *canon = x->search->canon;
    const struct canon_part *part[ARENA_BLOCKS_MAX];
    uint64_t sum = x->sum;
    for (int i = 0; i < count; i++) {
        sum += intern_hash(x->intern, made[i].number) - x->hash[made[i].block];
        part[i] = intern_attached(x->intern, made[i].number);
    }
    uint64_t fingerprint = sum;
    if (canon != NULL) {
        fingerprint = canon_neighbour(canon, part, count, sum);
        x->search->counts->unrenamed += canon_is_refused(canon);
    }
    x->fingerprint[x->count] = fingerprint;
    x->mades[x->count] = (uint8_t)count;
    if (x->search->exact == NULL) {
        visited_prefetch(x->search->visited, fingerprint);
    }
}

static int note_made(const struct expansion *x, const struct memo_change *changes, int count,
                     struct memo_change *made)
{
    int mades = 0;
    for (int i = 0; i < count; i++) {
        made[mades] = changes[i];
        mades += changes[i].number != x->from[changes[i].block];
    }
    return mades;
}

static struct memo_change *made_at(const struct expansion *x, int successor)
{
    LS_ASSERT(successor >= 0 && successor < WORLD_ACTIONS_MAX);
    return x->made + (size_t)successor * (size_t)x->blocks;
}

static uint64_t sum_of(const struct expansion *x, const uint32_t *state)
{
    uint64_t sum = 0;
    for (int block = 0; block < x->blocks; block++) {
        sum += intern_hash(x->intern, state[block]);
    }
    return sum;
}

static bool doubt(struct expansion *x)
{
    const struct action *action = &x->action[x->count - 1];
    uint64_t sum = sum_of(x, expansion_state(x, x->count - 1));
    expansion_load(x, x->from);
    return distrust_step(x->search, action, x->depth + 1, sum);
}

static bool add_successor(struct expansion *x, const struct action *action, const struct memo_change *changes,
                          int count, uint32_t events)
{
    LS_ASSERT(x->count >= 0 && x->count < WORLD_ACTIONS_MAX);
    struct search *search = x->search;
    struct memo_change *made = made_at(x, x->count);
    int mades = note_made(x, changes, count, made); /* a copy: the cache may move below */
    uint32_t judges = x->from[x->judges];
    search->counts->transitions++;
    bool well = true;
    if (x->memo == NULL && x->events.count > 0) {
        well = judge_events(x, &judges, x->events.event, x->events.count);
    } else if (events != MEMO_NONE) {
        well = judge_remembered(x, &judges, events);
    }
    if (!well) {
        x->action[0] = *action;
        return false;
    }
    if (judges != x->from[x->judges]) {
        made[mades++] = (struct memo_change){(uint32_t)x->judges, judges};
    }
    x->action[x->count] = *action;
    finish_successor(x, made, mades);
    x->count++;
    return !distrust_is_due(search, DISTRUST_STEP_EVERY, &search->next_twice) || doubt(x);
}

/* ---- all successors ---- */

/* Returns the answer of world_alone() as a number: 2 * index of the action, + 1 if IF_UNUSED; -1 = none. */
static int candidate_of(const struct expansion *x, int group, const struct action *actions, int count)
{
    int which;
    enum world_alone alone =
        x->reduces ? world_alone(x->world, group, actions, count, &which) : WORLD_ALONE_NEVER;
    return alone == WORLD_ALONE_NEVER ? -1 : 2 * which + (alone == WORLD_ALONE_IF_UNUSED);
}

static enum memo_alone alone_now(const struct expansion *x, int process)
{
    bool alone = x->reduces && process < x->partial.processes &&
                 partial_is_alone(&x->partial, process, x->arena->read, x->change, x->changes, &x->events);
    return !alone ? MEMO_ALONE_NEVER : x->unused ? MEMO_ALONE_UNUSED : MEMO_ALONE_USED;
}

static bool is_alone(enum memo_alone alone, int candidate)
{
    return alone == MEMO_ALONE_UNUSED || (alone == MEMO_ALONE_USED && (candidate & 1) == 0);
}

static bool do_listed(struct expansion *x, const struct action *action)
{
    if (do_step(x, action)) {
        return true;
    }
    x->search->counts->transitions++;
    x->action[0] = *action;
    return false;
}

static bool doubt_order(struct expansion *x, const struct action *action)
{
    if (!distrust_is_due(x->search, DISTRUST_ORDER_EVERY, &x->search->next_order)) {
        return true;
    }
    expansion_load(x, x->from);
    return distrust_order(x->search, action, x->depth + 1);
}

/* Looks, process by process, for a step that may go before all others. Adds the first one as a successor, and
 * sets *done. Returns false if the search is over. */
static bool do_alone(struct expansion *x, bool *done)
{
    LS_ASSERT(x->reduces && x->partial.processes < x->groups);
    static struct action actions[WORLD_ACTIONS_MAX];
    *done = false;
    for (int p = 0; p < x->partial.processes; p++) {
        load_all_but_judges(x, x->from);
        int count = world_actions_of(x->world, p, actions);
        int candidate = candidate_of(x, p, actions, count);
        if (candidate < 0) {
            continue;
        }
        const struct action *action = &actions[candidate / 2];
        if (!do_listed(x, action)) {
            return false;
        }
        if (is_alone(alone_now(x, p), candidate)) {
            *done = true;
            return add_successor(x, action, x->change, x->changes, MEMO_NONE) && doubt_order(x, action);
        }
    }
    return true;
}

/* Does the steps of a state in the world itself: the one that goes before all others, or else each. Sets
 * *moves if an action has TRAIT_MOVES: then the state is not at rest. Returns false if the search is over. */
static bool do_all(struct expansion *x, bool *moves)
{
    static struct action actions[WORLD_ACTIONS_MAX];
    *moves = false;
    if (x->reduces && !do_alone(x, moves)) {
        return false;
    }
    if (*moves) {
        return true; /* the step that goes before all others is the only one */
    }
    load_all_but_judges(x, x->from);
    int count = world_actions(x->world, actions);
    *moves = search_moves(actions, count);
    for (int i = 0; i < count; i++) {
        if (!do_listed(x, &actions[i]) || !add_successor(x, &actions[i], x->change, x->changes, MEMO_NONE)) {
            return false;
        }
    }
    return true;
}

static struct memo_state state_of(const struct expansion *x)
{
    return (struct memo_state){x->from, x->hash};
}

static uint32_t list_group(struct expansion *x, int group)
{
    LS_ASSERT(group >= 0 && group < x->groups);
    struct memo_state state = state_of(x);
    static struct action actions[WORLD_ACTIONS_MAX];
    load_all_but_judges(x, x->from);
    x->arena->read[0] = x->arena->read[1] = 0;
    int count = world_actions_of(x->world, group, actions);
    int candidate = candidate_of(x, group, actions, count);
    uint64_t read[2] = {x->arena->read[0], x->arena->read[1]};
    bool moves = search_moves(actions, count);
    uint32_t entry = memo_add_entry(x->memo, group, &state, actions, count, moves, candidate, read);
    x->short_of_memory |= entry == MEMO_NONE;
    return entry;
}

/* Does the step of an entry's action in the world, and caches its effect. MEMO_NONE if the search is over. */
static uint32_t do_and_remember(struct expansion *x, uint32_t entry, int index, const struct action *action)
{
    if (!do_listed(x, action)) {
        return MEMO_NONE;
    }
    uint32_t events = MEMO_NONE;
    if (x->events.count > 0) {
        events = memo_events(x->memo, x->events.event, x->events.count);
        x->short_of_memory |= events == MEMO_NONE;
    }
    uint32_t effect = memo_add_effect(x->memo, entry, index, x->from, x->arena->read, x->change, x->changes,
                                      events, alone_now(x, action->process));
    x->short_of_memory |= effect == MEMO_NONE;
    return is_well(x) ? effect : MEMO_NONE;
}

/* Returns the effect of an entry's action, done now if it is not cached. MEMO_NONE if the search is over. */
static uint32_t effect_of(struct expansion *x, uint32_t entry, int index, struct action *action)
{
    memo_action(x->memo, entry, index, action);
    uint32_t effect = memo_effect(x->memo, entry, index, x->from);
    if (effect == MEMO_NONE) {
        effect = memo_effect_elsewhere(x->memo, entry, index, x->from, &x->short_of_memory);
    }
    return effect != MEMO_NONE ? effect : do_and_remember(x, entry, index, action);
}

static bool add_remembered(struct expansion *x, const struct action *action, uint32_t effect)
{
    const struct memo_change *changes;
    int changed = memo_changes(x->memo, effect, &changes);
    return add_successor(x, action, changes, changed, memo_effect_events(x->memo, effect));
}

static bool do_group(struct expansion *x, uint32_t entry)
{
    int count = memo_actions(x->memo, entry);
    for (int i = 0; i < count; i++) {
        struct action action;
        uint32_t effect = effect_of(x, entry, i, &action);
        if (effect == MEMO_NONE || !add_remembered(x, &action, effect)) {
            return false;
        }
    }
    return true;
}

/* Finds the entry of each group, or adds it. An addition may clear the cache, so then all are looked up
 * again. Returns false if the search is over. */
static bool find_entries(struct expansion *x, uint32_t *entry)
{
    uint64_t key[WORLD_PROCESSES_MAX + 1] = {0};
    struct memo_state state = state_of(x);
    bool listed;
    do {
        listed = false;
        for (int group = 0; group < x->groups; group++) {
            entry[group] = memo_same(x->memo, group, x->changed);
            key[group] = entry[group] == MEMO_NONE ? memo_ask(x->memo, group, &state) : 0;
        }
        for (int group = 0; group < x->groups; group++) {
            if (entry[group] == MEMO_NONE) {
                entry[group] = memo_entry(x->memo, group, &state, key[group]);
            }
            if (entry[group] != MEMO_NONE) {
                continue;
            }
            entry[group] = list_group(x, group);
            listed = true;
            if (!is_well(x)) {
                return false;
            }
        }
    } while (listed);
    x->changed[0] = x->changed[1] = 0;
    return true;
}

static bool remember_alone(struct expansion *x, const uint32_t *entry, bool *done)
{
    LS_ASSERT(x->reduces && x->partial.processes < x->groups);
    *done = false;
    for (int group = 0; group < x->partial.processes; group++) {
        int candidate = memo_note(x->memo, entry[group]);
        if (candidate < 0) {
            continue;
        }
        struct action action;
        uint32_t effect = effect_of(x, entry[group], candidate / 2, &action);
        if (effect == MEMO_NONE) {
            return false;
        }
        if (is_alone(memo_effect_alone(x->memo, effect), candidate)) {
            *done = true;
            return add_remembered(x, &action, effect) && doubt_order(x, &action);
        }
    }
    return true;
}

static bool remember_all(struct expansion *x, bool *moves)
{
    uint32_t entry[WORLD_PROCESSES_MAX + 1] = {0};
    *moves = false;
    if (!find_entries(x, entry)) {
        return false;
    }
    if (x->reduces && !remember_alone(x, entry, moves)) {
        return false;
    }
    if (*moves) {
        return true;
    }
    for (int group = 0; group < x->groups; group++) {
        *moves = *moves || memo_moves(x->memo, entry[group]);
        if (!do_group(x, entry[group])) {
            return false;
        }
    }
    return true;
}

/* Judges the state x->from if it is at rest. Contents that judges then give to blocks get no numbers. Returns
 * false if the search is over. */
static bool rest(struct expansion *x)
{
    expansion_load(x, x->from);
    bool well = search_rest(x->search, x->depth);
    for (int i = 0; i < x->arena->stale_count; i++) {
        x->loaded[x->arena->stale_list[i]] = INTERN_NONE;
    }
    arena_fingerprint(x->arena);
    LS_ASSERT(x->arena->stale_count == 0);
    return well;
}

int expansion_of(struct expansion *x, const uint32_t *state, uint64_t depth)
{
    LS_ASSERT(x->old == NULL && x->arena->stale_count == 0);
    bool moves;
    x->from = state;
    x->depth = depth;
    x->count = 0;
    run_beat();
    look_up(x, state);
    if (!(x->memo != NULL ? remember_all : do_all)(x, &moves)) {
        return -1;
    }
    return moves || rest(x) ? x->count : -1;
}

const struct action *expansion_action(const struct expansion *x, int successor)
{
    LS_ASSERT(successor >= 0 && successor < WORLD_ACTIONS_MAX);
    return &x->action[successor];
}

const uint32_t *expansion_state(struct expansion *x, int successor)
{
    LS_ASSERT(successor >= 0 && successor < x->count);
    const struct memo_change *made = made_at(x, successor);
    memcpy(x->state, x->from, (size_t)x->blocks * sizeof *x->state);
    for (int i = 0; i < x->mades[successor]; i++) {
        x->state[made[i].block] = made[i].number;
    }
    return x->state;
}

uint64_t expansion_fingerprint(const struct expansion *x, int successor)
{
    return x->fingerprint[successor];
}

struct shown {
    struct expansion *x;
    const uint32_t *state;
};

static void show_budgets(void *ctx)
{
    const struct shown *shown = ctx;
    int block = world_budget_block(shown->x->world);
    load_block(shown->x, block, shown->state[block]);
}

bool expansion_is_subsumed(struct expansion *x, int successor)
{
    if (x->subsume == NULL) {
        return false;
    }
    const uint32_t *state = expansion_state(x, successor);
    struct shown shown = {x, state};
    uint64_t budgets = intern_hash(x->intern, state[world_budget_block(x->world)]);
    return subsume_is_seen(x->subsume, budgets, sum_of(x, state), x->fingerprint[successor], show_budgets,
                           &shown);
}

size_t expansion_bytes(const struct expansion *x)
{
    return intern_bytes(x->intern) + (x->memo != NULL ? memo_bytes(x->memo) : 0);
}

bool expansion_is_full(const struct expansion *x)
{
    size_t room = REMEMBERED_BYTES + REMEMBERED_BYTES_PER_STATE * x->search->counts->states;
    return expansion_bytes(x) > room && expansion_bytes(x) > 2 * x->kept;
}

bool expansion_sweep(struct expansion *x)
{
    LS_ASSERT(x->old == NULL);
    struct intern *fresh = intern_open(x->arena);
    if (fresh == NULL) {
        return false;
    }
    x->old = x->intern;
    x->intern = fresh;
    memset(x->loaded, 0xff, sizeof x->loaded);
    forget_looked(x);
    if (x->memo != NULL) {
        memo_clear(x->memo);
    }
    return true;
}

bool expansion_keep(struct expansion *x, uint32_t *state)
{
    LS_ASSERT(x->old != NULL && x->old != x->intern);
    for (int block = 0; block < x->blocks; block++) {
        state[block] = intern_move(x->intern, x->old, state[block]);
        if (state[block] == INTERN_NONE) {
            return false;
        }
    }
    return true;
}

void expansion_swept(struct expansion *x)
{
    intern_close(x->old);
    x->old = NULL;
    x->kept = expansion_bytes(x);
}
