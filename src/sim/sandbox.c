/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "sim/sandbox.h"

#include "base/assert.h"
#include "base/stop_points.h"
#include "sim/world.h"

static const struct world_guard *guard;
static volatile unsigned long calls;
static world_output_fn output;
static void *output_ctx;

void world_set_guard(const struct world_guard *wanted)
{
    guard = wanted;
}

bool world_guard_is_set(void)
{
    return guard != NULL;
}

/* Returns the process whose recipe is being called or asked; -1 = none. */
static int called(void)
{
    return the_world.running != 0 ? the_world.running - 1 : the_world.asked;
}

bool world_in_recipe(void)
{
    return called() >= 0 && !the_world.observing;
}

void world_set_output(world_output_fn wanted, void *ctx)
{
    output = wanted;
    output_ctx = ctx;
}

void world_put_output(const char *text, size_t size)
{
    if (output != NULL && !the_world.muted && called() >= 0) {
        output(output_ctx, called(), text, size);
    }
}

unsigned long world_calls(void)
{
    return calls;
}

void *world_alloc(size_t size)
{
    return the_world.running != 0 ? heap_alloc(the_world.running - 1, size, HEAP_MALLOC) : NULL;
}

void world_free(void *memory)
{
    if (the_world.running != 0) {
        heap_free(the_world.running - 1, memory, HEAP_MALLOC);
    }
}

size_t world_alloc_size(const void *memory)
{
    bool known = the_world.running != 0 && the_world.zoned;
    return known ? zones_size(the_world.running - 1, memory, HEAP_MALLOC) : 0;
}

/* A step of no process names process 0: only the offence counts then. */
void world_tell_offence(int p, enum event_offence offence, const char *where)
{
    bool known = p >= 0 && p < the_world.options.processes;
    struct event event = observe_process(EVENT_MISBEHAVED, known ? p : 0);
    event.offence = (int32_t)offence;
    event.path = where;
    observe(&event);
}

void world_note_offence(enum event_offence offence, const char *where)
{
    world_tell_offence(called(), offence, where);
}

static void drop_process(int p)
{
    zones_scrub(p);
    process_crash(p);
}

/* Shows why a call did not come back. The process whose recipe was being called or asked crashes, because the
 * call is half done. If no recipe was, the offence is that of the step's process, which goes on. */
static void give_up(int process, enum event_offence offence, const char *where)
{
    int p = called();
    world_tell_offence(p >= 0 ? p : process, offence, where);
    world_forget_call();
    LS_ASSERT(called() < 0);
    if (p >= 0) {
        drop_process(p);
    }
}

static void check_memory(int p)
{
    if (!the_world.zoned || !the_world.entered) {
        return;
    }
    if (!lending_is_whole()) {
        world_tell_offence(p, EVENT_OFFENCE_LENT, NULL);
    }
    if (p < the_world.options.processes && process_at(p)->started && !zones_are_whole(p)) {
        drop_process(p);
    }
}

static void tell_read(int p, enum event_offence read)
{
    if (read != EVENT_OFFENCES) {
        world_tell_offence(p, read, NULL);
    }
}

/* Calls fn(ctx) from one place, so that addresses on the stack are the same in all runs of a step. */
static __attribute__((noinline)) bool call(void (*fn)(void *ctx), void *ctx, enum event_offence *offence,
                                           const char **where)
{
    calls++;
    bool came_back = guard->call(fn, ctx, offence, where);
    if (!came_back) {
        the_world.coordinator->leave(); /* the process was entered, and nothing has left it */
    }
    return came_back;
}

/* Calls fn(ctx), and puts variables of the recipe back; the caller puts back the world. */
static bool call_aside(void (*fn)(void *ctx), void *ctx)
{
    enum event_offence offence;
    const char *where;
    bool came_back = call(fn, ctx, &offence, &where);
    (void)guard->changed(&where);
    return came_back;
}

static void bury_aborted(void)
{
    int p = the_world.aborted - 1;
    LS_ASSERT(p >= 0 && p < the_world.options.processes);
    the_world.aborted = 0;
    if (!process_at(p)->crashed) {
        process_crash(p);
    }
}

bool guard_rehearse(void (*fn)(void *ctx), void *ctx)
{
    return the_world.zoned && twice_rehearse(call_aside, fn, ctx);
}

static void call_guarded(int process, uint32_t kind, void (*fn)(void *ctx), void *ctx)
{
    enum event_offence offence = EVENT_OFFENCE_CRASH;
    const char *where = NULL;
    bool twice =
        the_world.zoned && kind != 0 && !stop_points_once && twice_is_due(kind) && twice_prepare(process);
    while (twice && twice_next()) {
        bool back = call(fn, ctx, &offence, &where);
        (void)guard->changed(&where);
        twice_end(back);
    }
    the_world.entered = false;
    LS_ASSERT(the_world.painted == 0 && !the_world.muted);
    stop_points_arm();
    bool came_back = call(fn, ctx, &offence, &where);
    stop_points_disarm();
    if (!came_back) {
        twice_drop(twice);
        give_up(process, offence, where);
        return;
    }
    if (guard->changed(&where)) {
        world_tell_offence(process, EVENT_OFFENCE_GLOBAL, where);
    }
    if (twice) {
        twice_compare();
        while (twice_next_reason()) {
            bool back = call(fn, ctx, &offence, &where);
            (void)guard->changed(&where);
            twice_end_reason(back);
        }
        tell_read(process, twice_verdict());
    }
    check_memory(process);
    LS_ASSERT(the_world.painted == 0 && !the_world.muted && !the_world.sums);
}

void guard_call(int process, uint32_t kind, void (*fn)(void *ctx), void *ctx)
{
    if (guard != NULL) {
        call_guarded(process, kind, fn, ctx);
    } else {
        stop_points_arm();
        fn(ctx);
        stop_points_disarm();
    }
    if (the_world.aborted != 0) {
        bury_aborted();
    }
}
