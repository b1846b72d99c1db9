/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Programs: the operations that owners of a process do, and which of them is next.
 *
 * A program is one list of operations, or one list for each owner (a task). Each list has a counter in the
 * block of the process. An operation waits for the answers to the acquires and guarded writes before it in
 * its list; ACTION_NOWAIT makes exceptions (lockstep/sim.h). A task does not wait for answers to other
 * owners. */
#include "base/assert.h"
#include "sim/abilities.h"
#include "sim/world.h"

#include <string.h>

struct list {
    const struct action *ops;
    int count;
    bool endless;
    int owner; /* owner whose answers the list waits for; -1 = all */
};

static const struct world_program *program(int p)
{
    return &the_world.options.program[p];
}

int program_lists(int p)
{
    return program(p)->tasks > 0 ? program(p)->tasks : 1;
}

static struct list list_at(int p, int which)
{
    LS_ASSERT(which >= 0 && which < program_lists(p));
    const struct world_program *all = program(p);
    if (all->tasks == 0) {
        return (struct list){all->ops, all->count, all->endless, -1};
    }
    const struct world_task *task = &all->task[which];
    LS_ASSERT(task->begin <= task->end && task->end <= all->count);
    return (struct list){all->ops + task->begin, task->end - task->begin, task->endless, task->owner};
}

/* Returns the index of the list with the owner's operations; -1 = none. */
static int list_of(int p, int owner)
{
    for (int i = 0; i < program_lists(p); i++) {
        int whose = list_at(p, i).owner;
        if (whose < 0 || whose == owner) {
            return i;
        }
    }
    return -1;
}

static bool is_theirs(const struct list *list, int owner)
{
    return list->owner < 0 || list->owner == owner;
}

void program_rewind(int p)
{
    LS_ASSERT(!process_at(p)->started);
    struct process *process = process_mark(p);
    memset(process->pc, 0, sizeof process->pc);
}

static const struct action *upcoming(const struct list *list, int pc)
{
    LS_ASSERT(pc >= 0 && pc <= list->count);
    if (pc >= list->count) {
        pc = list->endless ? 0 : -1;
    }
    return pc >= 0 ? &list->ops[pc] : NULL;
}

/* Returns the last operation before `pc` of this kind, lock and owner, or NULL; `lock` -1 = of any lock and
 * owner. An endless list wraps around. */
static const struct action *last_op(const struct list *list, int pc, enum action_kind kind, int lock,
                                    int owner)
{
    LS_ASSERT(pc >= 0 && pc <= list->count);
    for (int back = 1; back <= list->count; back++) {
        int at = pc - back;
        if (at < 0 && !list->endless) {
            break;
        }
        const struct action *op = &list->ops[at < 0 ? at + list->count : at];
        if (op->kind == kind && (lock < 0 || (action_has_lock(op, lock) && op->owner == owner))) {
            return op;
        }
    }
    return NULL;
}

const struct action *program_last_acquire(int p, int lock, int owner)
{
    int which = list_of(p, owner);
    if (which < 0) {
        return NULL;
    }
    struct list list = list_at(p, which);
    return last_op(&list, process_at(p)->pc[which], ACTION_ACQUIRE, lock, owner);
}

/* Returns whether the list waits for the answer to its last such operation, because that has no
 * ACTION_NOWAIT. True also if there is no such operation. */
static bool is_awaited(const struct list *list, int pc, enum action_kind kind, int lock, int owner)
{
    const struct action *op = last_op(list, pc, kind, lock, owner);
    return op == NULL || (op->modes & ACTION_NOWAIT) == 0;
}

/* Returns whether the step needs the slot's lock as the slot's owner. Then it waits for the answer in spite
 * of ACTION_NOWAIT. */
static bool is_about(const struct action *op, const struct slot *slot)
{
    bool of_slot = op->kind == ACTION_ACQUIRE || op->kind == ACTION_RELEASE || op->kind == ACTION_WRITE;
    return of_slot && action_has_lock(op, slot->rec.tag) && op->owner == slot->rec.word;
}

static bool waits(int p, const struct list *list, int pc, const struct action *op)
{
    struct pack pack = process_pack(p);
    for (struct rec *rec = pack_first(&pack, LIST_SLOT); rec != NULL; rec = pack_next(&pack, rec)) {
        const struct slot *slot = (struct slot *)rec;
        if (slot->pending && is_theirs(list, (int)slot->rec.word) &&
            (is_about(op, slot) ||
             is_awaited(list, pc, ACTION_ACQUIRE, slot->rec.tag, (int)slot->rec.word))) {
            return true;
        }
    }
    return write_waits(p, list->owner) &&
           (op->kind == ACTION_WRITE || is_awaited(list, pc, ACTION_WRITE, -1, 0));
}

const struct action *program_next_op(int p, int which)
{
    const struct process *process = process_at(p);
    struct list list = list_at(p, which);
    int pc = process->pc[which];
    LS_ASSERT(pc <= list.count);
    if (pc >= list.count || process->paused) {
        return NULL;
    }
    const struct action *op = &list.ops[pc];
    return (process->started || op->kind == ACTION_START) && !waits(p, &list, pc, op) ? op : NULL;
}

/* Returns whether a step of a program is this action. Steps of different lists have different owners, but for
 * verbs without an owner: these may differ in a capacity or a place alone. */
static bool is_step(const struct action *step, const struct action *action)
{
    bool by_number = step->kind == ACTION_RESIZE || step->kind == ACTION_REVOKE;
    return step->kind == action->kind && step->owner == action->owner && action_same_locks(step, action) &&
           (!by_number || step->c == action->c);
}

/* Returns the index of the first list whose next step is the action; -1 = none. */
static int list_at_step(const struct action *action)
{
    for (int i = 0; i < program_lists(action->process); i++) {
        const struct action *next = program_next_op(action->process, i);
        if (next != NULL && is_step(next, action)) {
            return i;
        }
    }
    return -1;
}

void program_pass(const struct action *action)
{
    int which = list_at_step(action);
    if (which >= 0) {
        LS_ASSERT(process_at(action->process)->pc[which] < list_at(action->process, which).count);
        process_mark(action->process)->pc[which]++;
    }
}

int world_program_step(struct world *world, const struct action *action)
{
    uint64_t kept[2] = {world->arena.read[0], world->arena.read[1]};
    int which = list_at_step(action), step = -1;
    if (which >= 0) {
        LS_ASSERT(action->process < world->options.processes);
        step = (int)(list_at(action->process, which).ops - program(action->process)->ops) +
               process_at(action->process)->pc[which];
    }
    world->arena.read[0] = kept[0];
    world->arena.read[1] = kept[1];
    return step;
}

/* Returns whether a step is to be passed over. The recipe cannot close, revoke, resize or guard a write as it
 * asks. Or one of its locks is closed; of an open: is open. Or, of a write or of a release without `anyway`,
 * its lock is not held. */
static bool is_void(int p, const struct action *op)
{
    const struct ls_recipe *recipe = the_world.options.recipe;
    if (action_has(op, TRAIT_LOCK) && process_has_closed_one(p, op) != (op->kind == ACTION_OPEN)) {
        return true;
    }
    if (op->kind == ACTION_CLOSE) {
        return !recipe_can_close(recipe);
    }
    if (op->kind == ACTION_REVOCABLE || op->kind == ACTION_REVOKE) {
        return !recipe_can_revoke(recipe);
    }
    if (op->kind == ACTION_RESIZE) {
        return !recipe_can_resize(recipe);
    }
    if (op->kind == ACTION_WRITE && op->guarded != 0 && !recipe_can_guard(recipe)) {
        return true;
    }
    if (op->kind != ACTION_WRITE && (op->kind != ACTION_RELEASE || op->anyway != 0)) {
        return false;
    }
    const struct slot *slot = process_slot(p, op->lock, op->owner);
    return slot == NULL || slot->depth <= 0 || (op->kind == ACTION_WRITE && slot->lost);
}

static void skip_in_list(int p, int which)
{
    struct list list = list_at(p, which);
    for (int turns = 0; turns <= list.count; turns++) {
        int pc = process_at(p)->pc[which];
        const struct action *op = upcoming(&list, pc);
        if (op == NULL || waits(p, &list, pc, op)) {
            return;
        }
        if (pc >= list.count) {
            process_mark(p)->pc[which] = 0;
        }
        if (!is_void(p, op)) {
            return;
        }
        LS_ASSERT(process_at(p)->pc[which] < list.count);
        process_mark(p)->pc[which]++;
    }
}

void program_skip_ops(int p)
{
    for (int i = 0; i < program_lists(p); i++) {
        skip_in_list(p, i);
    }
}

static bool has_ended(int p)
{
    for (int i = 0; i < program_lists(p); i++) {
        struct list list = list_at(p, i);
        LS_ASSERT(process_at(p)->pc[i] <= list.count);
        if (list.endless || process_at(p)->pc[i] < list.count) {
            return false;
        }
    }
    struct pack pack = process_pack(p);
    for (struct rec *rec = pack_first(&pack, LIST_SLOT); rec != NULL; rec = pack_next(&pack, rec)) {
        if (((struct slot *)rec)->pending) {
            return false;
        }
    }
    return !write_waits(p, -1);
}

bool world_program_ended(struct world *world, int p)
{
    uint64_t kept[2] = {world->arena.read[0], world->arena.read[1]};
    bool ended = has_ended(p);
    world->arena.read[0] = kept[0];
    world->arena.read[1] = kept[1];
    return ended;
}
