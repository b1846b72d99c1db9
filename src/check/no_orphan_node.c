/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* No contender node stands that nobody stands behind.
 *
 * Judged at rest (connected, janitor idle, no fault pending): a process that runs has, on each lock, no more
 * contender nodes of its live session than owners who wait for or hold that lock. Two nodes for one waiter
 * are an orphan too: the waiter would wait for itself.
 *
 * It does not see: which of several nodes is the orphan; nodes of sessions that are gone (the server's
 * business); non-contenders such as lock directories; an orphan that is removed before the next rest. */
#include <check/properties.h>

static int nodes_of(struct check_table *table, const struct check_record *node, int64_t session)
{
    int count = 0;
    struct check_record *other;
    for (other = table_first_lock(table, RECORD_NODE, node->lock); other;
         other = table_next_lock(table, other))
        if (other->process == node->process && other->b == session)
            count++;
    return count;
}

static void judge_rest(struct check_table *table, const struct check_context *context,
                       struct check_note *note)
{
    struct check_record *node;
    for (node = table_first(table, RECORD_NODE); node; node = table_next(table, node)) {
        if (!ledger_answerable(table, node->process))
            continue;
        int64_t session = table_get(table, RECORD_PROCESS, 0, node->process, 0)->a;
        int nodes = nodes_of(table, node, session);
        int claims = ledger_claims(table, node->lock, node->process, CLAIM_WAITING | CLAIM_HOLDING);
        if (nodes > claims)
            check_violate(note, "at rest %s has %d contender node%s on %s (czxid %lld) for %d owner%s",
                          check_process_name(context, node->process).text, nodes, nodes == 1 ? "" : "s",
                          check_lock_name(context, node->lock).text, (long long)node->a, claims,
                          claims == 1 ? "" : "s");
    }
}

static void observe(struct check_table *table, const struct check_context *context, const struct event *event,
                    struct check_note *note)
{
    if (event->kind == EVENT_REST)
        judge_rest(table, context, note);
    else if (event->code == 1 && event->process != EVENT_PROCESS_NONE)
        note->premises = 1;
}

const struct property check_no_orphan_node = {
    .name = "no_orphan_node",
    .sentence = "at rest every contender node of a live session belongs to an owner who waits or holds",
    .premise = "contenders that were created",
    .blind_to = "orphans that are removed before the next rest; nodes of sessions that are gone",
    .modes = PROPERTY_ALWAYS,
    .wants = EVENT_BIT(EVENT_REST) | EVENT_BIT(EVENT_NODE_CREATED),
    .needs = CHECK_NEEDS_PROCESSES | CHECK_NEEDS_CLAIMS | CHECK_NEEDS_NODES,
    .observe = observe,
};
