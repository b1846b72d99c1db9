/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Watches do not outlive their purpose (D7).
 *
 * Formula. At REST, for each process that runs and is connected, and each group of locks:
 *   - Watches on predecessors and on child lists: at most as many for each owner that waits as a hold has
 *     contenders.
 *   - Watches on nodes of the process itself: at most two for each owner that waits, and one for each that
 *     holds. The node before a waiter may belong to another owner of the process.
 *   - At most one watch on the node of the capacity, and none if the process has closed the lock.
 *   - No other watch (EVENT_WATCH_OTHER).
 * Not seen: watches that only the server still has. The owner that a watch belongs to. Watches with one path,
 * function and context, which count as one. Watches on the child list during a wait
 * (at_most_one_wakeup_per_release). Checked by tests/check/reference/no_watch_left_behind.h. */
#include "base/assert.h"
#include "check/properties.h"

static void judge_process(struct check_table *table, const struct check_context *context, int lock,
                          int process, struct check_note *note)
{
    LS_ASSERT(group_of(context, lock) == lock);
    int waiting = group_claims(table, context, lock, process, CLAIM_WAITING);
    int holding = group_claims(table, context, lock, process, CLAIM_HOLDING);
    int forward = group_watches(table, context, lock, process, EVENT_WATCH_PREDECESSOR) +
                  group_watches(table, context, lock, process, EVENT_WATCH_PARENT);
    int own = group_watches(table, context, lock, process, EVENT_WATCH_OWN);
    int other = group_watches(table, context, lock, process, EVENT_WATCH_OTHER);
    int counts = group_watches(table, context, lock, process, EVENT_WATCH_COUNT);
    int open = ledger_has_open(table, context, lock, process);
    if (counts > open) {
        check_violate(note, "at rest %s has %d watches on the count of %s, which it has %s",
                      check_process_name(context, process).text, counts, check_lock_name(context, lock).text,
                      open ? "open" : "closed");
        return;
    }
    if (forward <= waiting * lock_nodes(context, lock) && own <= 2 * waiting + holding && other == 0)
        return;
    check_violate(
        note,
        "at rest %s (%d waiting, %d holding) has watches on %s: %d on predecessors or the child list, "
        "%d on its own nodes, %d on others or absent ones",
        check_process_name(context, process).text, waiting, holding, check_lock_name(context, lock).text,
        forward, own, other);
}

static void judge_rest(struct check_table *table, const struct check_context *context,
                       struct check_note *note)
{
    if (!table_first(table, RECORD_WATCH))
        return;
    for (int lock = 0; lock < context->locks; lock++)
        for (int process = 0; process < context->processes; process++)
            if (group_of(context, lock) == lock && ledger_answerable(table, process))
                judge_process(table, context, lock, process, note);
}

static void observe(struct check_table *table, const struct check_context *context, const struct event *event,
                    struct check_note *note)
{
    LS_ASSERT(event->kind == EVENT_REST || event->kind == EVENT_WATCH_SET);
    if (event->kind == EVENT_REST)
        judge_rest(table, context, note);
    else if (event->lock != EVENT_LOCK_NONE && event->process != EVENT_PROCESS_NONE)
        note->premises = 1;
}

/* WATCH_SET commutes: watches are judged at REST. */
static bool is_local(const struct event *event)
{
    return event->kind == EVENT_WATCH_SET;
}

const struct property check_no_watch_left_behind = {
    .name = "no_watch_left_behind",
    .sentence = "at rest nobody keeps a watch in the lock's directory that its wait or hold does not need",
    .premise = "watches that were set",
    .blind_to = "watches that only the server still has; whose watch it is among owners of one process",
    .modes = PROPERTY_ALWAYS,
    .wants = EVENT_BIT(EVENT_REST) | EVENT_BIT(EVENT_WATCH_SET),
    .needs = CHECK_NEEDS_PROCESSES | CHECK_NEEDS_CLAIMS | CHECK_NEEDS_WATCHES,
    .is_local = is_local,
    .observe = observe,
};
