/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* First come, first served: of contenders that stood and waited at the same time, the one created first is
 * granted first.
 *
 * A grant does not pass over an earlier place that is admitted beside it (check/state.h): both may hold at once, and in
 * which order they are told says nothing. Of mutexes no two are. An owner who holds alone passes over nobody.
 *
 * Each waiting process has a place in the line: the czxid of the first contender that it created since it
 * asked. It keeps the place when it deletes that node by itself and queues again (the recipe gave its
 * caller's place away); it loses it without blame when its session ends or the operator removes the node, or that
 * of another lock of its call: what was asked for in one call is asked for again as a whole. A
 * grant passes over an earlier place if that node still stands, or was deleted only after the grantee's was
 * created: then both stood and waited. That is a violation at once while the node stands, and otherwise when
 * the one passed over is granted later, or still waits at rest (so that a caller who gives up in between is
 * not counted as overtaken).
 *
 * Where nodes queue, the node that queues is the place. An owner whose process has created none since it asked stands in
 * line with the node of its grant: it passes over all who queued before that node.
 *
 * It does not see: processes with several owners waiting for the same lock (nodes do not say which owner they
 * belong to); the first acquire after one that ended without the lock, until rest (its left-over node could be
 * taken for the new one's, also in the next session); a place that is given away after the operator has removed a
 * node of the same wait; order of asking, which no lock promises. */
#include <check/properties.h>

#define PLACE_DELETING 0x01u  /* its process has sent a delete since */
#define PLACE_OVERTAKEN 0x02u /* somebody later was granted first */
#define PLACE_UNCLEAN 0x04u   /* no place: an ended acquire may have left something over */
#define PLACE_WANTED 0x08u    /* no place yet: its process has asked, and created no node that queues since */
#define PLACE_NONE (PLACE_UNCLEAN | PLACE_WANTED)

static struct check_record *place_of(struct check_table *table, int lock, int process)
{
    return table_get(table, RECORD_PLACE, lock, process, 0);
}

static void take_place(struct check_table *table, const struct check_context *context,
                       const struct event *event)
{
    bool is_place = event->code == (context->queues ? CODE_QUEUED : 1);
    struct check_record *place = place_of(table, event->lock, event->process);
    if (!is_place || (place && (place->flags & PLACE_WANTED) == 0))
        return;
    table_drop(table, place);
    if (ledger_claims(table, event->lock, event->process, CLAIM_WAITING) == 1)
        table_put(table, RECORD_PLACE, event->lock, event->process, 0, event->zxid, 0);
}

/* The node of a place is gone: given away if its process asked for that, otherwise taken from it. */
static void leave_place(struct check_table *table, const struct check_context *context,
                        const struct event *event)
{
    struct check_record *place = place_of(table, event->lock, event->process);
    if (!place || (place->flags & PLACE_NONE))
        return;
    bool by_operator = event->owner == EVENT_BY_OPERATOR;
    bool given_away = !by_operator && (place->flags & PLACE_DELETING) &&
                      !ledger_call_is_broken(table, context, event->lock, event->process);
    if (!by_operator)
        place->flags &= (uint16_t)~PLACE_DELETING;
    if (place->a != event->zxid)
        return;
    if (given_away)
        place->b = event->cause;
    else
        table_drop(table, place);
}

/* Whoever has this place may hold beside the grant, by the capacity of either. */
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
        if (place->process == event->process || (place->flags & PLACE_NONE))
            continue;
        note->premises = 1;
        if (place->a > czxid || (place->b != 0 && czxid > place->b) ||
            is_admitted_beside(table, context, place, event))
            continue;
        if (place->b == 0)
            check_violate(note, "%s was granted %s before %s, whose node is older (czxid %lld, not %lld)",
                          WHO, WHAT, check_process_name(context, place->process).text, (long long)place->a,
                          (long long)czxid);
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
                      check_lock_name(context, place->lock).text, (long long)place->a);
}

static void judge_grant(struct check_table *table, const struct check_context *context,
                        const struct event *event, struct check_note *note)
{
    struct check_record *place = place_of(table, event->lock, event->process);
    bool unplaced = place && (place->flags & PLACE_WANTED);
    if (unplaced)
        table_drop(table, place);
    if (ledger_holds(table, event) && event->code > 1)
        return;
    place = place_of(table, event->lock, event->process);
    const struct check_record *node = ledger_grant(table, event, RECORD_NONE);
    const struct contender contender = {
        .lock = event->lock, .process = event->process, .owner = event->owner, .czxid = node ? node->a : 0};
    if (ledger_holds_alone(table, context, event) || ledger_joined_under(table, context, &contender)) {
        table_drop(table, place);
        return;
    }
    bool placed = place && (place->flags & PLACE_UNCLEAN) == 0;
    if (placed)
        judge_overtaken(context, place, note);
    if (placed)
        pass_over(table, context, event, place->a, note);
    else if (node && (!context->queues || unplaced))
        pass_over(table, context, event, node->a, note);
    if (placed)
        table_drop(table, place);
}

static void judge_rest(struct check_table *table, const struct check_context *context,
                       struct check_note *note)
{
    struct check_record *place = table_first(table, RECORD_PLACE);
    while (place) {
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
        table_drop(table, place); /* a second owner waits: whose place it is can no longer be told */
    else if (!place && context->queues && !waits)
        table_put(table, RECORD_PLACE, event->lock, event->process, 0, 0, 0)->flags = PLACE_WANTED;
}

static void observe_failed(struct check_table *table, const struct event *event)
{
    table_drop(table, place_of(table, event->lock, event->process));
    table_put(table, RECORD_PLACE, event->lock, event->process, 0, 0, 0)->flags = PLACE_UNCLEAN;
}

/* The places in the session are gone. Perhaps the process had it before it crashed, or hears of its end
 * late: what a failed acquire has left over may still come. */
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
    if (event->code != EVENT_REQUEST_DELETE && event->code != EVENT_REQUEST_MULTI)
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
    default: /* the process dies */
        if (event->process != EVENT_PROCESS_NONE)
            table_drop_process(table, RECORD_PLACE, event->process);
        break;
    }
}

/* Only a request that may take a node away says something of its place. */
static bool is_local(const struct event *event)
{
    return event->kind == EVENT_REQUEST && event->code != EVENT_REQUEST_DELETE &&
           event->code != EVENT_REQUEST_MULTI;
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
