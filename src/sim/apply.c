/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Doing one action. */
#include "base/assert.h"
#include "sim/world.h"

#include <lockstep/error.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

/* ---- time ---- */

static int32_t next_moment(int32_t *limit)
{
    int32_t next = fakezk_next_ms(limit);
    int32_t now = clock_now_ms();
    for (int p = 0; p < the_world.options.processes; p++) {
        if (!process_running(p)) {
            continue;
        }
        struct pack pack = process_pack(p);
        for (struct rec *rec = pack_first(&pack, LIST_TIMER); rec != NULL; rec = pack_next(&pack, rec)) {
            int32_t due = ((struct timer *)rec)->due_ms;
            due = due > now ? due : now;
            *limit = due < *limit ? due : *limit;
            next = due > now && due < next ? due : next;
        }
    }
    return next;
}

static bool advance_target(const struct action *action, int32_t *to)
{
    int32_t limit;
    int32_t now = clock_now_ms();
    int32_t next = next_moment(&limit);
    *to = action->ms > 0 ? now + action->ms : next;
    return the_world.options.timed && *to != INT32_MAX && *to > now && *to <= limit;
}

/* ---- what is enabled ---- */

static bool verb_enabled(const struct action *action)
{
    int p = action->process;
    if (p >= the_world.options.processes || action->lock >= the_world.options.locks) {
        return false;
    }
    if (action_has(action, TRAIT_LOCK) && process_has_closed(p, action->lock)) {
        return process_running(p) && action->kind == ACTION_OPEN;
    }
    const struct slot *slot = process_slot(p, action->lock, action->owner);
    switch (action->kind) {
    case ACTION_CLOSE:
        return process_running(p) && recipe_can_close(the_world.options.recipe);
    case ACTION_OPEN:
        return false;
    case ACTION_ACQUIRE:
        return process_running(p) && (slot == NULL || !slot->pending);
    case ACTION_CANCEL:
        return process_running(p) && slot != NULL && slot->pending;
    case ACTION_WRITE:
        return process_running(p) && slot != NULL && slot->depth > 0 && !slot->lost &&
               (action->guarded == 0 || recipe_can_guard(the_world.options.recipe));
    case ACTION_REVOCABLE:
    case ACTION_REVOKE:
        return process_running(p) && recipe_can_revoke(the_world.options.recipe);
    case ACTION_RELEASE:
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
    if (action_has(action, TRAIT_CONTENDER)) {
        return action->lock < the_world.options.locks && contender_of(p, action->lock) != NULL;
    }
    bool started = process_at(p)->started;
    int handle;
    switch (action->kind) {
    case ACTION_CUT:
        handle = fakezk_linked(p, action_cut_link(action));
        return handle >= 0 &&
               fakezk_can_cut(p, handle, action->keep, action->apply, action_cut_is_late(action));
    case ACTION_REFUSE:
        return fakezk_refusable(p, action->nth) >= 0;
    case ACTION_PARTITION:
        return !fakezk_is_partitioned(p);
    case ACTION_HEAL:
        return fakezk_is_partitioned(p);
    case ACTION_EXPIRE:
        return fakezk_session_live(action->session);
    case ACTION_PAUSE:
        return started && !fakezk_is_paused(p);
    case ACTION_RESUME:
        return fakezk_is_paused(p);
    case ACTION_CRASH:
        return started;
    case ACTION_RESTART:
        return process_at(p)->crashed;
    default: /* FAIL_ALLOC, FAIL_CALL */
        return started && action->n > 0 && action->n < 256;
    }
}

/* An operator who tidies up begins with the lock's directory, and goes on with the ones above it. */
bool action_empty_directory(int lock, char path[FAKEZK_PATH_MAX])
{
    size_t chroot = the_world.options.chroot != NULL ? strlen(the_world.options.chroot) : 0;
    strcpy(path, the_world.lock_path[lock]);
    while (strlen(path) > chroot && !fakezk_exists(path)) {
        *strrchr(path, '/') = 0;
    }
    return strlen(path) > chroot && fakezk_can_rmdir(path);
}

static bool fault_on_service(const struct action *action)
{
    int s = action->server;
    if (action->kind == ACTION_SWEEP) {
        return s < the_world.options.locks && fakezk_can_sweep(the_world.lock_path[s]);
    }
    if (action->kind == ACTION_RMDIR) {
        char path[FAKEZK_PATH_MAX];
        return s < the_world.options.locks && action_empty_directory(s, path);
    }
    if (action_has(action, TRAIT_PATH)) {
        return s < the_world.texts && fakezk_exists(the_world.text[s]) == (action->kind == ACTION_REMOVE);
    }
    if (s >= the_world.options.servers) {
        return false;
    }
    switch (action->kind) {
    case ACTION_FREEZE:
        return s > 0 && !fakezk_is_frozen(s);
    case ACTION_THAW:
        return fakezk_is_frozen(s) || fakezk_is_lagging(s);
    case ACTION_LAG:
        return s > 0 && !fakezk_is_lagging(s);
    default: /* RESTART_SERVER */
        return true;
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
        struct fakezk_step step;
        step_of_action(action, &step);
        return fakezk_can_step(&step);
    }
    if (action_has(action, TRAIT_VERB)) {
        return verb_enabled(action);
    }
    if (action_has(action, TRAIT_ON_PROCESS)) {
        return fault_on_process(action);
    }
    return action_has(action, TRAIT_ON_SERVICE) && fault_on_service(action);
}

/* ---- doing it ---- */

static void announce_fault(const struct action *action)
{
    struct event event = observe_process(EVENT_FAULT, action->process);
    event.code = action->kind;
    event.owner = world_action_infos[action->kind].fault_class;
    observe(&event);
}

static void do_verb(const struct action *action)
{
    int p = action->process;
    switch (action->kind) {
    case ACTION_ACQUIRE:
        process_acquire(p, action->lock, action->owner, action->timeout_ms);
        break;
    case ACTION_RELEASE:
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
        process_start(p);
        break;
    }
}

static void tell(int kind, int p)
{
    struct event event = observe_process(kind, p);
    observe(&event);
}

static void do_to_contender(const struct action *action)
{
    char path[FAKEZK_PATH_MAX];
    const char *node = contender_of(action->process, action->lock);
    LS_ASSERT(node != NULL);
    strcpy(path, node);
    if (action->kind == ACTION_EVICT) {
        fakezk_operator_remove(path);
    } else if (action->kind == ACTION_TOUCH) {
        fakezk_operator_set(path, "touched");
    } else {
        fakezk_operator_set_perms(path, ZOO_PERM_ALL & ~ZOO_PERM_READ);
    }
}

static void do_process_fault(const struct action *action)
{
    if (action_has(action, TRAIT_CONTENDER)) {
        do_to_contender(action);
        return;
    }
    int p = action->process;
    int rc = action->rc != 0 ? action->rc : the_world.options.loss_rc;
    switch (action->kind) {
    case ACTION_CUT:
        fakezk_cut(p, fakezk_linked(p, action_cut_link(action)), action->keep, action->apply, rc,
                   action_cut_is_late(action));
        break;
    case ACTION_REFUSE:
        fakezk_refuse(p, fakezk_refusable(p, action->nth));
        break;
    case ACTION_PARTITION:
    case ACTION_HEAL:
        fakezk_partition(p, action->kind == ACTION_PARTITION);
        break;
    case ACTION_EXPIRE:
        fakezk_expire(action->session);
        break;
    case ACTION_PAUSE:
        fakezk_pause(p, true);
        process_mark(p)->paused = 1;
        tell(EVENT_PAUSED, p);
        break;
    case ACTION_RESUME:
        fakezk_pause(p, false);
        process_mark(p)->paused = 0;
        tell(EVENT_RESUMED, p);
        break;
    case ACTION_CRASH:
        process_crash(p);
        break;
    case ACTION_RESTART:
        process_mark(p)->crashed = 0;
        tell(EVENT_RESTARTED, p);
        process_start(p);
        break;
    case ACTION_FAIL_CALL:
        fakezk_fail_call(p, action->n);
        break;
    default: /* FAIL_ALLOC */
        process_mark(p)->fail_in = (uint8_t)action->n;
        break;
    }
}

static void remove_empty_directory(int lock)
{
    char path[FAKEZK_PATH_MAX];
    bool empty = action_empty_directory(lock, path);
    LS_ASSERT(empty);
    fakezk_operator_rmdir(path);
}

static void do_common_fault(const struct action *action)
{
    switch (action->kind) {
    case ACTION_FREEZE:
        fakezk_freeze(action->server, true);
        break;
    case ACTION_THAW:
        fakezk_freeze(action->server, false);
        fakezk_lag(action->server, false);
        break;
    case ACTION_LAG:
        fakezk_lag(action->server, true);
        break;
    case ACTION_RESTART_SERVER:
        fakezk_restart_server(action->server);
        break;
    case ACTION_SWEEP:
        fakezk_sweep(the_world.lock_path[action->lock]);
        break;
    case ACTION_RMDIR:
        remove_empty_directory(action->lock);
        break;
    case ACTION_FOREIGN:
        fakezk_operator_create(the_world.text[action->text], action->perms, false);
        break;
    default:
        fakezk_operator_remove(the_world.text[action->text]);
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
    bool found = false;
    for (int lock = 0; lock < world->options.locks; lock++) {
        found = found || fakezk_is_container(world->lock_path[lock]);
    }
    world->arena.read[0] = kept[0];
    world->arena.read[1] = kept[1];
    return found;
}

static void do_client(const struct action *action)
{
    process_wake(action->process);
    program_pass(action);
    action_pay(action, false);
    do_verb(action);
}

static void do_fault(const struct action *action)
{
    struct fakezk_step step = {0};
    if (action->kind == ACTION_EXPIRE) {
        step_of_action(action, &step);
    }
    bool due = action->kind == ACTION_EXPIRE && fakezk_can_step(&step);
    process_wake_all();
    action_pay(action,
               due || (action->kind == ACTION_EXPIRE && !session_is_owned(action->process, action->session)));
    if (!due) {
        announce_fault(action);
    }
    if (action_has(action, TRAIT_ON_PROCESS)) {
        do_process_fault(action);
    } else {
        do_common_fault(action);
    }
}

static void do_action(const struct action *action)
{
    if (action_has(action, TRAIT_STEP)) {
        struct fakezk_step step;
        step_of_action(action, &step);
        process_run_step(&step);
    } else if (action_has(action, TRAIT_SYSTEM)) {
        do_timed(action);
    } else if (action_has(action, TRAIT_VERB)) {
        do_client(action);
    } else {
        do_fault(action);
    }
}

/* The action, and what its process says afterwards. */
static void do_whole(void *ctx)
{
    const struct action *action = ctx;
    struct world *world = &the_world;
    do_action(action);
    world->steps++;
    bool one = !world->options.timed; /* only the clock changes the answers of others */
    int first = one ? action->process : 0;
    int end = one ? first + 1 : world->options.processes;
    for (int p = first; p < end && p < world->options.processes; p++) {
        if (world->programmed) {
            program_skip_ops(p);
        }
        process_ask_belief(p);
    }
    world->timer_fired = false;
}

/* What tells it from steps that a recipe hears of in another way; 0 = it hears of none such. */
static uint32_t kind_of(const struct action *action)
{
    bool told = world_is_verb(action) || action->kind == ACTION_DELIVER || action->kind == ACTION_FIRE ||
                action->kind == ACTION_RESTART;
    if (!the_world.zoned || !told) {
        return 0;
    }
    bool delivers = action->kind == ACTION_DELIVER;
    return action->kind + 1u + (delivers ? 64 * fakezk_next_kind(action->process, action->handle) : 0);
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
