/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* At most one owner has a query that answers "held" (D6), or several whose holds are compatible
 * (check/state.h).
 *
 * Formula. An owner believes from BELIEVES to DOUBTS or CRASHED. Its belief rests on the contender on which
 * its grant rests (ledger_grant()). A belief is void if the operator deleted that node while the process
 * waited or held. That ends when the process crashes, or asks while it neither waits nor holds. At each
 * BELIEVES that is not void, this belief and all beliefs of other owners in the group that are not void are
 * compatible.
 *
 * Why. A process need not learn of the operator's deletion, and the next contender in line is rightly
 * granted. Without a clock a correct lock may violate the property after an expiry, because the old holder
 * may hear of it at any later time. So the property is judged in timed runs, or if a file names it.
 *
 * Not seen: acts of a caller between two queries; on a real server, overlaps shorter than the sampling
 * interval. Checked by tests/check/reference/at_most_one_believer.h. */
#include "base/assert.h"
#include "check/properties.h"

static bool is_void(struct check_table *table, int lock, int process, int owner)
{
    const struct check_record *claim = table_get(table, RECORD_CLAIM, lock, process, owner);
    return claim && table_get_exact(table, RECORD_TAKEN, lock, process, 0, claim->czxid);
}

/* Adds up the beliefs of other owners that are not void. Returns the first with which the sum excludes this
 * belief; NULL = none. */
static const struct check_record *
other_believer(struct check_table *table, const struct check_context *context, const struct event *event)
{
    struct hold_set set = {0};
    int capacity = ledger_largest_capacity(table, context, event->lock, event->process);
    struct check_record *other = group_first_record(table, context, RECORD_BELIEVER, event->lock);
    for (; other; other = group_next_record(table, context, other)) {
        bool own = other->process == event->process && other->owner == event->owner;
        if (own || is_void(table, other->lock, other->process, other->owner))
            continue;
        hold_set_add(&set, context, other->lock);
        if (!hold_set_admits(&set, context, event->lock, capacity))
            return other;
    }
    return NULL;
}

static void judge_believer(struct check_table *table, const struct check_context *context,
                           const struct event *event, struct check_note *note)
{
    if (table_get(table, RECORD_BELIEVER, event->lock, event->process, event->owner))
        return;
    note->premises = 1;
    const struct check_record *other = other_believer(table, context, event);
    if (other && !is_void(table, event->lock, event->process, event->owner))
        check_violate(note, "%s (owner %d) believes to hold %s while %s (owner %d) believes it too", WHO,
                      event->owner, WHAT, check_process_name(context, other->process).text, other->owner);
    table_put(table, RECORD_BELIEVER, event->lock, event->process, event->owner, 0, 0);
}

static bool waits_or_holds(struct check_table *table, const struct event *event)
{
    return ledger_claims(table, event->lock, event->process, CLAIM_WAITING | CLAIM_HOLDING) > 0;
}

static void observe_deleted(struct check_table *table, const struct event *event)
{
    if (event->node_role == 1 && event->lock != EVENT_LOCK_NONE && event->owner == EVENT_BY_OPERATOR &&
        waits_or_holds(table, event))
        table_put(table, RECORD_TAKEN, event->lock, event->process, 0, event->czxid, 0);
}

/* No later grant rests on a node of an earlier wait. */
static void observe_asked(struct check_table *table, const struct event *event)
{
    if (!waits_or_holds(table, event))
        table_drop_lock(table, RECORD_TAKEN, event->lock, event->process);
}

static void observe(struct check_table *table, const struct check_context *context, const struct event *event,
                    struct check_note *note)
{
    switch (event->kind) {
    case EVENT_BELIEVES:
        judge_believer(table, context, event, note);
        break;
    case EVENT_DOUBTS:
        table_drop(table, table_get(table, RECORD_BELIEVER, event->lock, event->process, event->owner));
        break;
    case EVENT_NODE_DELETED:
        observe_deleted(table, event);
        break;
    case EVENT_ASKED:
        observe_asked(table, event);
        break;
    default: /* CRASHED: a dead process believes nothing */
        LS_ASSERT(event->kind == EVENT_CRASHED);
        table_drop_process(table, RECORD_BELIEVER, event->process);
        table_drop_process(table, RECORD_TAKEN, event->process);
    }
}

const struct property check_at_most_one_believer = {
    .name = "at_most_one_believer",
    .sentence = "at most one owner at a time is told by its recipe that it holds the lock",
    .premise = "times somebody began to believe",
    .blind_to = "callers that do not ask again; on a real server overlaps shorter than the sampling interval",
    .modes = PROPERTY_TIMED,
    .wants = EVENT_BIT(EVENT_BELIEVES) | EVENT_BIT(EVENT_DOUBTS) | EVENT_BIT(EVENT_NODE_DELETED) |
             EVENT_BIT(EVENT_ASKED) | EVENT_BIT(EVENT_CRASHED),
    .needs = CHECK_NEEDS_CLAIMS | CHECK_NEEDS_NODES,
    .records_per_contender = 2,
    .observe = observe,
};
