/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Says which actions are enabled, and does one. */
#include "base/assert.h"
#include "base/next_event_time.h"
#include "base/stop_points.h"
#include "sim/world.h"

#include <lockstep/error.h>

static int32_t next_moment(int32_t *limit)
{
    struct moments moments = moments_from(clock_now_ms());
    moments.next = the_world.coordinator->next_ms(&moments.limit);
    LS_ASSERT(moments.next > moments.now);
    for (int p = 0; p < the_world.options.processes; p++) {
        if (!process_running(p)) {
            continue;
        }
        struct pack pack = process_pack(p);
        for (struct rec *rec = pack_first(&pack, LIST_TIMER); rec != NULL; rec = pack_next(&pack, rec)) {
            moments_must(&moments, ((struct timer *)rec)->due_ms);
        }
    }
    *limit = moments.limit;
    LS_ASSERT(moments.limit >= moments.now);
    return moments.next;
}

static bool advance_target(const struct action *action, int32_t *to)
{
    int32_t limit;
    int32_t now = clock_now_ms();
    int32_t next = next_moment(&limit);
    *to = action->ms > 0 ? now + action->ms : next;
    return the_world.options.timed && *to != INT32_MAX && *to > now && *to <= limit;
}

/* Returns whether the locks of an acquire or a release exist, and the recipe takes so many at once. */
static bool names_locks(const struct action *action)
{
    int more = action_more_locks(action);
    for (int i = 0; i <= more; i++) {
        if (action_lock_at(action, i) >= the_world.options.locks) {
            return false;
        }
    }
    return more == 0 || recipe_can_take_several(the_world.options.recipe);
}

/* Returns whether the owner already waits for one of the locks of an acquire. */
static bool is_asking(const struct action *action)
{
    for (int i = 0; i <= action_more_locks(action); i++) {
        const struct slot *slot = process_slot(action->process, action_lock_at(action, i), action->owner);
        if (slot != NULL && slot->pending) {
            return true;
        }
    }
    return false;
}

static bool verb_enabled(const struct action *action)
{
    int p = action->process;
    LS_ASSERT(action_has(action, TRAIT_VERB));
    if (p >= the_world.options.processes || action->lock >= the_world.options.locks) {
        return false;
    }
    if (action_has(action, TRAIT_LOCK) && process_has_closed_one(p, action)) {
        return process_running(p) && action->kind == ACTION_OPEN;
    }
    const struct slot *slot = process_slot(p, action->lock, action->owner);
    switch (action->kind) {
    case ACTION_CLOSE:
        return process_running(p) && recipe_can_close(the_world.options.recipe);
    case ACTION_OPEN:
        return false;
    case ACTION_ACQUIRE:
        return process_running(p) && names_locks(action) && !is_asking(action);
    case ACTION_CANCEL:
        return process_running(p) && slot != NULL && slot->pending;
    case ACTION_WRITE:
        return process_running(p) && slot != NULL && slot->depth > 0 && !slot->lost &&
               (action->guarded == 0 || recipe_can_guard(the_world.options.recipe));
    case ACTION_REVOCABLE:
    case ACTION_REVOKE:
        return process_running(p) && recipe_can_revoke(the_world.options.recipe);
    case ACTION_RESIZE:
        return process_running(p) && recipe_can_resize(the_world.options.recipe) && action->capacity > 0 &&
               the_world.options.lock[action->lock].capacity > 0;
    case ACTION_RELEASE:
        return process_running(p) && names_locks(action);
    case ACTION_STOP:
        return process_running(p);
    default: /* START */
        return !process_at(p)->started && !process_at(p)->crashed;
    }
}

static bool fault_on_process(const struct action *action)
{
    int p = action->process;
    if (p >= the_world.options.processes) {
        return false;
    }
    bool started = process_at(p)->started;
    LS_ASSERT(!started || !process_at(p)->crashed);
    switch (action->kind) {
    case ACTION_PAUSE:
        return started && !process_at(p)->paused;
    case ACTION_RESUME:
        return process_at(p)->paused;
    case ACTION_CRASH:
        return started;
    case ACTION_RESTART:
        return process_at(p)->crashed;
    case ACTION_FAIL_ALLOC:
    case ACTION_FAIL_CALL:
        return started && action->n > 0 && action->n < 256;
    default:
        return the_world.coordinator->enabled(action);
    }
}

bool world_enabled(struct world *world, const struct action *action)
{
    (void)world;
    int32_t to;
    if (action->kind == ACTION_ADVANCE) {
        return advance_target(action, &to);
    }
    if (action->kind == ACTION_FIRE) {
        int p = action->process;
        return p < the_world.options.processes && process_running(p) && action->timer < timer_count(p) &&
               timer_may_fire(p, timer_at(p, action->timer));
    }
    if (action_has(action, TRAIT_STEP)) {
        return the_world.coordinator->enabled(action);
    }
    if (action_has(action, TRAIT_VERB)) {
        return verb_enabled(action);
    }
    if (action_has(action, TRAIT_ON_PROCESS)) {
        return fault_on_process(action);
    }
    return action_has(action, TRAIT_ON_SERVICE) && the_world.coordinator->enabled(action);
}

static void announce_fault(const struct action *action)
{
    LS_ASSERT(action->kind < ACTION_KINDS);
    struct event event = observe_process(EVENT_FAULT, action->process);
    event.action = action->kind;
    event.owner = world_action_infos[action->kind].fault_class;
    observe(&event);
}

static void do_verb(const struct action *action)
{
    int p = action->process;
    switch (action->kind) {
    case ACTION_ACQUIRE:
        if (action_more_locks(action) > 0) {
            process_acquire_all(p, action);
            break;
        }
        process_acquire(p, action->lock, action->owner, action->timeout_ms);
        break;
    case ACTION_RELEASE:
        if (action_more_locks(action) > 0) {
            process_release_all(p, action);
            break;
        }
        process_release(p, action->lock, action->owner);
        break;
    case ACTION_CANCEL:
        process_cancel(p, action->lock, action->owner);
        break;
    case ACTION_WRITE:
        process_write(p, action->lock, action->owner, action->guarded != 0);
        break;
    case ACTION_REVOCABLE:
        process_revocable(p, action->lock);
        break;
    case ACTION_REVOKE:
        process_revoke(p, action->lock, action->place);
        break;
    case ACTION_RESIZE:
        process_resize(p, action->lock, action->capacity);
        break;
    case ACTION_CLOSE:
        process_close(p, action->lock);
        break;
    case ACTION_OPEN:
        process_open(p, action->lock);
        break;
    case ACTION_STOP:
        process_stop(p);
        break;
    default:
        LS_ASSERT(action->kind == ACTION_START);
        process_start(p);
        break;
    }
}

static void tell(int kind, int p)
{
    struct event event = observe_process(kind, p);
    observe(&event);
}

static void do_process_fault(const struct action *action)
{
    int p = action->process;
    switch (action->kind) {
    case ACTION_PAUSE:
        the_world.coordinator->pause(p, true);
        process_mark(p)->paused = 1;
        tell(EVENT_PAUSED, p);
        break;
    case ACTION_RESUME:
        LS_ASSERT(process_at(p)->paused && process_at(p)->started);
        the_world.coordinator->pause(p, false);
        process_mark(p)->paused = 0;
        tell(EVENT_RESUMED, p);
        break;
    case ACTION_CRASH:
        process_crash(p);
        break;
    case ACTION_RESTART:
        LS_ASSERT(process_at(p)->crashed && !process_at(p)->started);
        process_mark(p)->crashed = 0;
        tell(EVENT_RESTARTED, p);
        process_start(p);
        break;
    case ACTION_FAIL_CALL:
        the_world.coordinator->fail_call(p, action->n);
        break;
    case ACTION_FAIL_ALLOC:
        process_mark(p)->fail_in = (uint8_t)action->n;
        break;
    default:
        the_world.coordinator->fault(action);
        break;
    }
}

static void do_timed(const struct action *action)
{
    if (action->kind == ACTION_FIRE) {
        process_fire(action->process, action->timer);
    } else {
        int32_t to;
        advance_target(action, &to);
        LS_ASSERT(to > clock_now_ms() && to != INT32_MAX);
        state_mark()->now_ms = to;
    }
}

uint32_t world_faults_paid(const struct world *world)
{
    return world->paid;
}

bool world_has_container(struct world *world)
{
    uint64_t kept[2] = {world->arena.read[0], world->arena.read[1]};
    bool found = world->coordinator->has_container != NULL && world->coordinator->has_container();
    world->arena.read[0] = kept[0];
    world->arena.read[1] = kept[1];
    return found;
}

static void do_client(const struct action *action)
{
    LS_ASSERT(world_is_verb(action) && action->process < the_world.options.processes);
    process_wake(action->process);
    repeats_forget(action->process);
    program_pass(action);
    action_pay(action, false);
    do_verb(action);
}

static bool has_outage(void)
{
    return the_world.coordinator->outage != NULL && the_world.coordinator->outage();
}

static void do_service_fault(const struct action *action)
{
    LS_ASSERT(!action_has(action, TRAIT_ON_PROCESS));
    bool before = has_outage();
    the_world.coordinator->fault(action);
    bool after = has_outage();
    if (before != after) {
        struct event event = observe_process(EVENT_OUTAGE, EVENT_PROCESS_NONE);
        event.outage = after;
        observe(&event);
    }
}

static void do_fault(const struct action *action)
{
    unsigned price = the_world.coordinator->price(action);
    process_wake_all();
    repeats_forget_all();
    action_pay(action, price != 0);
    if ((price & COORD_DUE) == 0) {
        announce_fault(action);
    }
    if (action_has(action, TRAIT_ON_PROCESS)) {
        do_process_fault(action);
    } else {
        do_service_fault(action);
    }
}

static void do_action(const struct action *action)
{
    if (action_has(action, TRAIT_STEP)) {
        process_run_step(action);
    } else if (action_has(action, TRAIT_SYSTEM)) {
        do_timed(action);
    } else if (action_has(action, TRAIT_VERB)) {
        do_client(action);
    } else {
        do_fault(action);
    }
}

static void do_whole(void *ctx)
{
    const struct action *action = ctx;
    struct world *world = &the_world;
    do_action(action);
    stop_points_disarm(); /* questions are no calls to stop at */
    LS_ASSERT(world->closing == 0 && !world->stopping && world->asked < 0);
    world->steps++;
    bool one = !world->options.timed; /* without a clock only this process's answers can change */
    int first = one ? action->process : 0;
    int end = one ? first + 1 : world->options.processes;
    for (int p = first; p < end && p < world->options.processes; p++) {
        if (world->programmed) {
            program_skip_ops(p);
        }
        process_ask_belief(p);
    }
    world->timer_fired = world->lease_timer_fired = false;
}

static uint32_t kind_of_delivery(const struct action *action)
{
    const struct coord_lending *lending = the_world.coordinator->lending;
    return lending != NULL ? lending->kind(action) : 0;
}

/* Returns the kind of a step for twice_is_due(); 0 = the step is no verb, delivery, timer or restart, or
 * there is no guard. */
static uint32_t kind_of(const struct action *action)
{
    bool told = world_is_verb(action) || action->kind == ACTION_DELIVER || action->kind == ACTION_FIRE ||
                action->kind == ACTION_RESTART;
    if (!the_world.zoned || !told) {
        return 0;
    }
    bool delivers = action->kind == ACTION_DELIVER;
    return action->kind + 1u + (delivers ? 64 * kind_of_delivery(action) : 0);
}

void world_do(struct world *world, const struct action *action)
{
    struct action copy = *action;
    (void)world;
    guard_call(action->process, kind_of(action), do_whole, &copy);
}

int world_apply(struct world *world, const struct action *action)
{
    if (!world_enabled(world, action)) {
        return LS_EINVAL;
    }
    world_do(world, action);
    return 0;
}
