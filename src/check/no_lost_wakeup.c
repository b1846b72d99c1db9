/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Nobody sleeps beside a free lock.
 *
 * Judged at rest, when nothing more will happen by itself: if somebody who runs and is connected waits for a
 * lock, then somebody holds it by the coordinator (granted, not given back, and its node stands), or the head
 * of the line belongs to somebody who cannot act: crashed, paused, cut off, or a session that is gone.
 *
 * It does not see: a waiter that sleeps for ever in a run that never comes to rest; a wake-up that comes late
 * but comes; waiters behind a process that cannot act (their turn comes when its session ends). */
#include <check/properties.h>

static bool is_held(struct check_table *table, int lock)
{
    struct check_record *claim;
    for (claim = table_first_lock(table, RECORD_CLAIM, lock); claim; claim = table_next_lock(table, claim))
        if ((claim->flags & CLAIM_HOLDING) && ledger_node(table, lock, claim->a))
            return true;
    return false;
}

/* True if the head of the line belongs to somebody who cannot act. */
static bool is_blocked(struct check_table *table, int lock)
{
    const struct check_record *first = ledger_first(table, lock);
    if (!first)
        return false;
    if (!ledger_answerable(table, first->process))
        return true;
    return !ledger_session(table, first->process, first->b);
}

static void judge_lock(struct check_table *table, const struct check_context *context, int lock,
                       struct check_note *note)
{
    const struct check_record *waiter = NULL;
    struct check_record *claim;
    for (claim = table_first_lock(table, RECORD_CLAIM, lock); claim && !waiter;
         claim = table_next_lock(table, claim))
        if ((claim->flags & CLAIM_WAITING) && ledger_answerable(table, claim->process))
            waiter = claim;
    if (!waiter)
        return;
    note->premises++;
    if (is_held(table, lock) || is_blocked(table, lock))
        return;
    const struct check_record *first = ledger_first(table, lock);
    struct check_name who = check_process_name(context, waiter->process);
    struct check_name what = check_lock_name(context, lock);
    if (!first)
        check_violate(note, "%s waits for %s at rest, but nobody holds it and the line is empty", who.text,
                      what.text);
    else
        check_violate(
            note, "%s waits for %s at rest, but nobody holds it; first is a node of %s (czxid %lld)",
            who.text, what.text, check_process_name(context, first->process).text, (long long)first->a);
}

static void observe(struct check_table *table, const struct check_context *context, const struct event *event,
                    struct check_note *note)
{
    if (event->kind == EVENT_REST) {
        for (int lock = 0; lock < context->locks; lock++)
            judge_lock(table, context, lock, note);
        return;
    }
    if (event->code == 1 && ledger_first(table, event->lock) &&
        ledger_claims(table, event->lock, event->process, CLAIM_WAITING))
        note->premises = 1; /* it has to wait */
}

const struct property check_no_lost_wakeup = {
    .name = "no_lost_wakeup",
    .sentence = "at rest nobody waits for a lock that nobody holds",
    .premise = "contenders that found others before them, and locks that were waited for at rest",
    .blind_to = "runs that never come to rest; waiters behind a process that cannot act",
    .modes = PROPERTY_ALWAYS,
    .wants = EVENT_BIT(EVENT_REST) | EVENT_BIT(EVENT_NODE_CREATED),
    .needs = CHECK_NEEDS_PROCESSES | CHECK_NEEDS_CLAIMS | CHECK_NEEDS_NODES,
    .observe = observe,
};
