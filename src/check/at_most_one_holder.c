/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Mutual exclusion by the coordinator (D6).
 *
 * Formula. For each grant there is a moment from `asked` to `granted` at which the grantee's contender was
 * admitted (check/state.h). Its node belongs to the session of the client at `granted`.
 *   - A hold of several nodes has such a moment for each node. Its nodes are that of the token and the next
 *     ones of the process in that session, without those of its other holds.
 *   - If a process learns of capacities, each one counts that it knew from that moment to `granted`: it may
 *     use a list later than the server read it. So nodes that were not admitted when they were deleted are
 *     kept (RECORD_LATE).
 *   - If a request of some process deletes the node of a hold while its session lives, or a server loses it,
 *     the hold goes on. The node is kept as a ghost (GHOST_HELD) until the hold or its session ends. A hold
 *     ends by RELEASED (depth 0), REFUSED (LS_ELOST), HOLD_LOST, LOST or LOCK_CLOSED. A grant that this hold
 *     excludes is two holders at once.
 *
 * Claim. No two grants that exclude each other overlap while their nodes exist.
 *
 * Why. If all processes know one capacity, an admitted contender stays so until its node goes, or that
 * capacity shrinks. So the judge looks at the line at each grant, and notes nodes of waiting processes that
 * were admitted before. A node with NODE_HAD_ROOM was admitted when the capacity shrank. A ghost without
 * GHOST_HELD was admitted when it was deleted, or had NODE_HAD_ROOM, or its process learned later of a
 * capacity that admits it. Under one capacity, contenders that exclude each other are not admitted at once.
 * No two owners are granted on one node.
 *
 * Not seen: beliefs, and how long they last. A grant to an owner that already holds (one level deeper). The
 * node that is meant if a process has several and the token names none (the oldest free one counts). Checked
 * by tests/check/reference/at_most_one_holder.h. */
#include "base/assert.h"
#include "check/properties.h"

#define GHOST_TAKEN 0x01u /* a process deleted it while its session lived, or a server lost it */
#define GHOST_HELD 0x02u  /* and an owner holds by it */

/* Returns the claim of another owner of the process that holds by that node; NULL if there is none. */
static const struct check_record *other_owner(struct check_table *table, const struct event *event,
                                              int64_t czxid)
{
    struct check_record *claim;
    for (claim = table_first_lock(table, RECORD_CLAIM, event->lock); claim;
         claim = table_next_lock(table, claim))
        if (claim->process == event->process && claim->owner != event->owner &&
            (claim->flags & CLAIM_HOLDING) && claim->czxid == czxid)
            return claim;
    return NULL;
}

/* Returns true if the token names a node that a process deleted or a server lost; false without a token. */
static bool is_taken(const struct check_record *node, const struct event *event)
{
    return node->kind == RECORD_GHOST && (node->flags & GHOST_TAKEN) && node->czxid == event->token;
}

/* Compares processes too: a server that has lost writes may give a czxid again. */
static bool is_same_node(const struct check_record *a, const struct check_record *b)
{
    return a->czxid == b->czxid && a->process == b->process;
}

/* Adds up the holds whose nodes are deleted or lost (GHOST_HELD). If the grant rests on such a node, adds the
 * holds by other, existing nodes too. Returns the first with which the sum excludes this grant; NULL =
 * none. */
static const struct check_record *hold_beside(struct check_table *table, const struct check_context *context,
                                              const struct event *event, const struct check_record *node)
{
    struct hold_set set = {0};
    int capacity = ledger_largest_capacity(table, context, event->lock, event->process);
    struct check_record *ghost, *claim;
    ghost = group_first_record(table, context, RECORD_GHOST, event->lock);
    for (; ghost; ghost = group_next_record(table, context, ghost)) {
        if ((ghost->flags & GHOST_HELD) == 0 || is_same_node(ghost, node))
            continue;
        LS_ASSERT(ghost->flags & GHOST_TAKEN);
        hold_set_add_node(&set, context, ghost->lock);
        if (!hold_set_admits(&set, context, event->lock, capacity))
            return ghost;
    }
    if (!is_taken(node, event))
        return NULL;
    claim = group_first_record(table, context, RECORD_CLAIM, event->lock);
    for (; claim; claim = group_next_record(table, context, claim)) {
        if ((claim->flags & CLAIM_HOLDING) == 0 || is_same_node(claim, node) ||
            !ledger_node(table, claim->lock, claim->czxid))
            continue;
        hold_set_add(&set, context, claim->lock);
        if (!hold_set_admits(&set, context, event->lock, capacity))
            return claim;
    }
    return NULL;
}

static struct contender grantee(const struct event *event, const struct check_record *node)
{
    return (struct contender){
        .lock = event->lock, .process = event->process, .owner = event->owner, .czxid = node->czxid};
}

static const struct check_record *first_in_line(struct check_table *table,
                                                const struct check_context *context, int lock)
{
    struct check_record *first = NULL, *node = group_first_record(table, context, RECORD_NODE, lock);
    for (; node; node = group_next_record(table, context, node))
        first = !first || node->czxid < first->czxid ? node : first;
    return first;
}

static void say_obstacle(const struct check_context *context, const struct event *event,
                         const struct check_record *node, const struct check_record *obstacle,
                         struct check_note *note)
{
    LS_ASSERT(obstacle && obstacle != node);
    check_violate(note, "%s was granted %s but its node (czxid %lld) stands %s that of %s (czxid %lld)", WHO,
                  WHAT, (long long)node->czxid, obstacle->czxid < node->czxid ? "behind" : "before",
                  check_process_name(context, obstacle->process).text, (long long)obstacle->czxid);
}

/* Returns false for a node that need not be admitted now: a ghost, or one with NODE_HAD_ROOM. */
static bool needs_room(const struct check_record *node)
{
    return node->kind == RECORD_NODE && (node->flags & NODE_HAD_ROOM) == 0;
}

static void judge_node(struct check_table *table, const struct check_context *context,
                       const struct event *event, const struct check_record *node, struct check_note *note)
{
    const struct contender contender = grantee(event, node);
    const struct check_record *obstacle;
    if (needs_room(node) && !ledger_admits(table, context, &contender, &obstacle))
        say_obstacle(context, event, node, obstacle, note);
}

/* Returns the number of the process's ghosts behind this node, of the grant's session, that neither a process
 * deleted nor a server lost. */
static int count_evicted(struct check_table *table, const struct event *event,
                         const struct check_record *node)
{
    int count = 0;
    struct check_record *ghost = table_get(table, RECORD_GHOST, event->lock, event->process, 0);
    for (; ghost && ghost->process == event->process; ghost = table_next_lock(table, ghost))
        count += ghost->czxid > node->czxid && ghost->by_session == event->session &&
                 (ghost->flags & GHOST_TAKEN) == 0;
    return count;
}

static void judge_units(struct check_table *table, const struct check_context *context,
                        const struct event *event, const struct check_record *node, struct check_note *note)
{
    int units = lock_nodes(context, event->lock);
    LS_ASSERT(units > 1 && node->lock == event->lock);
    int found = 1 + count_evicted(table, event, node);
    const struct check_record *obstacle;
    if (needs_room(node) && !ledger_admits_node(table, context, node, &obstacle))
        say_obstacle(context, event, node, obstacle, note);
    struct check_record *next = table_get(table, RECORD_NODE, event->lock, event->process, 0);
    for (; next && next->process == event->process && found < units; next = table_next_lock(table, next)) {
        if (next->czxid <= node->czxid || !ledger_is_unbound(next, event->session))
            continue;
        if (needs_room(next) && !ledger_admits_node(table, context, next, &obstacle))
            say_obstacle(context, event, next, obstacle, note);
        found++;
    }
    if (found < units)
        check_violate(note, "%s was granted %d units of %s but has %d node%s for them", WHO, units, WHAT,
                      found, found == 1 ? "" : "s");
}

static void judge_grant(struct check_table *table, const struct check_context *context,
                        const struct event *event, struct check_note *note)
{
    const struct check_record *node = ledger_grant(table, event, RECORD_GHOST);
    note->premises = 1;
    if (!node) {
        const struct check_record *first = first_in_line(table, context, event->lock);
        check_violate(note, "%s was granted %s but had no node in the line since it asked%s%s", WHO, WHAT,
                      first ? "; first is the node of " : "",
                      first ? check_process_name(context, first->process).text : "");
        return;
    }
    LS_ASSERT(node->process == event->process && node->lock == event->lock);
    if (node->by_session != event->session)
        check_violate(note, "%s was granted %s on a node of session 0x%llx but its session is 0x%llx", WHO,
                      WHAT, (unsigned long long)node->by_session, (unsigned long long)event->session);
    if (lock_nodes(context, event->lock) > 1)
        judge_units(table, context, event, node, note);
    else
        judge_node(table, context, event, node, note);
    const struct check_record *other = other_owner(table, event, node->czxid);
    if (other)
        check_violate(note, "%s was granted %s to owner %d on the node that owner %d holds it with", WHO,
                      WHAT, event->owner, other->owner);
    const struct check_record *beside = hold_beside(table, context, event, node);
    if (beside)
        check_violate(
            note, "%s was granted %s while %s holds it; the node of one of them is gone, and nobody told it",
            WHO, WHAT, check_process_name(context, beside->process).text);
}

static void keep_ghost(struct check_table *table, const struct event *event)
{
    struct check_record *node = ledger_grant(table, event, RECORD_GHOST);
    if (node && is_taken(node, event))
        node->flags |= GHOST_HELD;
}

/* Turns the process's LATE nodes that the new capacity admits into ghosts: a grant may rest on them now. */
static void admit_late(struct check_table *table, const struct event *event)
{
    struct check_record *late = table_get(table, RECORD_LATE, event->lock, event->process, 0);
    while (late && late->kind == RECORD_LATE && late->lock == event->lock &&
           late->process == event->process) {
        LS_ASSERT((late->flags & GHOST_HELD) == 0);
        if (late->least_capacity > event->capacity) {
            late = table_next(table, late);
            continue;
        }
        const struct check_record was = *late;
        table_drop(table, late);
        table_put(table, RECORD_GHOST, was.lock, was.process, 0, was.czxid, was.by_session)->flags =
            was.flags;
        late = table_get(table, RECORD_LATE, event->lock, event->process, 0);
    }
}

typedef bool (*is_over_fn)(const struct check_record *ghost, const struct event *event);

static void drop_ghosts(struct check_table *table, const struct event *event, enum record_kind kind,
                        is_over_fn is_over)
{
    LS_ASSERT(kind == RECORD_GHOST || kind == RECORD_LATE);
    struct check_record *ghost = table_first(table, kind);
    while (ghost) {
        if (is_over(ghost, event)) {
            table_drop(table, ghost);
            ghost = table_first(table, kind);
        } else
            ghost = table_next(table, ghost);
    }
}

static bool is_wait_over(const struct check_record *ghost, const struct event *event)
{
    return ghost->lock == event->lock && ghost->process == event->process && (ghost->flags & GHOST_HELD) == 0;
}

static bool is_loss_told(const struct check_record *ghost, const struct event *event)
{
    return ghost->process == event->process && (ghost->flags & GHOST_HELD);
}

static bool is_lock_closed(const struct check_record *ghost, const struct event *event)
{
    return ghost->lock == event->lock && is_loss_told(ghost, event) && event->rc == 0;
}

static bool is_session_over(const struct check_record *ghost, const struct event *event)
{
    return ghost->by_session == event->session && (ghost->flags & GHOST_HELD);
}

/* Drops the ghosts of waits, unless another owner of the process waits: its grant may refer to them. */
static void forget_ghosts(struct check_table *table, const struct event *event)
{
    if (ledger_others_wait(table, event))
        return;
    drop_ghosts(table, event, RECORD_GHOST, is_wait_over);
    drop_ghosts(table, event, RECORD_LATE, is_wait_over);
}

static void forget_hold(struct check_table *table, const struct event *event)
{
    const struct check_record *claim = ledger_claim(table, event);
    struct check_record *ghost =
        claim ? table_get_exact(table, RECORD_GHOST, event->lock, event->process, 0, claim->czxid) : NULL;
    bool over = event->kind == EVENT_REFUSED ? event->rc == CODE_LOST : event->depth == 0;
    if (ghost && (ghost->flags & GHOST_HELD) && over) /* not an inner release */
        table_drop(table, ghost);
}

static const struct check_record *awaited(struct check_table *table, const struct event *event)
{
    const struct check_record *node = ledger_node(table, event->lock, event->czxid);
    return node && ledger_claims(table, event->lock, node->process, CLAIM_WAITING) ? node : NULL;
}

static bool is_admitted(struct check_table *table, const struct check_context *context,
                        const struct check_record *node)
{
    return (node->flags & NODE_HAD_ROOM) || ledger_admits_node(table, context, node, NULL);
}

static void remember_ghost(struct check_table *table, const struct check_context *context,
                           const struct event *event)
{
    if (event->node_role != 1 || event->lock == EVENT_LOCK_NONE)
        return;
    bool taken = event_is_by_process(event) || event->owner == EVENT_BY_LOSS;
    bool held = taken && ledger_holder(table, event->lock, -1, event->czxid);
    uint16_t flags = (uint16_t)((taken ? GHOST_TAKEN : 0) | (held ? GHOST_HELD : 0));
    const struct check_record *node = awaited(table, event);
    if (held || (node && is_admitted(table, context, node))) {
        table_put(table, RECORD_GHOST, event->lock, event->process, 0, event->czxid, event->session)->flags =
            flags;
    } else if (node && context->resizes) {
        int needed = ledger_units_needed(table, context, node);
        LS_ASSERT(!held && needed > 0);
        struct check_record *late =
            table_put(table, RECORD_LATE, event->lock, event->process, 0, event->czxid, event->session);
        late->flags = flags;
        late->least_capacity = (uint16_t)needed;
    }
}

static void observe(struct check_table *table, const struct check_context *context, const struct event *event,
                    struct check_note *note)
{
    switch (event->kind) {
    case EVENT_GRANTED:
        if (!(ledger_holds(table, event) && event->depth > 1)) {
            judge_grant(table, context, event, note);
            keep_ghost(table, event);
        }
        forget_ghosts(table, event);
        break;
    case EVENT_FAILED:
        forget_ghosts(table, event);
        break;
    case EVENT_NODE_DELETED:
        remember_ghost(table, context, event);
        break;
    case EVENT_RELEASED:
    case EVENT_REFUSED:
    case EVENT_HOLD_LOST:
        forget_hold(table, event);
        break;
    case EVENT_LOCK_CLOSED:
        drop_ghosts(table, event, RECORD_GHOST, is_lock_closed);
        break;
    case EVENT_LOST:
        drop_ghosts(table, event, RECORD_GHOST, is_loss_told);
        break;
    case EVENT_SESSION_CLOSING:
        drop_ghosts(table, event, RECORD_GHOST, is_session_over);
        break;
    case EVENT_EXPIRED: /* its session has ended: no grant may rest on its nodes any more */
    case EVENT_CRASHED:
        table_drop_process(table, RECORD_GHOST, event->process);
        table_drop_process(table, RECORD_LATE, event->process);
        break;
    case EVENT_CAPACITY:
        admit_late(table, event);
        break;
    default:
        LS_ASSERT(!"each kind that is wanted has a case");
        break;
    }
}

const struct property check_at_most_one_holder = {
    .name = "at_most_one_holder",
    .sentence = "whoever is granted the lock was first in the line, with a node of its present session",
    .premise = "grants",
    .blind_to = "what clients believe; grants to an owner who already holds",
    .modes = PROPERTY_ALWAYS,
    .wants = EVENT_BIT(EVENT_GRANTED) | EVENT_BIT(EVENT_FAILED) | EVENT_BIT(EVENT_NODE_DELETED) |
             EVENT_BIT(EVENT_RELEASED) | EVENT_BIT(EVENT_LOST) | EVENT_BIT(EVENT_HOLD_LOST) |
             EVENT_BIT(EVENT_REFUSED) | EVENT_BIT(EVENT_LOCK_CLOSED) | EVENT_BIT(EVENT_SESSION_CLOSING) |
             EVENT_BIT(EVENT_CAPACITY) | EVENT_BIT(EVENT_EXPIRED) | EVENT_BIT(EVENT_CRASHED),
    .needs = CHECK_NEEDS_CLAIMS | CHECK_NEEDS_NODES,
    .records_per_contender = 2,
    .observe = observe,
};
