/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* No owner is told that it holds when the time of its session or of its lease is up.
 *
 * Formula. An owner believes from BELIEVES to DOUBTS. Its term begins with GRANTED. It ends with CRASHED, and
 * when the owner does not believe after RELEASED (depth 0) or LOST. Let s be the session of the last GRANTED
 * of a term.
 *   - At no SESSION_CLOSING of s by the clock (time_is_up) does the owner believe.
 *   - No BELIEVES comes between such a SESSION_CLOSING and the moment when the process learns of it: EXPIRED,
 *     CRASHED, or LINK_UP with another session.
 *   - When the lease of a process's contender runs out (NODE_DELETED by EVENT_BY_TIME), none of its owners
 *     believes. Nor does any begin to until NODE_CREATED or the next NODE_DELETED of a contender of the same
 *     process and lock, or CRASHED.
 *
 * Why. A world queries each recipe after each step, and steps at each moment when a session or a lease may
 * end. So a belief at SESSION_CLOSING is one of this very moment. By then the time-out has passed after the
 * last request or ping of the session at the servers. A recipe that counts from the send of an answered write
 * or sync, with a margin below the time-out, has doubted before. The order of asking, granting, delays and
 * pauses makes no difference, nor does the belief of another owner.
 *
 * Not seen: runs without a clock. Belief of a crashed process. Sessions and leases that the operator or a
 * server's clock ends early, since no measure of time helps against that. Checked by
 * tests/check/reference/belief_ends_in_time.h. */
#include "base/assert.h"
#include "check/properties.h"

#define TERM_BELIEVES 0x01u
#define TERM_ENDED 0x02u /* released, or told to be lost; the record goes when the belief does */

static struct check_record *term_of(struct check_table *table, const struct event *event)
{
    return table_get(table, RECORD_TERM, event->lock, event->process, event->owner);
}

static void settle(struct check_table *table, struct check_record *term)
{
    if ((term->flags & TERM_ENDED) && (term->flags & TERM_BELIEVES) == 0)
        table_drop(table, term);
}

static void observe_granted(struct check_table *table, const struct event *event)
{
    struct check_record *term = term_of(table, event);
    unsigned believes = term ? term->flags & TERM_BELIEVES : 0;
    table_drop(table, term);
    term = table_put(table, RECORD_TERM, event->lock, event->process, event->owner, event->session, 0);
    LS_ASSERT(table_is_alone(table, term));
    term->flags = (uint16_t)believes;
}

static void observe_doubts(struct check_table *table, const struct event *event)
{
    struct check_record *term = term_of(table, event);
    if (!term)
        return;
    term->flags &= (uint16_t)~TERM_BELIEVES;
    settle(table, term);
}

static void end_term(struct check_table *table, const struct event *event)
{
    struct check_record *term = term_of(table, event);
    if (!term || event->code != 0)
        return;
    term->flags |= TERM_ENDED;
    settle(table, term);
}

static void judge_belief(struct check_table *table, const struct check_context *context,
                         const struct event *event, struct check_note *note)
{
    struct check_record *term = term_of(table, event);
    if (!term)
        return;
    LS_ASSERT((term->flags & TERM_ENDED) == 0 || (term->flags & TERM_BELIEVES));
    note->premises = 1;
    term->flags |= TERM_BELIEVES;
    if (table_get_exact(table, RECORD_OVER, 0, event->process, 0, term->session))
        check_violate(
            note,
            "%s (owner %d) began to believe that it holds %s when the time of its session 0x%llx was up", WHO,
            event->owner, WHAT, (unsigned long long)term->session);
    if (table_get(table, RECORD_LEASE_OVER, event->lock, event->process, 0))
        check_violate(note, "%s (owner %d) began to believe that it holds %s when its lease had run out", WHO,
                      event->owner, WHAT);
}

static const struct check_record *believer(struct check_table *table, int lock, int process)
{
    struct check_record *term = table_first_lock(table, RECORD_TERM, lock);
    while (term && !(term->process == process && (term->flags & TERM_BELIEVES)))
        term = table_next_lock(table, term);
    return term;
}

static void judge_node(struct check_table *table, const struct check_context *context,
                       const struct event *event, struct check_note *note)
{
    const struct check_record *term;
    if (event->node_role != 1 || event->lock == EVENT_LOCK_NONE)
        return;
    table_drop_lock(table, RECORD_LEASE_OVER, event->lock, event->process);
    if (event->kind == EVENT_NODE_CREATED || event->owner != EVENT_BY_TIME)
        return;
    table_put(table, RECORD_LEASE_OVER, event->lock, event->process, 0, 0, 0);
    term = believer(table, event->lock, event->process);
    if (term)
        check_violate(note, "%s (owner %d) believes to hold %s though its lease has run out", WHO,
                      term->owner, WHAT);
}

static void judge_closing(struct check_table *table, const struct check_context *context,
                          const struct event *event, struct check_note *note)
{
    struct check_record *term;
    if (event->time_is_up != 1)
        return;
    for (term = table_first(table, RECORD_TERM); term; term = table_next(table, term))
        if (term->process == event->process && term->session == event->session &&
            (term->flags & TERM_BELIEVES))
            check_violate(
                note, "%s (owner %d) believes to hold %s though the time of its session 0x%llx is up", WHO,
                term->owner, check_lock_name(context, term->lock).text, (unsigned long long)event->session);
    table_put(table, RECORD_OVER, 0, event->process, 0, event->session, 0);
}

/* Drops the sessions of the process other than the one in which it connects: it knows of their end now. */
static void observe_link_up(struct check_table *table, const struct event *event)
{
    struct check_record *over = table_first(table, RECORD_OVER);
    while (over) {
        bool drop = over->process == event->process && over->session != event->session;
        if (drop)
            table_drop(table, over);
        over = drop ? table_first(table, RECORD_OVER) : table_next(table, over);
    }
}

/* Ends the terms of the process. The record of an owner that still believes stays until DOUBTS. */
static void observe_lost(struct check_table *table, const struct event *event)
{
    struct check_record *term = table_first(table, RECORD_TERM);
    while (term) {
        bool drop = term->process == event->process && (term->flags & TERM_BELIEVES) == 0;
        LS_ASSERT((term->flags & TERM_ENDED) == 0 || (term->flags & TERM_BELIEVES));
        if (term->process == event->process)
            term->flags |= TERM_ENDED;
        if (drop)
            table_drop(table, term);
        term = drop ? table_first(table, RECORD_TERM) : table_next(table, term);
    }
}

static void observe(struct check_table *table, const struct check_context *context, const struct event *event,
                    struct check_note *note)
{
    if (!context->timed)
        return;
    switch (event->kind) {
    case EVENT_GRANTED:
        observe_granted(table, event);
        break;
    case EVENT_BELIEVES:
        judge_belief(table, context, event, note);
        break;
    case EVENT_DOUBTS:
        observe_doubts(table, event);
        break;
    case EVENT_RELEASED:
        end_term(table, event);
        break;
    case EVENT_LOST:
        observe_lost(table, event);
        break;
    case EVENT_NODE_CREATED:
    case EVENT_NODE_DELETED:
        judge_node(table, context, event, note);
        break;
    case EVENT_SESSION_CLOSING:
        judge_closing(table, context, event, note);
        break;
    case EVENT_LINK_UP:
        observe_link_up(table, event);
        break;
    case EVENT_EXPIRED:
        table_drop_process(table, RECORD_OVER, event->process);
        break;
    default: /* the process is gone */
        LS_ASSERT(event->kind == EVENT_CRASHED);
        table_drop_process(table, RECORD_TERM, event->process);
        table_drop_process(table, RECORD_OVER, event->process);
        table_drop_process(table, RECORD_LEASE_OVER, event->process);
        break;
    }
}

const struct property check_belief_ends_in_time = {
    .name = "belief_ends_in_time",
    .sentence =
        "no owner is told by its recipe that it holds the lock when the time of its session or lease is up",
    .premise = "times somebody began to believe",
    .blind_to = "runs without a clock; sessions and leases that are ended before their time",
    .modes = PROPERTY_TIMED,
    .needs_clock = true,
    .wants = EVENT_BIT(EVENT_GRANTED) | EVENT_BIT(EVENT_BELIEVES) | EVENT_BIT(EVENT_DOUBTS) |
             EVENT_BIT(EVENT_RELEASED) | EVENT_BIT(EVENT_LOST) | EVENT_BIT(EVENT_SESSION_CLOSING) |
             EVENT_BIT(EVENT_LINK_UP) | EVENT_BIT(EVENT_EXPIRED) | EVENT_BIT(EVENT_CRASHED) |
             EVENT_BIT(EVENT_NODE_CREATED) | EVENT_BIT(EVENT_NODE_DELETED),
    .needs = 0,
    .records_per_process = 3,
    .records_per_contender = 1,
    .observe = observe,
};
