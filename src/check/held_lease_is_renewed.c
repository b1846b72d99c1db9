/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A lease by which an owner holds does not run out, or its owner is told.
 *
 * Formula. A hold of an owner begins with GRANTED (depth 1) and ends with RELEASED (depth 0), REFUSED with
 * LS_ELOST, LOST, HOLD_LOST, LOCK_CLOSED or CRASHED. Its node is the contender whose czxid is the token, also
 * if the lease of that node ended before GRANTED was told. If the token names none, it is the oldest free
 * node of the process. No NODE_DELETED of that node by time (EVENT_BY_TIME) comes between the two. At REST
 * the node of each hold exists, if its process is connected, and is neither paused nor crashed.
 *
 * Why. An owner that holds renews its lease. If it cannot, a timer of the recipe (LS_TIMER_LEASE) ends the
 * hold first. A paused process renews nothing, and is excused: later its next renewal tells the owner.
 *
 * Not seen: lengths of leases and delays; leases in worlds with a clock. Checked by
 * tests/check/reference/held_lease_is_renewed.h. */
#include "base/assert.h"
#include "check/properties.h"

static void judge_deleted(struct check_table *table, const struct check_context *context,
                          const struct event *event, struct check_note *note)
{
    if (event->node_role != 1 || event->lock == EVENT_LOCK_NONE || event->owner != EVENT_BY_TIME)
        return;
    const struct check_record *holder = ledger_holder(table, event->lock, -1, event->czxid);
    if (holder)
        check_violate(note,
                      "the lease with which %s (owner %d) holds %s has run out: nobody renewed it, or told "
                      "the owner before",
                      check_process_name(context, holder->process).text, holder->owner, WHAT);
}

static void judge_rest(struct check_table *table, const struct check_context *context,
                       struct check_note *note)
{
    struct check_record *claim;
    for (claim = table_first(table, RECORD_CLAIM); claim; claim = table_next(table, claim)) {
        bool stands = ledger_node(table, claim->lock, claim->czxid) != NULL;
        LS_ASSERT(claim->flags != 0);
        if ((claim->flags & CLAIM_HOLDING) && !stands && ledger_answerable(table, claim->process))
            check_violate(note, "at rest %s (owner %d) holds %s, whose lease is over: nothing will tell it",
                          check_process_name(context, claim->process).text, claim->owner,
                          check_lock_name(context, claim->lock).text);
    }
}

static void observe(struct check_table *table, const struct check_context *context, const struct event *event,
                    struct check_note *note)
{
    if (event->kind == EVENT_NODE_DELETED)
        judge_deleted(table, context, event, note);
    else if (event->kind == EVENT_REST)
        judge_rest(table, context, note);
    else {
        LS_ASSERT(event->kind == EVENT_GRANTED);
        note->premises = 1;
    }
}

const struct property check_held_lease_is_renewed = {
    .name = "held_lease_is_renewed",
    .sentence = "a lease is renewed until the lock is released or its owner is told of the loss",
    .premise = "grants of a lock that has a lease",
    .blind_to = "lengths of leases and delays; worlds with a clock",
    .modes = PROPERTY_UNTIMED | PROPERTY_LEASES,
    .wants = EVENT_BIT(EVENT_GRANTED) | EVENT_BIT(EVENT_NODE_DELETED) | EVENT_BIT(EVENT_REST),
    .needs = CHECK_NEEDS_PROCESSES | CHECK_NEEDS_CLAIMS | CHECK_NEEDS_NODES,
    .observe = observe,
};
