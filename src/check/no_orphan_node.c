/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* No contender node exists without an owner that needs it.
 *
 * Formula. Count the nodes of a process on a lock that belong to sessions whose link is up. Its contenders
 * are at most as many as its owners that wait or hold need. Its nodes that queue are at most as many as its
 * owners that wait. This holds
 *   - at REST, if the process is connected and not paused;
 *   - at SETTLED, and at NODE_CREATED of the process's contender or node that queues, for a lock that no
 *     owner of it waits for or holds. Conditions: the process is connected, idle() says that no clean-up is
 *     left over, and no LOST is without a later CONNECTED. Each RELEASED of the lock that left depth 0 has
 *     its FREED. A fault that is more than a loss (enum event_fault) excuses more nodes, and so do servers
 *     that refuse requests. So idle() may be true while a delete is under way, but not while a create is.
 * Not seen: which of several nodes is the orphan. Nodes of ended sessions, and nodes that are no contenders.
 * An orphan that is removed before the next REST, if idle() does not deny it. Checked by
 * tests/check/reference/no_orphan_node.h. */
#include "base/assert.h"
#include "check/properties.h"

static void judge_lock(struct check_table *table, const struct check_context *context, int lock, int process,
                       bool at_rest, struct check_note *note)
{
    struct check_record *oldest = NULL;
    struct check_record *node;
    int nodes = 0;
    for (node = table_first_lock(table, RECORD_NODE, lock); node; node = table_next_lock(table, node)) {
        bool counts = node->process == process && ledger_session(table, process, node->by_session);
        nodes += counts;
        oldest = counts && !oldest ? node : oldest;
    }
    LS_ASSERT((nodes > 0) == (oldest != NULL));
    int claims = ledger_claims(table, lock, process, CLAIM_WAITING | CLAIM_HOLDING);
    if (oldest && nodes > claims * lock_nodes(context, lock))
        check_violate(note, "%s%s %s %d contender node%s on %s (czxid %lld) for %d owner%s",
                      at_rest ? "at rest " : "", check_process_name(context, process).text,
                      at_rest ? "has" : "says that it is idle, but has", nodes, nodes == 1 ? "" : "s",
                      check_lock_name(context, lock).text, (long long)oldest->czxid, claims,
                      claims == 1 ? "" : "s");
}

static void judge_queue(struct check_table *table, const struct check_context *context, int lock, int process,
                        bool at_rest, struct check_note *note)
{
    int queued = ledger_queued(table, lock, process);
    int waiting = ledger_claims(table, lock, process, CLAIM_WAITING);
    if (queued > waiting)
        check_violate(note, "%s%s %s %d node%s in the queue of %s for %d waiting owner%s",
                      at_rest ? "at rest " : "", check_process_name(context, process).text,
                      at_rest ? "has" : "says that it is idle, but has", queued, queued == 1 ? "" : "s",
                      check_lock_name(context, lock).text, waiting, waiting == 1 ? "" : "s");
}

static void judge_rest(struct check_table *table, const struct check_context *context,
                       struct check_note *note)
{
    struct check_record *node;
    for (node = table_first(table, RECORD_NODE); node; node = table_next(table, node))
        if (ledger_answerable(table, node->process))
            judge_lock(table, context, node->lock, node->process, true, note);
    for (node = table_first(table, RECORD_QUEUED); node; node = table_next(table, node))
        if (ledger_answerable(table, node->process))
            judge_queue(table, context, node->lock, node->process, true, note);
}

/* Between LOST and CONNECTED idle() is not judged: the link of the former session may come back. */
static bool may_be_held_to_idle(struct check_table *table, const struct check_context *context, int process)
{
    bool excused = context->refusing || ledger_had_fault(table, EVENT_FAULT_NODES) ||
                   ledger_had_fault(table, EVENT_FAULT_MEMORY);
    return !excused && ledger_answerable(table, process) && !table_get(table, RECORD_APART, 0, process, 0);
}

static bool claims_nothing(struct check_table *table, int lock, int process)
{
    return !table_get(table, RECORD_OWES, lock, process, 0) &&
           !ledger_claims(table, lock, process, CLAIM_WAITING | CLAIM_HOLDING);
}

static void judge_settled(struct check_table *table, const struct check_context *context,
                          const struct event *event, struct check_note *note)
{
    if (event->idle != 1 || !may_be_held_to_idle(table, context, event->process))
        return;
    for (int lock = 0; lock < context->locks; lock++)
        if (claims_nothing(table, lock, event->process)) {
            judge_lock(table, context, lock, event->process, false, note);
            judge_queue(table, context, lock, event->process, false, note);
        }
}

/* The ledger has no record of the new node yet. */
static void judge_created(struct check_table *table, const struct check_context *context,
                          const struct event *event, struct check_note *note)
{
    note->premises =
        event->node_role != 0 && event->lock != EVENT_LOCK_NONE && event->process != EVENT_PROCESS_NONE;
    if (!note->premises || event->creator_idle != 1 || !may_be_held_to_idle(table, context, event->process))
        return;
    bool lives = ledger_session(table, event->process, event->session);
    if (lives && claims_nothing(table, event->lock, event->process))
        check_violate(note, "%s says that it is idle, but its create of a %s %s (czxid %lld) was under way",
                      check_process_name(context, event->process).text,
                      event->node_role == CODE_QUEUED ? "node in the queue of" : "contender node on",
                      check_lock_name(context, event->lock).text, (long long)event->czxid);
}

static void observe_released(struct check_table *table, const struct event *event)
{
    if (event->depth == 0)
        table_put(table, RECORD_OWES, event->lock, event->process, 0, 0, 0)->pending++;
}

static void observe_freed(struct check_table *table, const struct event *event)
{
    struct check_record *owes = table_get(table, RECORD_OWES, event->lock, event->process, 0);
    if (owes && --owes->pending == 0)
        table_drop(table, owes);
}

static void observe(struct check_table *table, const struct check_context *context, const struct event *event,
                    struct check_note *note)
{
    switch (event->kind) {
    case EVENT_REST:
        judge_rest(table, context, note);
        break;
    case EVENT_SETTLED:
        judge_settled(table, context, event, note);
        break;
    case EVENT_RELEASED:
        observe_released(table, event);
        break;
    case EVENT_FREED:
        observe_freed(table, event);
        break;
    case EVENT_LOST:
        table_put(table, RECORD_APART, 0, event->process, 0, 0, 0);
        break;
    case EVENT_CONNECTED:
        table_drop_process(table, RECORD_APART, event->process);
        break;
    case EVENT_FAULT:
    case EVENT_NODE_DELETED:
        ledger_note_fault(table, event);
        break;
    case EVENT_NODE_CREATED:
        judge_created(table, context, event, note);
        break;
    default: /* the process is gone */
        LS_ASSERT(event->kind == EVENT_CRASHED);
        table_drop_process(table, RECORD_OWES, event->process);
        table_drop_process(table, RECORD_APART, event->process);
        break;
    }
}

/* These commute: the records that they change are read for their own process only, at SETTLED and
 * NODE_CREATED. */
static bool is_local(const struct event *event)
{
    return event->kind == EVENT_SETTLED || event->kind == EVENT_FREED || event->kind == EVENT_CONNECTED;
}

const struct property check_no_orphan_node = {
    .name = "no_orphan_node",
    .sentence = "at rest every contender node of a live session belongs to an owner who waits or holds, "
                "and so when a recipe says that no clean-up is left over",
    .premise = "contenders that were created",
    .blind_to = "orphans that are removed before the next rest, if the recipe does not deny them; nodes of "
                "sessions that are gone",
    .modes = PROPERTY_ALWAYS,
    .wants = EVENT_BIT(EVENT_REST) | EVENT_BIT(EVENT_NODE_CREATED) | EVENT_BIT(EVENT_SETTLED) |
             EVENT_BIT(EVENT_RELEASED) | EVENT_BIT(EVENT_FREED) | EVENT_BIT(EVENT_LOST) |
             EVENT_BIT(EVENT_CONNECTED) | EVENT_BIT(EVENT_FAULT) | EVENT_BIT(EVENT_NODE_DELETED) |
             EVENT_BIT(EVENT_CRASHED),
    .needs = CHECK_NEEDS_PROCESSES | CHECK_NEEDS_CLAIMS | CHECK_NEEDS_NODES,
    .records_per_process = 1,
    .records_per_contender = 1,
    .is_local = is_local,
    .observe = observe,
};
