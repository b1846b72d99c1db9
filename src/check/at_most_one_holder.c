/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Mutual exclusion by the coordinator (D6).
 *
 * For each grant there is a moment between `asked` and `granted` at which the grantee's node was the first
 * contender in the committed log, by order of creation, and that node belongs to the session that the client
 * has when `granted` is delivered. Since czxids only grow, a node that is first stays first until it is
 * deleted. So it is enough to look at the line when the grant is told, and to remember (as ghosts) the nodes
 * that were first when they were deleted while their process was waiting.
 *
 * This implies that no two grants overlap by the coordinator, that is while their nodes stand: two nodes are
 * never first at once, and one node carries one grant only, which is why two owners of one process on the
 * same node are refused.
 *
 * It does not see: what anybody believes, nor how long; a grant to an owner who already holds (one level
 * deeper); which node is meant when a process has several and the token names none of them (then the oldest
 * free one counts). */
#include <check/properties.h>

/* True if another owner of the process holds on that node. */
static const struct check_record *other_owner(struct check_table *table, const struct event *event,
                                              int64_t czxid)
{
    struct check_record *claim;
    for (claim = table_first_lock(table, RECORD_CLAIM, event->lock); claim;
         claim = table_next_lock(table, claim))
        if (claim->process == event->process && claim->owner != event->owner &&
            (claim->flags & CLAIM_HOLDING) && claim->a == czxid)
            return claim;
    return NULL;
}

static void judge_grant(struct check_table *table, const struct check_context *context,
                        const struct event *event, struct check_note *note)
{
    const struct check_record *node = ledger_grant(table, event, RECORD_GHOST);
    const struct check_record *first = ledger_first(table, event->lock);
    note->premises = 1;
    if (!node) {
        check_violate(note, "%s was granted %s but had no node in the line since it asked%s%s", WHO, WHAT,
                      first ? "; first is the node of " : "",
                      first ? check_process_name(context, first->process).text : "");
        return;
    }
    if (node->b != event->session)
        check_violate(note, "%s was granted %s on a node of session 0x%llx but its session is 0x%llx", WHO,
                      WHAT, (unsigned long long)node->b, (unsigned long long)event->session);
    if (node->kind == RECORD_NODE && node != first)
        check_violate(
            note, "%s was granted %s but its node (czxid %lld) stands behind that of %s (czxid %lld)", WHO,
            WHAT, (long long)node->a, check_process_name(context, first->process).text, (long long)first->a);
    const struct check_record *other = other_owner(table, event, node->a);
    if (other)
        check_violate(note, "%s was granted %s to owner %d on the node that owner %d holds it with", WHO,
                      WHAT, event->owner, other->owner);
}

/* Ghosts answer the question of the waits that are under way; with the last of them they go. */
static void forget_ghosts(struct check_table *table, const struct event *event)
{
    const struct check_record *claim =
        table_get(table, RECORD_CLAIM, event->lock, event->process, event->owner);
    int mine = claim && (claim->flags & CLAIM_WAITING) ? 1 : 0;
    if (ledger_claims(table, event->lock, event->process, CLAIM_WAITING) == mine)
        table_drop_lock(table, RECORD_GHOST, event->lock, event->process);
}

static void remember_ghost(struct check_table *table, const struct event *event)
{
    const struct check_record *first = ledger_first(table, event->lock);
    if (event->code != 1 || !first || first->a != event->zxid)
        return;
    if (ledger_claims(table, event->lock, first->process, CLAIM_WAITING))
        table_put(table, RECORD_GHOST, event->lock, first->process, 0, event->zxid, event->session);
}

static void observe(struct check_table *table, const struct check_context *context, const struct event *event,
                    struct check_note *note)
{
    switch (event->kind) {
    case EVENT_GRANTED:
        if (!(ledger_holds(table, event) && event->code > 1))
            judge_grant(table, context, event, note);
        forget_ghosts(table, event);
        break;
    case EVENT_FAILED:
        forget_ghosts(table, event);
        break;
    case EVENT_NODE_DELETED:
        remember_ghost(table, event);
        break;
    case EVENT_EXPIRED: /* what is granted on them now is granted on a node of another session */
    case EVENT_CRASHED:
        table_drop_process(table, RECORD_GHOST, event->process);
        break;
    default:
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
             EVENT_BIT(EVENT_EXPIRED) | EVENT_BIT(EVENT_CRASHED),
    .needs = CHECK_NEEDS_CLAIMS | CHECK_NEEDS_NODES,
    .records_per_contender = 2,
    .observe = observe,
};
