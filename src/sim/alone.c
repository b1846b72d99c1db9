/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A step that may go before all others, so that a search need not do them here (partial order).
 *
 * It is the delivery of the next message to a process that runs, has one handle and no timer, and whose program waits: only its
 * own callbacks go on with it. There are two kinds.
 *
 *   - No fault is left or in force at the servers, and its link and its session stand. Then whatever is done before adds messages behind that one, at
 *     most; and the delivery adds requests behind those that the servers have yet to read.
 *   - The message is a reply that has come already, or the library's own word on the link or the session, so that nothing that
 *     becomes of the link and the session takes it away, and no fault is left that stops the process. Then what is done before
 *     may change what the client library has for the process, but not that message; such a delivery goes before others only if
 *     the callback does not use the library. So the session event and the failed completions of one cut are one after another,
 *     and nothing else between them, unless a judge or a caller acts.
 *
 * What else the step reads and changes, and what the judges see of it, the search looks at (explore/partial.h). */
#include "sim/world.h"

/* Those of a coordinator alone may be faults on processes. */
#define FAULTS_OF_PROCESSES                                                                                  \
    (1u << WORLD_FAULT_PAUSE | 1u << WORLD_FAULT_CRASH | 1u << WORLD_FAULT_CANCEL |                          \
     1u << WORLD_FAULT_ALLOC | 1u << WORLD_FAULT_CALL | ~0u << WORLD_FAULT_OWN)

/* Of the enabled actions of a process. */
struct picture {
    int deliveries, delivery; /* how many, and the last */
    bool link_changes;        /* its link or its session may change now */
    bool acts;                /* it does something by itself, or is no process that just runs */
};

static bool is_of_the_link(const struct action *action)
{
    return action_has(action, TRAIT_LINK) || (action->kind == ACTION_APPLY && action->refused != 0);
}

static struct picture look_at(const struct action *actions, int count)
{
    struct picture picture = {0};
    for (int i = 0; i < count; i++) {
        bool delivers = actions[i].kind == ACTION_DELIVER, changes = is_of_the_link(&actions[i]);
        picture.deliveries += delivers;
        picture.delivery = delivers ? i : picture.delivery;
        picture.link_changes |= changes;
        picture.acts |= !delivers && !changes && actions[i].kind != ACTION_APPLY;
    }
    return picture;
}

static bool just_runs(int p)
{
    struct pack pack = process_pack(p);
    return process_running(p) && process_at(p)->fail_in == 0 && the_world.coordinator->failing_call(p) == 0 &&
           !process_tired(p) && pack_first(&pack, LIST_TIMER) == NULL;
}

/* When a node of a process is created, its idle() is asked: what it is told before that may change the answer. */
static bool is_to_be_asked(int p)
{
    return the_world.coordinator->creates(p) && process_says_idle(p);
}

bool world_knows_alone(const struct world *world)
{
    const struct world_options *options = &world->options;
    return !options->timed && !options->fine && options->without == 0;
}

enum world_alone world_alone(struct world *world, int p, const struct action *actions, int count, int *which)
{
    if (world->coordinator->is_sure == NULL) {
        return WORLD_ALONE_NEVER;
    }
    struct picture picture = look_at(actions, count);
    *which = picture.delivery;
    if (p >= world->options.processes || picture.deliveries != 1 || picture.acts || !just_runs(p) ||
        is_to_be_asked(p)) {
        return WORLD_ALONE_NEVER;
    }
    unsigned faults = action_faults_left();
    if (faults == 0 && !picture.link_changes && the_world.coordinator->stands(p)) {
        return WORLD_ALONE;
    }
    bool sure = (faults & FAULTS_OF_PROCESSES) == 0 && the_world.coordinator->is_sure(&actions[*which]);
    return sure ? WORLD_ALONE_IF_UNUSED : WORLD_ALONE_NEVER;
}

void world_own_blocks(const struct world *world, int p, uint64_t bits[2])
{
    bits[0] = bits[1] = 0;
    arena_set_add(bits, world->process_block[p]);
    arena_set_add(bits, world->heap_block[p]);
    arena_set_add(bits, the_world.coordinator->own_block(p));
}

uint64_t world_uses(const struct world *world, int p)
{
    return world->coordinator->uses != NULL ? world->coordinator->uses(p) : 0;
}
