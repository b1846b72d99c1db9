/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A step that may go before all others: a search does it alone (partial order, persistent set).
 *
 * Definition: the step delivers the one message that process p can be given now. The process runs and is not
 * tired. It has no timer armed, and no failing allocation or call ahead. The other enabled actions of p are
 * ACTION_APPLY, and changes of its link or session. The coordinator asks idle() when a node of p is created,
 * and a delivery may change the answer. So the definition demands: if a create of p has no answer, idle() is
 * false.
 *
 * Claim: if others act first, the delivery stays possible, and both orders lead to the same state. Why:
 *
 * - WORLD_ALONE: no fault is left, and p's link and session stand (stands() of the coordinator). Earlier
 *   actions only add messages behind the delivered one. The delivery only adds requests behind those that the
 *   servers have yet to read.
 * - WORLD_ALONE_IF_UNUSED: no other step removes or changes the message (is_sure()), and no fault of
 *   FAULTS_OF_PROCESSES is left. Earlier actions may change the data of the client library for p. So the
 *   callback must not use the library.
 *
 * Example: one cut fails two requests of p. The session event and both completions are delivered in a row,
 * without steps of other processes in between, as long as the search's own conditions hold for each.
 *
 * The search checks the blocks that the step reads and changes, and the events that judges see
 * (explore/persistent_set.h). Checked by tests/explore/test_partial.c. */
#include "sim/world.h"

#include "base/assert.h"

/* Faults that stop a process, call its recipe or take memory from it. All own faults of a coordinator count,
 * because they may do so too. */
#define FAULTS_OF_PROCESSES                                                                                  \
    (1u << WORLD_FAULT_PAUSE | 1u << WORLD_FAULT_CRASH | 1u << WORLD_FAULT_CANCEL |                          \
     1u << WORLD_FAULT_ALLOC | 1u << WORLD_FAULT_CALL | ~0u << WORLD_FAULT_OWN)

struct picture {
    int deliveries, delivery; /* number of deliveries, and index of the last one */
    bool link_changes;        /* some action may change the link or the session */
    bool acts;                /* some action is no delivery, no such change and no apply */
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
    LS_ASSERT(picture.deliveries <= count && picture.delivery >= 0);
    return picture;
}

static bool just_runs(int p)
{
    struct pack pack = process_pack(p);
    return process_running(p) && process_at(p)->fail_in == 0 && the_world.coordinator->failing_call(p) == 0 &&
           !process_tired(p) && pack_first(&pack, LIST_TIMER) == NULL;
}

/* Returns whether the coordinator may yet ask idle(), at a create of p, and idle() returns true now. */
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
        LS_ASSERT(actions[*which].process == p && actions[*which].kind == ACTION_DELIVER);
        return WORLD_ALONE;
    }
    bool sure = (faults & FAULTS_OF_PROCESSES) == 0 && the_world.coordinator->is_sure(&actions[*which]);
    return sure ? WORLD_ALONE_IF_UNUSED : WORLD_ALONE_NEVER;
}

void world_own_blocks(const struct world *world, int p, uint64_t bits[2])
{
    LS_ASSERT(p >= 0 && p < world->options.processes);
    bits[0] = bits[1] = 0;
    arena_set_add(bits, world->process_block[p]);
    arena_set_add(bits, world->heap_block[p]);
    arena_set_add(bits, the_world.coordinator->own_block(p));
}

uint64_t world_uses(const struct world *world, int p)
{
    return world->coordinator->uses != NULL ? world->coordinator->uses(p) : 0;
}
