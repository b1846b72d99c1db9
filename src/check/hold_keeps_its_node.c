/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A hold keeps its node until it is released.
 *
 * Formula. A hold H of an owner begins with GRANTED (depth 1) and ends with RELEASED (depth 0), REFUSED with
 * LS_ELOST, LOST, HOLD_LOST, LOCK_CLOSED or CRASHED. Its node N is the contender whose czxid is the token, or
 * else the oldest free node of the process. The token may also name a node that the operator deleted while
 * the process waited, up to GRANTED.
 *   - No NODE_DELETED of N, or of another node of H, that names an actor comes between the two.
 *   - No GRANTED of an owner that does not hold has the token of a deleted node, if its NODE_DELETED names an
 *     actor. This is judged if some owner of the process has waited for the lock at every moment after it,
 *     without CRASHED or EXPIRED.
 *   - Nor has such a GRANTED the token of a node that the operator deleted in that wait, if the process could
 *     know. It could if a LISTED of the process and the lock came in between.
 *   - The process knows that N is gone from each of these on:
 *       - A WOKEN that says so, unless another owner of the process waited for the lock or held it during
 *         this claim. The watch may have been set for that owner.
 *       - A NODE_DELETED of N by the operator, or a GRANTED by a node that the operator has deleted, while
 *         the process listens (it watches or reads its own node).
 *     Then, if the process is connected at the next REST, H has ended by then, or query() has said "not held"
 *     (DOUBTS).
 * Of several holds by one node the hold of the lowest owner counts. A process listens from a LISTENS that
 * says "done" until it closes the lock, stops or crashes, unless servers refuse requests without a fault.
 * NODE_DELETED names an actor if a request of some process deleted the node while its session lived. Deletes
 * by a server (also by one with a planted defect) and after the end of the session name none. Nodes that were
 * deleted before the wait began, and nodes of a former session, are judged by at_most_one_holder.
 *
 * Not seen: whether the process knew that its node would go. A holder that does not listen, if another owner
 * of the process waited or held meanwhile. Deletes on a real server, whose actor is unknown. Lists, in worlds
 * with several servers. Checked by tests/check/reference/hold_keeps_its_node.h. */
#include "base/assert.h"
#include "check/properties.h"

/* Notes that the holder must know by the next REST that its node is gone. */
static void expect_doubt(struct check_table *table, const struct check_record *holder)
{
    LS_ASSERT(holder->kind == RECORD_CLAIM);
    table_put(table, RECORD_HEARD, holder->lock, holder->process, holder->owner, holder->czxid, 0);
}

static bool will_hear(struct check_table *table, const struct check_context *context,
                      const struct event *event)
{
    return !context->refusing && ledger_listens(table, event->lock, event->process);
}

static void observe_operator(struct check_table *table, const struct check_context *context,
                             const struct event *event)
{
    LS_ASSERT(!event_is_by_process(event));
    const struct check_record *holder = ledger_holder(table, event->lock, event->process, event->czxid);
    if (holder && event->owner == EVENT_BY_OPERATOR && will_hear(table, context, event))
        expect_doubt(table, holder);
}

static void judge_deleted(struct check_table *table, const struct check_context *context,
                          const struct event *event, struct check_note *note)
{
    if (event->node_role != 1 || event->lock == EVENT_LOCK_NONE)
        return;
    if (!event_is_by_process(event)) {
        observe_operator(table, context, event);
        return;
    }
    LS_ASSERT(event->owner >= 1 && event->owner <= context->processes);
    const struct check_record *holder = ledger_holder(table, event->lock, -1, event->czxid);
    if (holder)
        check_violate(note, "%s deleted the node (czxid %lld) with which %s (owner %d) holds %s",
                      check_process_name(context, event->owner - 1).text, (long long)event->czxid,
                      check_process_name(context, holder->process).text, holder->owner, WHAT);
    else if (ledger_claims(table, event->lock, event->process, CLAIM_WAITING))
        table_put(table, RECORD_GONE, event->lock, event->process, 0, event->czxid, 0);
}

static void judge_granted(struct check_table *table, const struct check_context *context,
                          const struct event *event, struct check_note *note)
{
    if (ledger_holds(table, event) && event->depth > 1)
        return;
    note->premises = 1;
    table_drop(table, table_get(table, RECORD_HEARD, event->lock, event->process, event->owner));
    const struct check_record *evicted =
        table_get_exact(table, RECORD_EVICTED, event->lock, event->process, 0, event->token);
    bool by_process = table_get_exact(table, RECORD_GONE, event->lock, event->process, 0, event->token);
    if (by_process || (evicted && (evicted->flags & EVICTED_SHOWN)))
        check_violate(note, "%s was granted %s on its node (czxid %lld), which %s had deleted", WHO, WHAT,
                      (long long)event->token,
                      by_process ? "a process" : "an operator, as a list has shown,");
    if (evicted && will_hear(table, context, event))
        table_put(table, RECORD_HEARD, event->lock, event->process, event->owner, event->token, 0);
}

/* Only a wait that is under way may refer to deleted nodes. */
static void forget(struct check_table *table, const struct event *event)
{
    if (!ledger_others_wait(table, event))
        table_drop_lock(table, RECORD_GONE, event->lock, event->process);
}

static void observe_woken(struct check_table *table, const struct event *event)
{
    const struct check_record *holder = ledger_holder(table, event->lock, event->process, event->czxid);
    if (event->zk_type == TYPE_DELETED && holder && (holder->flags & CLAIM_BESIDE) == 0)
        expect_doubt(table, holder);
}

static void judge_rest(struct check_table *table, const struct check_context *context,
                       struct check_note *note)
{
    struct check_record *heard;
    for (heard = table_first(table, RECORD_HEARD); heard; heard = table_next(table, heard)) {
        const struct check_record *claim =
            table_get(table, RECORD_CLAIM, heard->lock, heard->process, heard->owner);
        bool holds = claim && (claim->flags & CLAIM_HOLDING) && claim->czxid == heard->czxid;
        if (holds && ledger_answerable(table, heard->process))
            check_violate(
                note,
                "at rest %s (owner %d) holds %s on a node (czxid %lld) that is deleted, though it heard of "
                "that, or listens",
                check_process_name(context, heard->process).text, heard->owner,
                check_lock_name(context, heard->lock).text, (long long)heard->czxid);
    }
}

static void observe(struct check_table *table, const struct check_context *context, const struct event *event,
                    struct check_note *note)
{
    switch (event->kind) {
    case EVENT_NODE_DELETED:
        judge_deleted(table, context, event, note);
        break;
    case EVENT_GRANTED:
        judge_granted(table, context, event, note);
        forget(table, event);
        break;
    case EVENT_FAILED:
        forget(table, event);
        break;
    case EVENT_WOKEN:
        observe_woken(table, event);
        break;
    case EVENT_DOUBTS:
    case EVENT_RELEASED:
    case EVENT_REFUSED:
        if (event->code == (event->kind == EVENT_REFUSED ? CODE_LOST : 0))
            table_drop(table, table_get(table, RECORD_HEARD, event->lock, event->process, event->owner));
        break;
    case EVENT_LOCK_CLOSED:
        if (event->rc == 0)
            table_drop_lock(table, RECORD_HEARD, event->lock, event->process);
        break;
    case EVENT_LOST:
        table_drop_process(table, RECORD_HEARD, event->process);
        break;
    case EVENT_REST:
        judge_rest(table, context, note);
        break;
    default: /* the session of these nodes is over, or the process */
        LS_ASSERT(event->kind == EVENT_EXPIRED || event->kind == EVENT_CRASHED);
        table_drop_process(table, RECORD_GONE, event->process);
        table_drop_process(table, RECORD_HEARD, event->process);
        break;
    }
}

/* Events that change only the records of their own process commute. */
static bool is_local(const struct event *event)
{
    return event->kind == EVENT_WOKEN || event->kind == EVENT_DOUBTS || event->kind == EVENT_RELEASED ||
           event->kind == EVENT_REFUSED || event->kind == EVENT_LOCK_CLOSED || event->kind == EVENT_LOST;
}

const struct property check_hold_keeps_its_node = {
    .name = "hold_keeps_its_node",
    .sentence =
        "no process deletes the node of a hold before its release, nor is granted the lock on a node "
        "that is gone, nor holds at rest on one of which it knows, or listens to know, that it is deleted",
    .premise = "grants",
    .blind_to =
        "deletes by servers, after the session, and by the operator if no list shows them to a recipe that "
        "does not listen; a real server, which names nobody",
    .modes = PROPERTY_ALWAYS,
    .wants = EVENT_BIT(EVENT_NODE_DELETED) | EVENT_BIT(EVENT_GRANTED) | EVENT_BIT(EVENT_FAILED) |
             EVENT_BIT(EVENT_EXPIRED) | EVENT_BIT(EVENT_CRASHED) | EVENT_BIT(EVENT_WOKEN) |
             EVENT_BIT(EVENT_DOUBTS) | EVENT_BIT(EVENT_RELEASED) | EVENT_BIT(EVENT_REFUSED) |
             EVENT_BIT(EVENT_LOCK_CLOSED) | EVENT_BIT(EVENT_LOST) | EVENT_BIT(EVENT_REST),
    .needs = CHECK_NEEDS_PROCESSES | CHECK_NEEDS_CLAIMS | CHECK_NEEDS_NODES | CHECK_NEEDS_LISTENERS,
    .records_per_contender = 3,
    .is_local = is_local,
    .observe = observe,
};
