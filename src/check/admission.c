/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "base/assert.h"
#include "check/state.h"

static const struct ls_lock_spec *spec_of(const struct check_context *context, int lock)
{
    static const struct ls_lock_spec MUTEX;
    return context->specs && lock < context->locks ? &context->specs[lock] : &MUTEX;
}

static int units_of(const struct check_context *context, int lock)
{
    int count = spec_of(context, lock)->count;
    LS_ASSERT(lock >= 0);
    return count > 0 ? count : 1;
}

int lock_nodes(const struct check_context *context, int lock)
{
    return context->contender_per_unit ? units_of(context, lock) : 1;
}

static bool is_exclusive(const struct check_context *context, int lock)
{
    return spec_of(context, lock)->mode == LS_MODE_EXCLUSIVE;
}

bool lock_stands_alone(const struct check_context *context, int lock)
{
    return is_exclusive(context, lock) || (spec_of(context, lock)->capacity == 1 && !context->resizes);
}

bool lock_waits_again(const struct check_context *context, int lock)
{
    return spec_of(context, lock)->loss == LS_LOSS_WAITS;
}

int group_of(const struct check_context *context, int lock)
{
    return context->specs && lock < context->locks ? context->specs[lock].group : lock;
}

struct check_record *group_first_record(struct check_table *table, const struct check_context *context,
                                        enum record_kind kind, int lock)
{
    if (!context->specs)
        return table_first_lock(table, kind, lock);
    int group = group_of(context, lock);
    struct check_record *record = NULL;
    for (int l = group; !record && l < context->locks && group_of(context, l) == group; l++)
        record = table_first_lock(table, kind, l);
    return record;
}

struct check_record *group_next_record(struct check_table *table, const struct check_context *context,
                                       struct check_record *record)
{
    struct check_record *next = table_next(table, record);
    LS_ASSERT(!next || (next->kind == record->kind && next->lock >= record->lock));
    return next && group_of(context, next->lock) == group_of(context, record->lock) ? next : NULL;
}

int group_claims(struct check_table *table, const struct check_context *context, int lock, int process,
                 unsigned flags)
{
    LS_ASSERT(flags != 0);
    int count = 0;
    struct check_record *claim = group_first_record(table, context, RECORD_CLAIM, lock);
    for (; claim; claim = group_next_record(table, context, claim))
        if ((process < 0 || claim->process == process) && (claim->flags & flags))
            count++;
    return count;
}

int group_watches(struct check_table *table, const struct check_context *context, int lock, int process,
                  enum event_watch type)
{
    int count = 0;
    struct check_record *record = group_first_record(table, context, RECORD_WATCH, lock);
    for (; record; record = group_next_record(table, context, record))
        count += record->process == process && record->owner == type ? record->watches : 0;
    return count;
}

bool group_has_other_claim(struct check_table *table, const struct check_context *context,
                           const struct event *event, unsigned flags)
{
    LS_ASSERT(flags != 0);
    struct check_record *claim = group_first_record(table, context, RECORD_CLAIM, event->lock);
    while (claim && (claim->lock == event->lock || claim->process != event->process ||
                     claim->owner != event->owner || (claim->flags & flags) == 0))
        claim = group_next_record(table, context, claim);
    return claim != NULL;
}

void hold_set_add(struct hold_set *set, const struct check_context *context, int lock)
{
    LS_ASSERT(set->some == (set->units > 0));
    set->some = true;
    set->exclusive |= is_exclusive(context, lock);
    set->units += units_of(context, lock);
}

void hold_set_add_node(struct hold_set *set, const struct check_context *context, int lock)
{
    LS_ASSERT(units_of(context, lock) % lock_nodes(context, lock) == 0);
    int units = set->units + units_of(context, lock) / lock_nodes(context, lock);
    hold_set_add(set, context, lock);
    set->units = units;
}

bool hold_set_admits(const struct hold_set *set, const struct check_context *context, int lock, int capacity)
{
    LS_ASSERT(set->some || (set->units == 0 && !set->exclusive));
    if (!set->some)
        return true;
    return !set->exclusive && !is_exclusive(context, lock) &&
           (capacity == 0 || set->units + units_of(context, lock) <= capacity);
}

/* Returns the record of the capacities that the process has known; NULL if the declared one is the only
 * one. */
static const struct check_record *told_capacity(struct check_table *table,
                                                const struct check_context *context, int lock, int process)
{
    return context->resizes ? table_get(table, RECORD_CAPACITY, group_of(context, lock), process, 0) : NULL;
}

int ledger_capacity(struct check_table *table, const struct check_context *context, int lock, int process)
{
    const struct check_record *told = told_capacity(table, context, lock, process);
    return told ? told->capacity : spec_of(context, lock)->capacity;
}

int ledger_largest_capacity(struct check_table *table, const struct check_context *context, int lock,
                            int process)
{
    const struct check_record *told = told_capacity(table, context, lock, process);
    return told ? told->largest_capacity : spec_of(context, lock)->capacity;
}

static int capacity_of(struct check_table *table, const struct check_context *context,
                       const struct contender *contender)
{
    LS_ASSERT(contender->capacity >= 0);
    int known = ledger_capacity(table, context, contender->lock, contender->process);
    return known < contender->capacity ? contender->capacity : known;
}

struct contender contender_of_record(const struct check_record *record)
{
    LS_ASSERT(record->kind == RECORD_NODE || record->kind == RECORD_PLACE);
    return (struct contender){
        .lock = record->lock, .process = record->process, .owner = -1, .czxid = record->czxid};
}

/* Returns the hold of this lock by the contender's owner if the node of the hold exists, else NULL. */
static struct check_record *standing_hold(struct check_table *table, const struct contender *contender,
                                          int lock)
{
    struct check_record *claim = table_get(table, RECORD_CLAIM, lock, contender->process, contender->owner);
    bool holds = claim && (claim->flags & CLAIM_HOLDING);
    LS_ASSERT(contender->owner >= 0);
    return holds && ledger_node(table, lock, claim->czxid) ? claim : NULL;
}

/* Returns true if the contender's owner holds in the group by this node, or with `czxid` 0 by any node of an
 * exclusive lock. The node must exist. False without specs (all locks are mutexes), and for an unknown
 * owner. */
static bool is_own(struct check_table *table, const struct check_context *context,
                   const struct contender *contender, int64_t czxid)
{
    if (contender->owner < 0 || !context->specs)
        return false;
    int group = group_of(context, contender->lock);
    for (int lock = group; lock < context->locks && group_of(context, lock) == group; lock++) {
        struct check_record *hold = standing_hold(table, contender, lock);
        if (hold && (czxid != 0 ? hold->czxid == czxid : is_exclusive(context, lock)))
            return true;
    }
    return false;
}

bool ledger_holds_alone(struct check_table *table, const struct check_context *context,
                        const struct event *event)
{
    const struct contender contender = {
        .lock = event->lock, .process = event->process, .owner = event->owner};
    return is_own(table, context, &contender, 0);
}

/* Returns the owner's hold of an exclusive lock of the group (lock_spec.h), even if its node is gone; NULL =
 * none. */
static const struct check_record *hold_alone(struct check_table *table, const struct check_context *context,
                                             int group, int process, int owner)
{
    for (int lock = group; lock < context->locks && group_of(context, lock) == group; lock++) {
        const struct check_record *claim = table_get(table, RECORD_CLAIM, lock, process, owner);
        if (claim && is_exclusive(context, lock) && (claim->flags & CLAIM_HOLDING))
            return claim;
    }
    return NULL;
}

bool ledger_takes_own_place(struct check_table *table, const struct check_context *context,
                            const struct event *event)
{
    if (!context->specs || is_exclusive(context, event->lock))
        return false;
    const struct check_record *hold =
        hold_alone(table, context, group_of(context, event->lock), event->process, event->owner);
    return hold && hold->czxid == event->token;
}

bool ledger_joined_under(struct check_table *table, const struct check_context *context,
                         const struct contender *contender)
{
    if (!context->specs)
        return false;
    const struct check_record *node =
        table_get_exact(table, RECORD_NODE, contender->lock, contender->process, 0, contender->czxid);
    if (!node || (node->flags & NODE_UNDER) == 0)
        return false;
    return contender->owner < 0 || hold_alone(table, context, group_of(context, contender->lock),
                                              contender->process, contender->owner);
}

/* The contenders that are compared with one contender, as far as they are collected. */
struct obstacles {
    struct hold_set set;
    const struct check_record *first, *first_exclusive; /* the oldest of the set, NULL = none */
};

static const struct check_record *older(const struct check_record *a, const struct check_record *b)
{
    return !a || b->czxid < a->czxid ? b : a;
}

static void add_obstacle(struct obstacles *obstacles, const struct check_context *context,
                         const struct check_record *node)
{
    LS_ASSERT(node->kind == RECORD_NODE);
    hold_set_add_node(&obstacles->set, context, node->lock);
    obstacles->first = older(obstacles->first, node);
    if (is_exclusive(context, node->lock))
        obstacles->first_exclusive = older(obstacles->first_exclusive, node);
    LS_ASSERT(obstacles->set.exclusive || !obstacles->first_exclusive);
}

/* Returns true if the node precedes this czxid. A node with NODE_UNDER precedes each other one. */
static bool is_before(const struct check_record *node, int64_t czxid)
{
    return node->czxid < czxid || (node->flags & NODE_UNDER);
}

/* Adds the contenders before this one in line, except nodes by which its owner holds, and except the node
 * that is taken for deleted (contender.gone). */
static void add_line(struct check_table *table, const struct check_context *context,
                     const struct contender *contender, struct obstacles *obstacles)
{
    struct check_record *node = group_first_record(table, context, RECORD_NODE, contender->lock);
    for (; node; node = group_next_record(table, context, node))
        if (is_before(node, contender->czxid) && node->czxid != contender->czxid &&
            node->czxid != contender->gone && !is_own(table, context, contender, node->czxid))
            add_obstacle(obstacles, context, node);
}

/* Returns true if the claim is one of the contender's owner. If that owner is unknown and the contender
 * joined under a hold, each owner of its process that waits for its lock counts. */
static bool is_owners(struct check_table *table, const struct contender *contender,
                      const struct check_record *claim, bool under)
{
    if (claim->process != contender->process)
        return false;
    if (contender->owner >= 0 || !under)
        return claim->owner == contender->owner;
    const struct check_record *other =
        table_get(table, RECORD_CLAIM, contender->lock, contender->process, claim->owner);
    return other && (other->flags & CLAIM_WAITING);
}

/* For holds of several nodes: adds the nodes by which other owners hold, unless add_line() has added them. */
static void add_nodes_of_holds(struct check_table *table, const struct check_context *context,
                               const struct contender *contender, bool with_line, struct obstacles *obstacles)
{
    struct check_record *node = group_first_record(table, context, RECORD_NODE, contender->lock);
    for (; node; node = group_next_record(table, context, node)) {
        bool own = node->process == contender->process && node->hold_owner == contender->owner;
        bool counted = with_line && node->czxid < contender->czxid;
        if (ledger_is_bound(node) && !own && !counted && node->czxid != contender->czxid &&
            node->czxid != contender->gone)
            add_obstacle(obstacles, context, node);
    }
}

/* Adds the existing nodes by which other owners hold, unless add_line() has added them. */
static void add_holds(struct check_table *table, const struct check_context *context,
                      const struct contender *contender, bool with_line, bool under,
                      struct obstacles *obstacles)
{
    struct check_record *claim = group_first_record(table, context, RECORD_CLAIM, contender->lock);
    for (; claim; claim = group_next_record(table, context, claim)) {
        bool own = is_owners(table, contender, claim, under);
        bool counted = with_line && claim->czxid < contender->czxid;
        if ((claim->flags & CLAIM_HOLDING) == 0 || own || counted || claim->czxid == contender->czxid ||
            claim->czxid == contender->gone)
            continue;
        const struct check_record *node = ledger_node(table, claim->lock, claim->czxid);
        if (node && !(with_line && (node->flags & NODE_UNDER)))
            add_obstacle(obstacles, context, node);
    }
}

/* Collects the obstacles of a contender. If the line alone excludes it, holds behind it may be left out. */
static struct obstacles obstacles_of(struct check_table *table, const struct check_context *context,
                                     const struct contender *contender, int capacity)
{
    struct obstacles obstacles = {.set = contender->beside};
    bool under = ledger_joined_under(table, context, contender);
    bool with_line = !under && !is_own(table, context, contender, 0);
    if (with_line)
        add_line(table, context, contender, &obstacles);
    if (lock_nodes(context, contender->lock) > 1)
        add_nodes_of_holds(table, context, contender, with_line, &obstacles);
    else if (hold_set_admits(&obstacles.set, context, contender->lock, capacity))
        add_holds(table, context, contender, with_line, under, &obstacles);
    return obstacles;
}

bool ledger_admits(struct check_table *table, const struct check_context *context,
                   const struct contender *contender, const struct check_record **obstacle)
{
    int capacity = capacity_of(table, context, contender);
    const struct obstacles obstacles = obstacles_of(table, context, contender, capacity);
    LS_ASSERT(!obstacles.set.some || obstacles.first || contender->beside.some);
    bool by_mode = obstacles.first_exclusive && !is_exclusive(context, contender->lock);
    if (obstacle)
        *obstacle = by_mode ? obstacles.first_exclusive : obstacles.first;
    return hold_set_admits(&obstacles.set, context, contender->lock, capacity);
}

static struct obstacles nodes_before(struct check_table *table, const struct check_context *context,
                                     const struct check_record *node)
{
    struct obstacles obstacles = {0};
    struct check_record *other = group_first_record(table, context, RECORD_NODE, node->lock);
    for (; other; other = group_next_record(table, context, other))
        if (other->czxid < node->czxid)
            add_obstacle(&obstacles, context, other);
    return obstacles;
}

int ledger_units_needed(struct check_table *table, const struct check_context *context,
                        const struct check_record *node)
{
    if (lock_nodes(context, node->lock) > 1)
        return nodes_before(table, context, node).set.units + 1;
    const struct contender contender = contender_of_record(node);
    return obstacles_of(table, context, &contender, 0).set.units + units_of(context, node->lock);
}

bool ledger_admits_node(struct check_table *table, const struct check_context *context,
                        const struct check_record *node, const struct check_record **obstacle)
{
    const struct contender contender = contender_of_record(node);
    if (lock_nodes(context, node->lock) == 1)
        return ledger_admits(table, context, &contender, obstacle);
    const struct obstacles obstacles = nodes_before(table, context, node);
    LS_ASSERT(obstacles.set.some == (obstacles.first != NULL) && obstacles.first != node);
    if (obstacle)
        *obstacle = obstacles.first;
    int capacity = ledger_capacity(table, context, node->lock, node->process);
    return capacity == 0 || obstacles.set.units < capacity;
}
