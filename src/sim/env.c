/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The environment (lockstep/env.h) inside a world: one thread, a virtual clock, memory in the arena. */
#include "base/assert.h"
#include "base/hash.h"
#include "base/text.h"
#include "sim/world.h"

#include <lockstep/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the mutex: not held by anyone when a process is entered ---- */

void ls_env_lock(struct ls_env *env)
{
    (void)env;
    if (the_world.locked != 0) {
        world_note_offence(EVENT_OFFENCE_LOCK, NULL);
    }
    the_world.locked = 1;
}

void ls_env_unlock(struct ls_env *env)
{
    (void)env;
    if (the_world.locked == 0) {
        world_note_offence(EVENT_OFFENCE_LOCK, NULL);
    }
    the_world.locked = 0;
}

/* Notes an offence if `function` is called without the mutex. */
static void expect_lock(const char *function)
{
    if (the_world.locked == 0) {
        world_note_offence(EVENT_OFFENCE_UNLOCKED, function);
    }
}

void ls_env_waiter_init(struct ls_env *env, struct ls_waiter *waiter)
{
    (void)env;
    memset(waiter, 0, sizeof *waiter);
}

void ls_env_waiter_close(struct ls_env *env, struct ls_waiter *waiter)
{
    (void)env;
    memset(waiter, 0, sizeof *waiter);
}

/* A process has one thread: if it slept here, it would sleep for ever. Callers wait in a loop, which only a
 * guard can leave. Without one, this ends the program. */
void ls_env_wait(struct ls_env *env, struct ls_waiter *waiter)
{
    (void)env;
    (void)waiter;
    expect_lock("ls_env_wait");
    world_note_offence(EVENT_OFFENCE_BLOCK, NULL);
    if (!world_guard_is_set()) {
        fputs(
            "lockstep: expected a call that does not wait, such as ls_mutex_acquire_start(), found one that "
            "waits in a world, where nobody can wake it\n",
            stderr);
        abort();
    }
}

void ls_env_wake(struct ls_env *env, struct ls_waiter *waiter)
{
    (void)env;
    (void)waiter;
    expect_lock("ls_env_wake");
}

void ls_env_callback_enter(struct ls_env *env)
{
    (void)env;
    the_world.in_callback++;
}

void ls_env_callback_leave(struct ls_env *env)
{
    (void)env;
    the_world.in_callback--;
}

bool ls_env_in_callback(struct ls_env *env)
{
    (void)env;
    return the_world.in_callback > 0;
}

uint64_t ls_env_self(struct ls_env *env)
{
    (void)env;
    return LS_ENV_THREAD | 1;
}

void ls_env_stamp(struct ls_env *env, struct ls_stamp *stamp)
{
    (void)env;
    stamp->opaque = (uint64_t)clock_now_ms() + 1;
}

int64_t ls_env_elapsed_ms(struct ls_env *env, const struct ls_stamp *stamp)
{
    (void)env;
    if (stamp->opaque == 0) {
        return INT64_MAX;
    }
    return (int64_t)clock_now_ms() + 1 - (int64_t)stamp->opaque;
}

/* Counts an allocation, or the start of a timer of LS_TIMER_DEADLINE. Returns whether a fault lets it
 * fail. */
static bool is_short_of_memory(int p)
{
    LS_ASSERT(p < the_world.options.processes);
    bool fails = process_at(p)->fail_in > 0 && --process_mark(p)->fail_in == 0;
    if (fails) {
        process_wake(p); /* the next attempt differs: it has memory */
        repeats_forget(p);
    }
    return fails;
}

const char *timer_name(const struct timer *timer)
{
    return code_unpack(timer->name);
}

int timer_count(int p)
{
    struct pack pack = process_pack(p);
    return pack_count(&pack, LIST_TIMER);
}

struct timer *timer_at(int p, int index)
{
    LS_ASSERT(index >= 0);
    struct pack pack = process_pack(p);
    struct rec *rec = pack_first(&pack, LIST_TIMER);
    while (index-- > 0 && rec != NULL) {
        rec = pack_next(&pack, rec);
    }
    return (struct timer *)rec;
}

bool timer_is_due(const struct timer *timer)
{
    return timer->due_ms <= clock_now_ms();
}

static bool has_fired(int p, const struct ls_timer *timer)
{
    if ((the_state()->repeated >> p & 1u) == 0) {
        return false;
    }
    struct pack pack = process_pack(p);
    struct rec *rec = pack_first(&pack, LIST_REPEAT);
    LS_ASSERT(rec != NULL);
    while (rec != NULL && ((struct repeat *)rec)->timer != timer) {
        rec = pack_next(&pack, rec);
    }
    return rec != NULL;
}

/* Returns whether a timer waits for the condition that recipe.h states for its role. Without a clock it may
 * not fire then. With a clock it may, but it does not keep the world from rest. */
static bool has_to_wait(int p, const struct timer *timer)
{
    const struct coordinator *coordinator = the_world.coordinator;
    switch ((enum ls_timer_role)timer->rec.tag) {
    case LS_TIMER_POLL:
    case LS_TIMER_RENEWAL:
        return has_fired(p, timer->timer);
    case LS_TIMER_LEASE:
        return !coordinator->cut_off(p) && (timers_of_role(p, LS_TIMER_RENEWAL) || coordinator->awaits(p));
    case LS_TIMER_PATIENCE:
        return coordinator->stalled != NULL ? !coordinator->stalled(p) : !coordinator->cut_off(p);
    default:
        return false;
    }
}

/* Without a clock, the retry of a tired process could fire again and again while nothing else happens. */
bool timer_may_fire(int p, const struct timer *timer)
{
    bool in_vain = process_tired(p) && timer_is(timer, LS_TIMER_WORK);
    return timer_is_due(timer) && (the_world.options.timed || (!in_vain && !has_to_wait(p, timer)));
}

void repeats_note(int p, const struct ls_timer *timer)
{
    LS_ASSERT(p >= 0 && p < the_world.options.processes);
    if (has_fired(p, timer)) {
        return;
    }
    struct pack pack = process_pack(p);
    struct rec *before = pack_first(&pack, LIST_REPEAT);
    while (before != NULL && ((struct repeat *)before)->timer < timer) {
        before = pack_next(&pack, before); /* sorted, so that equal sets have equal bytes */
    }
    struct repeat *repeat = (struct repeat *)pack_insert(&pack, LIST_REPEAT, before, sizeof *repeat);
    if (repeat == NULL) {
        world_note_trouble("limit: a process has too many polls and renewals");
        return;
    }
    repeat->timer = timer;
    state_mark()->repeated |= 1u << p;
    LS_ASSERT(has_fired(p, timer));
}

void repeats_forget(int p)
{
    if (p < the_world.options.processes && (the_state()->repeated >> p & 1u) != 0) {
        struct pack pack = process_pack(p);
        pack_clear(&pack, LIST_REPEAT);
        state_mark()->repeated &= ~(1u << p);
    }
}

void repeats_forget_all(void)
{
    for (int p = 0; the_state()->repeated != 0; p++) {
        LS_ASSERT(p < the_world.options.processes);
        repeats_forget(p);
    }
}

bool timers_of_work(int p)
{
    struct pack pack = process_pack(p);
    for (struct rec *rec = pack_first(&pack, LIST_TIMER); rec != NULL; rec = pack_next(&pack, rec)) {
        const struct timer *timer = (struct timer *)rec;
        if (timer_is_work(timer) && !has_to_wait(p, timer)) {
            return true;
        }
    }
    return false;
}

bool timer_is_work(const struct timer *timer)
{
    const unsigned work = 1u << LS_TIMER_WORK | 1u << LS_TIMER_STEP | 1u << LS_TIMER_POLL |
                          1u << LS_TIMER_RENEWAL | 1u << LS_TIMER_LEASE | 1u << LS_TIMER_PATIENCE;
    LS_ASSERT(timer->rec.tag < 32);
    return (work >> timer->rec.tag & 1u) != 0;
}

bool timers_of_role(int p, enum ls_timer_role role)
{
    struct pack pack = process_pack(p);
    struct rec *rec = pack_first(&pack, LIST_TIMER);
    while (rec != NULL && !timer_is((struct timer *)rec, role)) {
        rec = pack_next(&pack, rec);
    }
    return rec != NULL;
}

bool timer_repeats(const struct timer *timer)
{
    return timer_is(timer, LS_TIMER_POLL) || timer_is(timer, LS_TIMER_RENEWAL);
}

bool timer_is(const struct timer *timer, enum ls_timer_role role)
{
    return timer->rec.tag == role;
}

static enum ls_timer_role role_of(const char *name)
{
    const struct ls_timer_row *row = the_world.options.recipe->timers;
    if (row == NULL) {
        return text_begins(name, "deadline") ? LS_TIMER_DEADLINE
               : text_begins(name, "fresh")  ? LS_TIMER_UPKEEP
                                             : LS_TIMER_WORK;
    }
    while (row->name != NULL && strcmp(row->name, name) != 0) {
        row++;
    }
    return row->name != NULL ? row->role : LS_TIMER_WORK;
}

static struct rec *behind(const struct pack *pack, const char *name, const struct ls_timer *timer)
{
    for (struct rec *rec = pack_first(pack, LIST_TIMER); rec != NULL; rec = pack_next(pack, rec)) {
        const struct timer *other = (struct timer *)rec;
        int order = strcmp(timer_name(other), name);
        if (order > 0 || (order == 0 && other->timer > timer)) {
            return rec;
        }
    }
    return NULL;
}

static bool is_in_order(const struct timer *timer, const struct timer *next)
{
    int order = next != NULL ? strcmp(timer_name(timer), timer_name(next)) : -1;
    return order < 0 || (order == 0 && timer->timer < next->timer);
}

/* Returns the moment `delay_ms` from now; INT32_MAX = beyond the clock's range, it never comes. */
static int32_t later(uint32_t delay_ms)
{
    int32_t now = clock_now_ms();
    LS_ASSERT(now >= 0);
    return delay_ms < (uint32_t)(INT32_MAX - now) ? now + (int32_t)delay_ms : INT32_MAX;
}

int ls_env_timer_start(struct ls_env *env, struct ls_timer *timer, const char *name, uint32_t delay_ms,
                       ls_timer_fn fn, void *ctx)
{
    ls_env_timer_stop(env, timer);
    enum ls_timer_role role = role_of(name);
    if (role == LS_TIMER_DEADLINE && is_short_of_memory(env->process)) {
        return LS_ENOMEM;
    }
    struct pack pack = process_pack(env->process);
    struct timer *armed =
        (struct timer *)pack_insert(&pack, LIST_TIMER, behind(&pack, name, timer), sizeof *armed);
    if (armed == NULL) {
        world_note_trouble("limit: a process has too many timers");
        return LS_ENOMEM;
    }
    armed->rec.tag = (uint8_t)role;
    LS_ASSERT(armed->rec.tag == role);
    armed->name = code_pack(name);
    armed->fn = code_pack_fn((code_fn)fn);
    armed->due_ms = the_world.options.timed ? later(delay_ms) : 0;
    armed->timer = timer;
    armed->ctx = ctx;
    LS_ASSERT(is_in_order(armed, (struct timer *)pack_next(&pack, &armed->rec)));
    timer->armed = 1;
    return 0;
}

void ls_env_timer_stop(struct ls_env *env, struct ls_timer *timer)
{
    if (timer->armed == 0) {
        return;
    }
    timer->armed = 0;
    struct pack pack = process_pack(env->process);
    for (struct rec *rec = pack_first(&pack, LIST_TIMER); rec != NULL; rec = pack_next(&pack, rec)) {
        if (((struct timer *)rec)->timer == timer) {
            pack_remove(&pack, rec);
            return;
        }
    }
}

void ls_env_random(struct ls_env *env, void *bytes, size_t size)
{
    unsigned char *to = bytes;
    for (size_t i = 0; i < size; i++) {
        to[i] = (unsigned char)hash_mix(the_world.options.seed * 131u + (uint64_t)env->process * 17u + i);
    }
}

/* Writes an id with the shape of a version 4 UUID, made of the process and a counter. */
static void make_id(int process, uint32_t number, uint8_t id[16])
{
    LS_ASSERT(process >= 0 && process < WORLD_PROCESSES_MAX);
    memset(id, 0, 16);
    id[3] = (uint8_t)(process + 1);
    id[6] = 0x40;
    id[8] = 0x80;
    for (int i = 0; i < 4; i++) {
        id[15 - i] = (uint8_t)(number >> (8 * i));
    }
}

void ls_env_unique_id(struct ls_env *env, uint8_t id[16])
{
    LS_ASSERT(process_at(env->process)->ids < UINT32_MAX);
    make_id(env->process, ++process_mark(env->process)->ids, id);
}

void env_attempt_id(int p, uint8_t id[16])
{
    make_id(p, 0, id);
}

void *ls_env_alloc(struct ls_env *env, size_t size)
{
    expect_lock("ls_env_alloc");
    return is_short_of_memory(env->process) ? NULL : heap_alloc(env->process, size, HEAP_ENV);
}

void ls_env_free(struct ls_env *env, void *memory)
{
    expect_lock("ls_env_free");
    if (memory != NULL) {
        heap_free(env->process, memory, HEAP_ENV);
    }
}
