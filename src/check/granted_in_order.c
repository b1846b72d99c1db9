/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* First come, first served: of contenders that existed and waited at the same time, the first created is
 * granted first.
 *
 * Formula. Each waiting process has a place in the line: the czxid of the first contender that it created
 * after it asked.
 *   - It keeps the place if it deletes that node by itself and queues again: the recipe gave its caller's
 *     place away.
 *   - It loses the place without blame when its session ends, or the node is deleted by the operator, or
 *     without a delete that the process sent. The operator may also delete that of another lock of its call:
 *     the whole call is then asked for again.
 *   - If nodes queue, the node that queues is the place. An owner whose process has created none after it
 *     asked has the place of the node of its grant.
 * A grant passes over an earlier place if that node still exists, or was deleted after the grantee's was
 * created. It does not if the place is admitted beside it (check/state.h): both may hold at once, and the
 * order in which they are told says nothing. An owner that holds alone passes over no place. Passing over a
 * node that exists is a violation at once. Otherwise it is one when the process passed over is granted later,
 * or still waits at REST. A caller that gives up in between does not count as overtaken.
 *
 * Not seen: processes with several owners that wait for the same lock, because nodes do not name their owner.
 * The place of a process whose acquire ended without the lock, until the next REST or CRASHED. A node that is
 * left over could be taken for that of its next acquire. A place that is given away after the operator
 * deleted a node of the same wait. The order of asking, which no lock promises. Checked by
 * tests/check/reference/granted_in_order.h. */
#include "base/assert.h"
#include "check/properties.h"

#define PLACE_DELETING 0x01u  /* its process has sent a delete or a multi after it took the place */
#define PLACE_OVERTAKEN 0x02u /* a later place was granted first */
#define PLACE_UNCLEAN 0x04u   /* no place: an ended acquire may have left a node over */
#define PLACE_WANTED 0x08u    /* no place yet: asked, and created no node that queues */
#define PLACE_NONE (PLACE_UNCLEAN | PLACE_WANTED)

static struct check_record *place_of(struct check_table *table, int lock, int process)
{
    return table_get(table, RECORD_PLACE, lock, process, 0);
}

/* Returns whether the flags of a record fit each other, its numbers, and the kind of nodes. */
static bool is_sound(const struct check_context *context, const struct check_record *place)
{
    unsigned none = place->flags & PLACE_NONE;
    return none == 0 || (none != PLACE_NONE && place->czxid == 0 && place->deletion_zxid == 0 &&
                         (none != PLACE_WANTED || context->queues));
}

static void take_place(struct check_table *table, const struct check_context *context,
                       const struct event *event)
{
    bool is_place = event->node_role == (context->queues ? CODE_QUEUED : 1);
    struct check_record *place = place_of(table, event->lock, event->process);
    if (!is_place || (place && (place->flags & PLACE_WANTED) == 0))
        return;
    LS_ASSERT(!place || table_is_alone(table, place));
    table_drop(table, place);
    if (ledger_claims(table, event->lock, event->process, CLAIM_WAITING) == 1)
        table_put(table, RECORD_PLACE, event->lock, event->process, 0, event->czxid, 0);
}

/* A place is given away if the process has sent a delete or a multi. It is lost otherwise, and also if the
 * operator deleted its node or that of another lock of the call. */
static void leave_place(struct check_table *table, const struct check_context *context,
                        const struct event *event)
{
    struct check_record *place = place_of(table, event->lock, event->process);
    if (!place || (place->flags & PLACE_NONE))
        return;
    LS_ASSERT(event->kind == EVENT_NODE_DELETED && table_is_alone(table, place));
    bool by_operator = event->owner == EVENT_BY_OPERATOR;
    bool given_away = !by_operator && (place->flags & PLACE_DELETING) &&
                      !ledger_call_is_broken(table, context, event->lock, event->process);
    if (!by_operator)
        place->flags &= (uint16_t)~PLACE_DELETING;
    if (place->czxid != event->czxid)
        return;
    if (given_away)
        place->deletion_zxid = event->change_zxid;
    else
        table_drop(table, place);
}

/* Returns true if the contender of the place may hold beside the grant. The capacity is the larger of two:
 * the one that its process knows, and the largest that the grantee's process has known. */
static bool is_admitted_beside(struct check_table *table, const struct check_context *context,
                               const struct check_record *place, const struct event *event)
{
    struct contender contender = contender_of_record(place);
    hold_set_add(&contender.beside, context, event->lock);
    contender.capacity = ledger_largest_capacity(table, context, event->lock, event->process);
    return ledger_admits(table, context, &contender, NULL);
}

static void pass_over(struct check_table *table, const struct check_context *context,
                      const struct event *event, int64_t czxid, struct check_note *note)
{
    struct check_record *place = group_first_record(table, context, RECORD_PLACE, event->lock);
    for (; place; place = group_next_record(table, context, place)) {
        LS_ASSERT(is_sound(context, place));
        if (place->process == event->process || (place->flags & PLACE_NONE))
            continue;
        note->premises = 1;
        if (place->czxid > czxid || (place->deletion_zxid != 0 && czxid > place->deletion_zxid) ||
            is_admitted_beside(table, context, place, event))
            continue;
        if (place->deletion_zxid == 0)
            check_violate(note, "%s was granted %s before %s, whose node is older (czxid %lld, not %lld)",
                          WHO, WHAT, check_process_name(context, place->process).text,
                          (long long)place->czxid, (long long)czxid);
        place->flags |= PLACE_OVERTAKEN;
    }
}

static void judge_overtaken(const struct check_context *context, const struct check_record *place,
                            struct check_note *note)
{
    if (place->flags & PLACE_OVERTAKEN)
        check_violate(note,
                      "%s gave its place for %s (czxid %lld) away while it waited, and others passed it",
                      check_process_name(context, place->process).text,
                      check_lock_name(context, place->lock).text, (long long)place->czxid);
}

static void judge_grant(struct check_table *table, const struct check_context *context,
                        const struct event *event, struct check_note *note)
{
    struct check_record *place = place_of(table, event->lock, event->process);
    bool unplaced = place && (place->flags & PLACE_WANTED);
    if (unplaced)
        table_drop(table, place);
    if (ledger_holds(table, event) && event->depth > 1)
        return;
    place = place_of(table, event->lock, event->process);
    const struct check_record *node = ledger_grant(table, event, RECORD_NONE);
    const struct contender contender = {.lock = event->lock,
                                        .process = event->process,
                                        .owner = event->owner,
                                        .czxid = node ? node->czxid : 0};
    if (ledger_holds_alone(table, context, event) || ledger_joined_under(table, context, &contender)) {
        table_drop(table, place);
        return;
    }
    bool placed = place && (place->flags & PLACE_UNCLEAN) == 0;
    if (placed)
        judge_overtaken(context, place, note);
    if (placed)
        pass_over(table, context, event, place->czxid, note);
    else if (node && (!context->queues || unplaced))
        pass_over(table, context, event, node->czxid, note);
    if (placed)
        table_drop(table, place);
}

static void judge_rest(struct check_table *table, const struct check_context *context,
                       struct check_note *note)
{
    struct check_record *place = table_first(table, RECORD_PLACE);
    while (place) {
        LS_ASSERT(is_sound(context, place));
        judge_overtaken(context, place, note);
        if (place->flags & PLACE_UNCLEAN) {
            table_drop(table, place);
            place = table_first(table, RECORD_PLACE);
        } else {
            place = table_next(table, place);
        }
    }
}

static void observe_asked(struct check_table *table, const struct check_context *context,
                          const struct event *event)
{
    struct check_record *place = place_of(table, event->lock, event->process);
    bool waits = ledger_claims(table, event->lock, event->process, CLAIM_WAITING) > 0;
    if (place && (place->flags & PLACE_UNCLEAN) == 0)
        table_drop(table, place); /* a second owner waits: the place may be of either */
    else if (!place && context->queues && !waits)
        table_put(table, RECORD_PLACE, event->lock, event->process, 0, 0, 0)->flags = PLACE_WANTED;
}

static void observe_failed(struct check_table *table, const struct event *event)
{
    table_drop(table, place_of(table, event->lock, event->process));
    LS_ASSERT(table->full || !place_of(table, event->lock, event->process));
    table_put(table, RECORD_PLACE, event->lock, event->process, 0, 0, 0)->flags = PLACE_UNCLEAN;
}

/* Drops the places that the process has taken. PLACE_UNCLEAN stays, because a node of a failed acquire may
 * still be created. */
static void observe_session_end(struct check_table *table, const struct event *event)
{
    struct check_record *place = table_first(table, RECORD_PLACE);
    while (place) {
        if (place->process == event->process && (place->flags & PLACE_NONE) == 0) {
            table_drop(table, place);
            place = table_first(table, RECORD_PLACE);
        } else {
            place = table_next(table, place);
        }
    }
}

static void observe_request(struct check_table *table, const struct event *event)
{
    if (event->lock == EVENT_LOCK_NONE)
        return;
    if (event->request != EVENT_REQUEST_DELETE && event->request != EVENT_REQUEST_MULTI)
        return;
    struct check_record *place = place_of(table, event->lock, event->process);
    if (place && (place->flags & PLACE_NONE) == 0)
        place->flags |= PLACE_DELETING;
}

static void observe(struct check_table *table, const struct check_context *context, const struct event *event,
                    struct check_note *note)
{
    switch (event->kind) {
    case EVENT_ASKED:
        observe_asked(table, context, event);
        break;
    case EVENT_NODE_CREATED:
        take_place(table, context, event);
        break;
    case EVENT_NODE_DELETED:
        leave_place(table, context, event);
        break;
    case EVENT_REQUEST:
        observe_request(table, event);
        break;
    case EVENT_GRANTED:
        judge_grant(table, context, event, note);
        break;
    case EVENT_FAILED:
        observe_failed(table, event);
        break;
    case EVENT_REST:
        judge_rest(table, context, note);
        break;
    case EVENT_SESSION_CLOSING:
    case EVENT_EXPIRED:
        observe_session_end(table, event);
        break;
    default: /* CRASHED */
        LS_ASSERT(event->kind == EVENT_CRASHED);
        if (event->process != EVENT_PROCESS_NONE)
            table_drop_process(table, RECORD_PLACE, event->process);
        break;
    }
}

/* Requests that delete no node commute: only a delete or a multi can give a place away. */
static bool is_local(const struct event *event)
{
    return event->kind == EVENT_REQUEST && event->request != EVENT_REQUEST_DELETE &&
           event->request != EVENT_REQUEST_MULTI;
}

const struct property check_granted_in_order = {
    .name = "granted_in_order",
    .sentence = "of contenders that stood and waited at the same time the one created first is granted first",
    .premise = "grants while others had a place in the line",
    .blind_to = "processes with several waiting owners; the first acquire after a failed one until rest; "
                "a wait whose node the operator removed",
    .modes = PROPERTY_ALWAYS,
    .wants = EVENT_BIT(EVENT_ASKED) | EVENT_BIT(EVENT_NODE_CREATED) | EVENT_BIT(EVENT_NODE_DELETED) |
             EVENT_BIT(EVENT_REQUEST) | EVENT_BIT(EVENT_GRANTED) | EVENT_BIT(EVENT_FAILED) |
             EVENT_BIT(EVENT_REST) | EVENT_BIT(EVENT_SESSION_CLOSING) | EVENT_BIT(EVENT_EXPIRED) |
             EVENT_BIT(EVENT_CRASHED),
    .needs = CHECK_NEEDS_CLAIMS | CHECK_NEEDS_NODES,
    .records_per_contender = 1,
    .is_local = is_local,
    .observe = observe,
};
