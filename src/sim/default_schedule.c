/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The default schedule, which chooses the steps of a well-behaved system. Also the passing of time, the ends
 * of faults, and rest. */
#include "base/assert.h"
#include "sim/world.h"

#include <lockstep/error.h>

static bool due_timer(struct action *out)
{
    bool timed = the_world.options.timed;
    for (int p = 0; p < the_world.options.processes; p++) {
        if (!process_running(p)) {
            continue;
        }
        struct pack pack = process_pack(p);
        uint8_t index = 0;
        for (struct rec *rec = pack_first(&pack, LIST_TIMER); rec != NULL;
             rec = pack_next(&pack, rec), index++) {
            const struct timer *timer = (struct timer *)rec;
            if (timer_may_fire(p, timer) && (timed || timer_is_work(timer))) {
                *out = (struct action){.kind = ACTION_FIRE, .process = (uint8_t)p, .timer = index};
                return true;
            }
        }
    }
    return false;
}

static bool work_ahead(void)
{
    if (the_world.coordinator->busy()) {
        return true;
    }
    for (int p = 0; p < the_world.options.processes; p++) {
        if (process_running(p) && timers_of_work(p)) {
            return true;
        }
    }
    return false;
}

/* Chooses the next step of the coordinator, or a timer, without an advance of the clock. Leaves out the steps
 * of last_by_default(). Returns false if there is none. */
static bool immediate(struct action *out)
{
    if (the_world.options.timers_first && due_timer(out)) {
        return true;
    }
    for (int client = 0; client < the_world.options.processes; client++) {
        if (the_world.coordinator->next_by_default(client, out)) {
            return true;
        }
    }
    return the_world.coordinator->next_by_default((int)COORD_NOBODY, out) || due_timer(out);
}

bool world_default_action(struct world *world, struct action *out)
{
    if (immediate(out)) {
        return true;
    }
    *out = (struct action){.kind = ACTION_ADVANCE, .process = EVENT_PROCESS_NONE};
    return (world->options.timed && work_ahead() && world_enabled(world, out)) ||
           world->coordinator->last_by_default(out);
}

static void take(struct world *world, const struct action *action, world_step_fn step, void *ctx)
{
    if (step != NULL) {
        step(ctx, action);
    }
    int rc = world_apply(world, action);
    LS_ASSERT(rc == 0);
}

int world_settle(struct world *world, int limit, world_step_fn step, void *ctx)
{
    struct action action;
    int count = 0;
    while (world_default_action(world, &action)) {
        LS_ASSERT(count <= limit);
        if (count++ == limit || world_trouble(world) != NULL) {
            return LS_EOVERFLOW;
        }
        take(world, &action, step, ctx);
    }
    return count;
}

/* End of the clock, after 23 days: a moment a day later still fits into int32_t. */
#define CLOCK_END_MS (23 * 24 * 3600 * 1000)

static int pass_timed(struct world *world, int ms, int limit, world_step_fn step, void *ctx)
{
    int32_t left = CLOCK_END_MS - clock_now_ms();
    int32_t end = clock_now_ms() + (ms < left ? ms : left);
    LS_ASSERT(end >= clock_now_ms());
    for (int count = 0;; count++) {
        struct action action;
        if (count == limit || world_trouble(world) != NULL) {
            return LS_EOVERFLOW;
        }
        if (!immediate(&action) && (work_ahead() || !the_world.coordinator->last_by_default(&action))) {
            int32_t now = clock_now_ms();
            if (now >= end) {
                return count;
            }
            action = (struct action){.kind = ACTION_ADVANCE, .process = EVENT_PROCESS_NONE};
            struct action rest = action;
            rest.ms = end - now;
            LS_ASSERT(rest.ms > 0);
            if (world_enabled(world, &rest)) {
                action = rest; /* nothing has to happen before the end */
            } else if (!world_enabled(world, &action)) {
                return LS_EOVERFLOW;
            }
        }
        take(world, &action, step, ctx);
    }
}

#define OVERDUE_MAX 256

struct passing {
    struct world *world;
    int limit;
    world_step_fn step;
    void *ctx;
    int count; /* actions so far; negative once the limit was met */
};

static void go_on(struct passing *passing, const struct action *action)
{
    if (passing->count < 0) {
        return;
    }
    if (action != NULL) {
        take(passing->world, action, passing->step, passing->ctx);
        passing->count++;
    }
    int more = world_settle(passing->world, passing->limit, passing->step, passing->ctx);
    LS_ASSERT(more <= passing->limit);
    passing->count = more < 0 ? more : passing->count + more;
}

static void pass_give_ups(struct passing *passing)
{
    static struct action actions[WORLD_ACTIONS_MAX];
    for (int turn = 0; turn < OVERDUE_MAX; turn++) {
        int count = world_actions(passing->world, actions);
        int i = 0;
        while (i < count && actions[i].kind != ACTION_GIVE_UP) {
            i++;
        }
        if (i == count || passing->count < 0) {
            return;
        }
        go_on(passing, &actions[i]);
    }
}

static void pass_expiries(struct passing *passing)
{
    for (int p = 0; p < passing->world->options.processes; p++) {
        struct action expire[COORD_SESSIONS_MAX];
        struct action_list sessions = {.out = expire, .room = COORD_SESSIONS_MAX};
        if (the_world.coordinator->cut_off(p) || process_at(p)->paused || !process_at(p)->started) {
            the_world.coordinator->list(&sessions, p, COORD_SESSIONS);
        }
        for (int i = 0; i < sessions.count; i++) {
            LS_ASSERT(!sessions.full);
            if (world_enabled(passing->world, &expire[i])) {
                go_on(passing, &expire[i]);
            }
        }
    }
}

static void pass_timers(struct passing *passing)
{
    struct armed {
        int process;
        const struct ls_timer *timer;
    } armed[OVERDUE_MAX];
    int count = 0;
    for (int p = 0; p < passing->world->options.processes; p++) {
        for (int i = 0; i < timer_count(p) && count < OVERDUE_MAX; i++) {
            armed[count++] = (struct armed){p, timer_at(p, i)->timer};
        }
    }
    for (int i = 0; i < count; i++) {
        LS_ASSERT(armed[i].process < passing->world->options.processes);
        int p = armed[i].process;
        for (int k = 0; k < timer_count(p); k++) {
            struct action fire = {.kind = ACTION_FIRE, .process = (uint8_t)p, .timer = (uint8_t)k};
            if (timer_at(p, k)->timer == armed[i].timer && world_enabled(passing->world, &fire)) {
                go_on(passing, &fire);
                break;
            }
        }
    }
}

static int pass_untimed(struct world *world, int limit, world_step_fn step, void *ctx)
{
    struct passing passing = {world, limit, step, ctx, 0};
    go_on(&passing, NULL);
    pass_give_ups(&passing);
    pass_expiries(&passing);
    pass_timers(&passing);
    return passing.count;
}

int world_pass_time(struct world *world, int ms, int limit, world_step_fn step, void *ctx)
{
    return world->options.timed ? pass_timed(world, ms, limit, step, ctx)
                                : pass_untimed(world, limit, step, ctx);
}

static int take_if(struct world *world, struct action action, world_step_fn step, void *ctx)
{
    if (!world_enabled(world, &action)) {
        return 0;
    }
    take(world, &action, step, ctx);
    return 1;
}

bool world_is_healing(const struct action *action)
{
    return action_has(action, TRAIT_HEALS) || (the_world.coordinator->price(action) & COORD_ABANDONED) != 0;
}

/* Of the actions that the coordinator lists at this place, does the ends of faults and the expiries of
 * sessions without a handle. Returns the number of actions done. */
static int heal_listed(struct world *world, int client, enum coord_place place, world_step_fn step, void *ctx)
{
    struct action out[WORLD_ACTIONS_MAX];
    struct action_list ends = {.out = out, .room = WORLD_ACTIONS_MAX};
    int count = 0;
    world->coordinator->list(&ends, client, place);
    LS_ASSERT(!ends.full);
    for (int i = 0; i < ends.count; i++) {
        if (world_is_healing(&out[i])) {
            count += take_if(world, out[i], step, ctx);
        }
    }
    return count;
}

int world_heal(struct world *world, bool revive, world_step_fn step, void *ctx)
{
    bool has_own = world->coordinator->kinds != NULL;
    int count = 0;
    for (int s = 0; s < world->options.servers; s++) {
        struct action thaw = {.kind = ACTION_THAW, .process = EVENT_PROCESS_NONE, .server = (uint8_t)s};
        count += take_if(world, thaw, step, ctx);
    }
    count += has_own ? heal_listed(world, (int)COORD_NOBODY, COORD_SERVICE, step, ctx) : 0;
    for (int p = 0; p < world->options.processes; p++) {
        uint8_t who = (uint8_t)p;
        count += has_own ? heal_listed(world, p, COORD_ENDS, step, ctx) : 0;
        count += take_if(world, (struct action){.kind = ACTION_HEAL, .process = who}, step, ctx);
        count += take_if(world, (struct action){.kind = ACTION_RESUME, .process = who}, step, ctx);
        if (revive) {
            count += take_if(world, (struct action){.kind = ACTION_RESTART, .process = who}, step, ctx);
        }
        count += heal_listed(world, p, COORD_SESSIONS, step, ctx);
    }
    return count;
}

/* Returns whether the process has not started, or is linked and has no timers_of_work(). Returns false in
 * each case if it is paused or cut off. */
static bool process_at_rest(int p)
{
    const struct process *process = process_at(p);
    LS_ASSERT(process->started || !process->paused);
    if (process_at(p)->paused || the_world.coordinator->cut_off(p)) {
        return false;
    }
    return !process->started || (the_world.coordinator->linked(p) && !timers_of_work(p));
}

bool world_at_rest(struct world *world)
{
    if (!world->coordinator->quiet()) {
        return false;
    }
    for (int p = 0; p < world->options.processes; p++) {
        if (!process_at_rest(p)) {
            return false;
        }
    }
    return true;
}

bool world_rest(struct world *world)
{
    if (!world_at_rest(world)) {
        return false;
    }
    for (int p = 0; p < world->options.processes; p++) {
        process_ask_idle(p);
    }
    struct event event = observe_process(EVENT_REST, (int)EVENT_PROCESS_NONE);
    observe(&event);
    return true;
}
