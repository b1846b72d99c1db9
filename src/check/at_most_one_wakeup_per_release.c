/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* No herd: one deletion wakes one contender, or those that it admits.
 *
 * Definition. At each deletion of a contender's node, or of a node that queues, count the processes that
 * watch the node, or the child list of its directory. A process counts only if an owner of it waits for a
 * lock of the group, and if it has not left the line. The count is at most 1, or, if that is more, the number
 * of contenders that the deletion admits (check/state.h). A watch of a session on its own node does not
 * count. Nor does one of a session that is over, even before the client is told, or whose end deletes the
 * node.
 *   - A process leaves the line when one of its acquires fails, or when it waits and deletes one of its
 *     contenders or nodes that queue. It is back at the first SETTLED at which it watches neither a node of
 *     another process nor a child list.
 *   - If the operator deletes such a node of a process that waits, the process has left the line until it
 *     does not wait.
 *
 * Why. Only the next contender in line needs to hear of the deletion. Watches have no owner: a process may
 * still have a watch for an owner that gave up, while another of its owners waits.
 *
 * Example. Line a1 b2 c3: b watches a1, c watches b2. b gives up, so c is woken and watches a1. Until b's
 * request to remove its watch is done, a1 has two watchers. b has left the line, so the deletion of a1 counts
 * one.
 *
 * Not seen: two owners of one process that one deletion wakes. Watches of a process that has left the line. A
 * watch whose reply is under way. The cost of the requests after a wake-up (bounded_work). Checked by
 * tests/check/reference/at_most_one_wakeup_per_release.h. */
#include "base/assert.h"
#include "check/properties.h"

#define LEFT_BY_ITSELF 0x01u
#define LEFT_BY_OPERATOR 0x02u

/* Returns true if the deletion fires a watch that counts. With `owner` 0, the end of the node's session may
 * have deleted it, and fires no watch of that session. */
static bool fires(const struct check_record *watch, const struct event *gone, int directory)
{
    bool ends = gone->owner == 0 && watch->by_session == gone->session;
    bool on_node = watch->owner == EVENT_WATCH_PREDECESSOR || watch->owner == EVENT_WATCH_OWN;
    return watch->by_session != 0 && !ends &&
           ((watch->owner == EVENT_WATCH_PARENT && watch->directory == directory) ||
            (on_node && watch->czxid == gone->czxid && watch->by_session != gone->session));
}

static bool is_woken(struct check_table *table, const struct check_context *context, const struct event *gone,
                     int process)
{
    int directory = ledger_directory(table, gone->lock, gone->czxid);
    struct check_record *watch = group_first_record(table, context, RECORD_WATCH, gone->lock);
    while (watch && !(watch->process == process && fires(watch, gone, directory)))
        watch = group_next_record(table, context, watch);
    return watch != NULL;
}

static bool watches_others(struct check_table *table, const struct check_context *context, int lock,
                           int process)
{
    return group_watches(table, context, lock, process, EVENT_WATCH_PREDECESSOR) > 0 ||
           group_watches(table, context, lock, process, EVENT_WATCH_PARENT) > 0;
}

static bool counts(struct check_table *table, const struct check_context *context, int lock, int process)
{
    return group_claims(table, context, lock, process, CLAIM_WAITING) > 0 &&
           !table_get(table, RECORD_LEFT, group_of(context, lock), process, 0);
}

/* Returns the number of contenders that the deletion admits, at least 1. */
static int newly_admitted(struct check_table *table, const struct check_context *context,
                          const struct event *gone)
{
    int count = 0;
    struct check_record *node = group_first_record(table, context, RECORD_NODE, gone->lock);
    for (; context->specs && node; node = group_next_record(table, context, node)) {
        struct contender contender = contender_of_record(node);
        bool before = node->czxid == gone->czxid || ledger_admits(table, context, &contender, NULL);
        contender.gone = gone->czxid;
        count += !before && ledger_admits(table, context, &contender, NULL);
    }
    return count > 0 ? count : 1;
}

static void judge_deletion(struct check_table *table, const struct check_context *context,
                           const struct event *event, struct check_note *note)
{
    int first = -1, last = -1, count = 0;
    for (int process = 0; process < context->processes; process++) {
        if (!is_woken(table, context, event, process) || !counts(table, context, event->lock, process))
            continue;
        first = first < 0 ? process : first;
        last = process;
        count++;
    }
    note->premises = count > 0;
    LS_ASSERT(count == 0 || (first >= 0 && last - first >= count - 1));
    int admitted = count > 1 ? newly_admitted(table, context, event) : 1;
    if (count > admitted)
        check_violate(note, "one deletion (zxid %lld) wakes both %s and %s, who wait for %s; it admits %d",
                      (long long)event->change_zxid, check_process_name(context, first).text,
                      check_process_name(context, last).text, WHAT, admitted);
}

static void leave(struct check_table *table, const struct check_context *context, const struct event *event,
                  uint16_t how)
{
    LS_ASSERT(how == LEFT_BY_ITSELF || how == LEFT_BY_OPERATOR);
    table_put(table, RECORD_LEFT, group_of(context, event->lock), event->process, 0, 0, 0)->flags |= how;
}

static void come_back(struct check_table *table, int group, int process, uint16_t how)
{
    struct check_record *left = table_get(table, RECORD_LEFT, group, process, 0);
    LS_ASSERT(!left || left->flags != 0);
    if (left && (left->flags &= (uint16_t)~how) == 0)
        table_drop(table, left);
}

static void observe_deleted(struct check_table *table, const struct check_context *context,
                            const struct event *event, struct check_note *note)
{
    if ((event->node_role != 1 && event->node_role != CODE_QUEUED) || event->lock == EVENT_LOCK_NONE)
        return;
    judge_deletion(table, context, event, note);
    bool by_itself = event->owner == 1 + event->process;
    if ((by_itself || event->owner == EVENT_BY_OPERATOR) &&
        group_claims(table, context, event->lock, event->process, CLAIM_WAITING) > 0)
        leave(table, context, event, by_itself ? LEFT_BY_ITSELF : LEFT_BY_OPERATOR);
}

/* The claim of the event's owner still has CLAIM_WAITING: the ledger sees the event after this judge. */
static void observe_answer(struct check_table *table, const struct check_context *context,
                           const struct event *event)
{
    int waiting = group_claims(table, context, event->lock, event->process, CLAIM_WAITING);
    LS_ASSERT(waiting >= ledger_waits(table, event));
    if (waiting == ledger_waits(table, event))
        come_back(table, group_of(context, event->lock), event->process, LEFT_BY_OPERATOR);
    if (event->kind == EVENT_FAILED)
        leave(table, context, event, LEFT_BY_ITSELF);
}

static void observe_settled(struct check_table *table, const struct check_context *context, int process)
{
    for (int lock = 0; lock < context->locks; lock++)
        if (!watches_others(table, context, lock, process))
            come_back(table, lock, process, LEFT_BY_ITSELF);
}

static void observe(struct check_table *table, const struct check_context *context, const struct event *event,
                    struct check_note *note)
{
    switch (event->kind) {
    case EVENT_NODE_DELETED:
        observe_deleted(table, context, event, note);
        break;
    case EVENT_GRANTED:
    case EVENT_FAILED:
        observe_answer(table, context, event);
        break;
    case EVENT_SETTLED:
        observe_settled(table, context, event->process);
        break;
    case EVENT_CRASHED:
        table_drop_process(table, RECORD_LEFT, event->process);
        break;
    default: /* wanted only because they do not commute (is_local), as they change what a deletion wakes */
        LS_ASSERT(event->kind == EVENT_WATCH_SET || event->kind == EVENT_WATCH_GONE ||
                  event->kind == EVENT_SESSION_CLOSED);
        break;
    }
}

/* SETTLED commutes. It brings back only a process that watches neither a node of another process nor a child
 * list. So no deletion of another process's node wakes it. No request of the process is under way then. */
static bool is_local(const struct event *event)
{
    return event->kind == EVENT_SETTLED;
}

const struct property check_at_most_one_wakeup_per_release = {
    .name = "at_most_one_wakeup_per_release",
    .sentence = "the deletion of one contender's node wakes at most one waiting contender",
    .premise = "deletions of a contender behind which somebody waits",
    .blind_to =
        "two waiting owners of one process; a process whose acquire failed or whose contender was deleted, "
        "until it has no watch and no request; a watch whose reply is under way",
    .modes = PROPERTY_ALWAYS,
    .wants = EVENT_BIT(EVENT_NODE_DELETED) | EVENT_BIT(EVENT_GRANTED) | EVENT_BIT(EVENT_FAILED) |
             EVENT_BIT(EVENT_WATCH_SET) | EVENT_BIT(EVENT_WATCH_GONE) | EVENT_BIT(EVENT_SETTLED) |
             EVENT_BIT(EVENT_SESSION_CLOSED) | EVENT_BIT(EVENT_CRASHED),
    .needs = CHECK_NEEDS_CLAIMS | CHECK_NEEDS_NODES | CHECK_NEEDS_WATCHES,
    .records_per_contender = 1,
    .is_local = is_local,
    .observe = observe,
};
