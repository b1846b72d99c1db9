/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The list of enabled actions, in canonical order. First come the coordinator's steps, then timers, the
 * clock, programs' steps, and last the faults that budgets pay, with ends of faults among them. Timers,
 * programs' steps and faults on processes are sorted by process. Faults on servers and directories come
 * last. */
#include "base/assert.h"
#include "sim/world.h"

#include <string.h>

static void add_timers(struct action_list *list, int p)
{
    if (!process_running(p)) {
        return;
    }
    struct pack pack = process_pack(p);
    uint8_t index = 0;
    for (struct rec *rec = pack_first(&pack, LIST_TIMER); rec != NULL; rec = pack_next(&pack, rec), index++) {
        if (timer_may_fire(p, (struct timer *)rec)) {
            action_list_add(list, ACTION_FIRE, p)->timer = index;
        }
    }
}

unsigned action_faults_left(void)
{
    static const uint8_t none[WORLD_FAULTS];
    const struct world_state *state = the_state();
    unsigned kinds = 0;
    if (state->budget_total == 0 || memcmp(state->budget, none, sizeof none) == 0) {
        return 0; /* the usual case */
    }
    for (int f = 0; f < WORLD_FAULTS; f++) {
        kinds |= (unsigned)(state->budget[f] > 0) << f;
    }
    return kinds;
}

static void add_cancels(struct action_list *list, int p)
{
    struct pack pack = process_pack(p);
    for (struct rec *rec = pack_first(&pack, LIST_SLOT); rec != NULL; rec = pack_next(&pack, rec)) {
        const struct slot *slot = (struct slot *)rec;
        LS_ASSERT(slot->call == 0 || (slot->call >> rec->tag & 1u) != 0);
        bool first = (slot->call & ((1u << rec->tag) - 1)) == 0; /* one cancel is for the whole call */
        if (slot->pending && first) {
            struct action *cancel = action_list_add(list, ACTION_CANCEL, p);
            cancel->owner = (uint8_t)rec->word;
            cancel->lock = rec->tag;
        }
    }
}

/* Adds restart and resume of the process, and the ends of own faults of the coordinator on it. No budget pays
 * for these. */
static void add_returns(struct action_list *list, int p)
{
    LS_ASSERT(process_at(p)->started || !process_at(p)->paused);
    LS_ASSERT(!process_at(p)->started || !process_at(p)->crashed);
    if (process_at(p)->crashed) {
        action_list_add(list, ACTION_RESTART, p);
    }
    if (process_at(p)->paused) {
        action_list_add(list, ACTION_RESUME, p);
    }
    if (the_world.coordinator->kinds != NULL) {
        the_world.coordinator->list(list, p, COORD_ENDS);
    }
}

/* The largest `n` of ACTION_FAIL_ALLOC and ACTION_FAIL_CALL that is listed. A step may need memory twice, so
 * its second request may fail too. */
enum { FAILING_MAX = 2 };

static void add_failures(struct action_list *list, int kind, int p)
{
    LS_ASSERT(kind == ACTION_FAIL_ALLOC || kind == ACTION_FAIL_CALL);
    for (int n = 1; n <= FAILING_MAX; n++) {
        action_list_add(list, kind, p)->n = n;
    }
}

static void add_faults_of_started(struct action_list *list, int p)
{
    LS_ASSERT(process_at(p)->started && !process_at(p)->crashed);
    if (action_list_buys(list, WORLD_FAULT_PAUSE) && !process_at(p)->paused) {
        action_list_add(list, ACTION_PAUSE, p);
    }
    if (action_list_buys(list, WORLD_FAULT_CRASH)) {
        action_list_add(list, ACTION_CRASH, p);
    }
    the_world.coordinator->list(list, p, COORD_REFUSALS);
    if (process_at(p)->paused) {
        return;
    }
    if (action_list_buys(list, WORLD_FAULT_CANCEL)) {
        add_cancels(list, p);
    }
    if (action_list_buys(list, WORLD_FAULT_ALLOC) && process_at(p)->fail_in == 0) {
        add_failures(list, ACTION_FAIL_ALLOC, p);
    }
    if (action_list_buys(list, WORLD_FAULT_CALL) && the_world.coordinator->failing_call(p) == 0) {
        add_failures(list, ACTION_FAIL_CALL, p);
    }
}

/* Adds expiries of sessions without a handle. An expiry that is due (COORD_DUE) is among the coordinator's
 * steps. */
static void add_ends(struct action_list *list, int p)
{
    int first = list->count;
    LS_ASSERT(the_state()->over == 1);
    the_world.coordinator->list(list, p, COORD_SESSIONS);
    int left = first;
    for (int i = first; i < list->count; i++) {
        if (the_world.coordinator->price(&list->out[i]) == COORD_ABANDONED) {
            list->out[left++] = list->out[i];
        }
    }
    list->count = left;
}

static void add_process_faults(struct action_list *list, int p)
{
    LS_ASSERT(list->faults == 0 || !the_state()->over);
    add_returns(list, p);
    if (the_state()->over) {
        add_ends(list, p);
    }
    if (list->faults == 0) {
        return;
    }
    the_world.coordinator->list(list, p, COORD_FAULTS);
    if (process_at(p)->started) {
        add_faults_of_started(list, p);
    }
}

static void add_advance(struct action_list *list)
{
    struct action advance = {.kind = ACTION_ADVANCE, .process = EVENT_PROCESS_NONE};
    if (the_world.options.timed && world_enabled(&the_world, &advance)) {
        action_list_add(list, ACTION_ADVANCE, EVENT_PROCESS_NONE);
    }
}

/* Returns whether this action, the last one of the list, is in the list once more, at index `first` or behind
 * it. */
static bool is_listed(const struct action_list *list, int first, const struct action *action)
{
    LS_ASSERT(first <= list->count - 1);
    for (int i = first; i < list->count - 1; i++) {
        if (world_same_action(&list->out[i], action)) {
            return true;
        }
    }
    return false;
}

static void add_ops(struct action_list *list, int p)
{
    int first = list->count;
    for (int i = 0; i < program_lists(p); i++) {
        const struct action *op = program_next_op(p, i);
        if (op == NULL) {
            continue;
        }
        int count = list->count;
        struct action *action = action_list_add(list, op->kind, p);
        action->a = op->a;
        action->b = op->b;
        action->c = op->c;
        action->d = op->d;
        if (!world_enabled(&the_world, action) || is_listed(list, first, action)) {
            list->count = count;
        }
    }
}

static int finish(const struct action_list *list)
{
    LS_ASSERT(list->count >= 0 && list->count <= list->room);
    if (list->full) {
        world_note_trouble("limit: more than %d actions are enabled at once", list->room);
    }
    return list->count;
}

int world_actions(struct world *world, struct action *out)
{
    struct action_list list = {.out = out, .room = WORLD_ACTIONS_MAX, .faults = action_faults_left()};
    world->coordinator->list(&list, (int)COORD_EVERYBODY, COORD_STEPS);
    for (int p = 0; p < world->options.processes; p++) {
        add_timers(&list, p);
    }
    add_advance(&list);
    for (int p = 0; world->programmed && p < world->options.processes; p++) {
        add_ops(&list, p);
    }
    for (int p = 0; p < world->options.processes; p++) {
        add_process_faults(&list, p);
    }
    world->coordinator->list(&list, (int)COORD_NOBODY, COORD_SERVICE);
    int count = finish(&list);
    bool filters = world->options.without != 0 && world->coordinator->without != NULL;
    return filters ? world->coordinator->without(out, count) : count;
}

int world_actions_among(struct world *world, int p, unsigned parts, struct action *out)
{
    struct action_list list = {.out = out, .room = WORLD_ACTIONS_MAX};
    bool is_process = p < world->options.processes;
    LS_ASSERT(!world->options.timed && world->options.without == 0);
    if ((parts & WORLD_PART_ENSEMBLE) != 0) {
        world->coordinator->list(&list, is_process ? p : (int)COORD_NOBODY, COORD_STEPS);
    }
    if ((parts & WORLD_PART_TIMERS) != 0 && is_process) {
        add_timers(&list, p);
    }
    if ((parts & WORLD_PART_PROGRAM) != 0 && is_process && world->programmed) {
        add_ops(&list, p);
    }
    if ((parts & WORLD_PART_FAULTS) != 0) {
        list.faults = action_faults_left();
        if (is_process) {
            add_process_faults(&list, p);
        } else {
            world->coordinator->list(&list, (int)COORD_NOBODY, COORD_SERVICE);
        }
    }
    return finish(&list);
}

int world_actions_of(struct world *world, int p, struct action *out)
{
    return world_actions_among(world, p, WORLD_PARTS, out);
}

int world_fault_of(const struct action *action)
{
    if (action->kind >= ACTION_KINDS) {
        return -1;
    }
    bool late = action->kind == ACTION_CUT && action_cut_is_late(action);
    return late ? WORLD_FAULT_LATE : world_action_infos[action->kind].fault - 1;
}

bool world_is_fault(const struct action *action)
{
    return world_fault_of(action) >= 0;
}

bool action_same_locks(const struct action *a, const struct action *b)
{
    int place = action_more_locks(a);
    while (place > 0 && action_lock_at(a, place) == action_lock_at(b, place)) {
        place--;
    }
    return place == 0 && a->lock == b->lock && action_more_locks(a) == action_more_locks(b);
}

/* Of a verb's `d` only the locks count: labels do not name the rest, which says how a program goes on. */
bool world_same_action(const struct action *a, const struct action *b)
{
    bool same_rest = world_is_verb(a) ? action_same_locks(a, b) : a->d == b->d;
    return a->kind == b->kind && a->process == b->process && a->a == b->a && a->b == b->b && a->c == b->c &&
           same_rest;
}

static void pay(struct world_state *state, int fault)
{
    state->budget[fault]--;
    if (state->budget_total != 255) {
        state->budget_total--;
    }
}

void action_pay(const struct action *action, bool due)
{
    int fault = world_fault_of(action);
    if (fault < 0 || due) {
        return;
    }
    const struct world_state *state = the_state();
    if (state->budget[fault] == 0 || state->budget_total == 0) {
        return; /* a fault of a script needs no budget */
    }
    the_world.paid |= 1u << fault;
    int left = state->budget[fault];
    struct world_state *paid = state_mark();
    pay(paid, fault);
    LS_ASSERT(paid->budget[fault] == left - 1);
}
