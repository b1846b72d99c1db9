/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* No herd (D7): deleting one contender's node wakes at most one waiting contender, or as many as it admits.
 *
 * A deletion admits a contender that was not admitted before it (check/state.h) and is from then on. Of mutexes that is
 * one at most. Behind a writer it may be several readers, who all have to be woken.
 *
 * Counted are deliveries of node events by a deletion, DELETED and CHILD, to processes that wait for that lock. Session
 * events, creations, changes of contents, and what is told at a reconnect do not count.
 * The deleted node is part of the key, because the end of a session deletes several contenders with one zxid, and each may
 * wake the one behind it. The watch of the directory's child list is woken by the first of them.
 *
 * A watch that stood when an owner of its process gave up is no waiter's any more, unless it is set again: what it wakes counts
 * as none. That it was left standing is for no_watch_left_behind to say. The same goes for the next one that the process is told
 * of, unless nothing was under way in between (which real runs cannot tell): that owner may have asked for it, and without
 * memory, or across a broken connection, it cannot be taken back before it fires.
 *
 * A waiting process whose contender the operator has deleted has no place behind the watched node any more. What wakes
 * it counts as none until it has another contender. Nor do the watches count that stood when the node was deleted.
 *
 * The end of a node of its own tells a process nothing that others would have to hear first, as when a watch of an owner
 * who has given up behind another owner of the same process fires late: that wake-up counts as none.
 *
 * It does not see: two waiting owners of one process woken by one deletion; wake-ups by watches that stood when another
 * owner of the process gave up, or that came next; a second wake-up by an older deletion that is delivered after a wake-up by a
 * newer one on the same lock (one record per lock keeps the state small, and another schedule shows it); a second wake-up of a
 * process that is told of its watch only after the first wake-up (likewise); the cost of requests that follow a wake-up
 * (bounded_work). */
#include <check/properties.h>

enum { STALE_MAX = 16 }; /* of one process on one lock; what is beyond counts as a waiter's */

/* What is watched: the node with this czxid, or 0 for the directory's child list, which has one watch at most. */
static int64_t watched(bool is_list, int64_t czxid)
{
    return is_list ? 0 : czxid;
}

/* True if there was a stale watch on that node. */
static bool end_stale(struct check_table *table, const struct event *event)
{
    bool is_list = event->code == (event->kind == EVENT_WOKEN ? TYPE_CHILD : EVENT_WATCH_PARENT);
    struct check_record *stale =
        table_get_exact(table, RECORD_STALE, event->lock, event->process, 0, watched(is_list, event->zxid));
    table_drop(table, stale);
    return stale != NULL;
}

/* Of what the process watches it is not known which owner it was for. */
static void outdate_watches(struct check_table *table, const struct check_context *context,
                            const struct event *event)
{
    struct {
        int lock;
        int64_t czxid;
    } stale[STALE_MAX];
    int count = 0;
    struct check_record *watch = group_first_record(table, context, RECORD_WATCH, event->lock);
    for (; watch && count < STALE_MAX; watch = group_next_record(table, context, watch)) {
        bool is_list = watch->owner == EVENT_WATCH_PARENT;
        if (watch->process != event->process || (!is_list && watch->owner != EVENT_WATCH_PREDECESSOR))
            continue;
        stale[count].lock = watch->lock;
        stale[count++].czxid = watched(is_list, watch->a);
    }
    while (count-- > 0)
        table_put(table, RECORD_STALE, stale[count].lock, event->process, 0, stale[count].czxid, 0);
    int group = group_of(context, event->lock);
    struct check_record *late = table_put(table, RECORD_LATE, group, event->process, 0, 0, 0);
    if (late->flags < STALE_MAX)
        late->flags++;
}

/* True if it may be what an owner who gave up has asked for. */
static bool end_late(struct check_table *table, const struct check_context *context,
                     const struct event *event)
{
    int group = group_of(context, event->lock);
    struct check_record *late = table_get(table, RECORD_LATE, group, event->process, 0);
    if (!late || event->code != EVENT_WATCH_PREDECESSOR)
        return false;
    if (--late->flags == 0)
        table_drop(table, late);
    return true;
}

static void observe_watch(struct check_table *table, const struct check_context *context,
                          const struct event *event)
{
    if (event->lock == EVENT_LOCK_NONE || event->process == EVENT_PROCESS_NONE)
        return;
    /* Whom a watch that fires wakes is told next. */
    if (event->kind == EVENT_WATCH_SET || event->cause == 0)
        end_stale(table, event);
    if (event->kind == EVENT_WATCH_SET && end_late(table, context, event))
        table_put(table, RECORD_STALE, event->lock, event->process, 0, event->zxid, 0);
}

static bool waits(struct check_table *table, const struct check_context *context, int lock, int process)
{
    return group_claims(table, context, lock, process, CLAIM_WAITING) > 0;
}

/* Somebody else waits who watches that node too, or the line as a whole. */
static bool others_watch(struct check_table *table, const struct check_context *context, int lock,
                         int process, int64_t czxid)
{
    struct check_record *watch = group_first_record(table, context, RECORD_WATCH, lock);
    for (; watch; watch = group_next_record(table, context, watch))
        if ((watch->a == czxid || watch->owner == EVENT_WATCH_PARENT || watch->owner == EVENT_WATCH_OTHER) &&
            watch->process != process && waits(table, context, lock, watch->process))
            return true;
    return false;
}

/* The contenders that are admitted once `gone` is deleted, and were not before. */
static int newly_admitted(struct check_table *table, const struct check_context *context, int lock,
                          int64_t gone)
{
    int count = 0;
    struct check_record *node = group_first_record(table, context, RECORD_NODE, lock);
    for (; node; node = group_next_record(table, context, node)) {
        struct contender contender = contender_of_record(node);
        bool before = node->a == gone || ledger_admits(table, context, &contender, NULL);
        contender.gone = gone;
        count += !before && ledger_admits(table, context, &contender, NULL);
    }
    return count;
}

/* Remembers how many a deletion admits, if it is more than one. */
static void observe_deleted(struct check_table *table, const struct check_context *context,
                            const struct event *event)
{
    if (!context->specs || event->code != 1 || event->lock == EVENT_LOCK_NONE)
        return;
    int group = group_of(context, event->lock);
    int count = newly_admitted(table, context, event->lock, event->zxid);
    if (count > 1)
        table_put(table, RECORD_ADMITS, group, 0, 0, event->zxid, event->cause)->flags = (uint16_t)count;
}

/* How many one deletion may wake. */
static int allowance(struct check_table *table, int group, const struct event *event)
{
    const struct check_record *admits = table_get_exact(table, RECORD_ADMITS, group, 0, 0, event->zxid);
    return admits && admits->b == event->cause ? admits->flags : 1;
}

/* All records of a group are of one deletion. */
static struct check_record *newest_woken(struct check_table *table, int group)
{
    return table_first_lock(table, RECORD_WOKEN, group);
}

/* How many other processes this deletion has woken; -1 if it has woken this one before. Forgets what others woke. */
static int others_woken(struct check_table *table, int group, const struct event *event)
{
    int count = 0;
    struct check_record *woken = newest_woken(table, group);
    while (woken) {
        if (woken->a != event->cause || woken->b != event->zxid) {
            table_drop(table, woken);
            woken = newest_woken(table, group);
            continue;
        }
        if (woken->process == event->process)
            return -1;
        count++;
        woken = table_next_lock(table, woken);
    }
    return count;
}

static void observe_woken(struct check_table *table, const struct check_context *context,
                          const struct event *event, struct check_note *note)
{
    bool own = event->owner != 0, is_stale = end_stale(table, event);
    bool by_deletion = event->code == TYPE_DELETED || (event->code == TYPE_CHILD && event->zxid != 0);
    if (event->cause == 0 || !by_deletion || event->lock == EVENT_LOCK_NONE || own || is_stale)
        return;
    if (!waits(table, context, event->lock, event->process) ||
        ledger_is_evicted(table, context, event->lock, event->process))
        return;
    note->premises = 1;
    int group = group_of(context, event->lock);
    const struct check_record *newest = newest_woken(table, group);
    if (newest && newest->a > event->cause)
        return;
    int others = others_woken(table, group, event);
    if (others < 0)
        return;
    if (others >= allowance(table, group, event))
        check_violate(note, "one deletion (zxid %lld) woke both %s and %s, who wait for %s",
                      (long long)event->cause,
                      check_process_name(context, newest_woken(table, group)->process).text, WHO, WHAT);
    else if (others_watch(table, context, event->lock, event->process, event->zxid))
        table_put(table, RECORD_WOKEN, group, event->process, 0, event->cause, event->zxid);
}

/* With nobody else left who waits and watches, nobody else can be woken: the question is answered. An owner whose wait ends with
 * this event still counts. */
static void forget(struct check_table *table, const struct check_context *context, const struct event *event)
{
    int group = group_of(context, event->lock);
    struct check_record *woken;
    while ((woken = newest_woken(table, group)) != NULL &&
           !others_watch(table, context, group, woken->process, woken->b))
        table_drop(table, woken);
    struct check_record *admits = table_first_lock(table, RECORD_ADMITS, group);
    while (admits) {
        bool over = !others_watch(table, context, group, EVENT_PROCESS_NONE, admits->a);
        if (over)
            table_drop(table, admits);
        admits = over ? table_first_lock(table, RECORD_ADMITS, group) : table_next_lock(table, admits);
    }
}

static void observe_crash(struct check_table *table, const struct event *event)
{
    table_drop_process(table, RECORD_STALE, event->process);
    table_drop_process(table, RECORD_LATE, event->process);
}

static void observe(struct check_table *table, const struct check_context *context, const struct event *event,
                    struct check_note *note)
{
    switch (event->kind) {
    case EVENT_WOKEN:
        observe_woken(table, context, event, note);
        break;
    case EVENT_WATCH_SET:
    case EVENT_WATCH_GONE:
        observe_watch(table, context, event);
        break;
    case EVENT_FAILED:
        forget(table, context, event);
        outdate_watches(table, context, event);
        break;
    case EVENT_NODE_DELETED:
        observe_deleted(table, context, event);
        if (event->owner == EVENT_BY_OPERATOR && event->code == 1 &&
            waits(table, context, event->lock, event->process))
            outdate_watches(table, context, event);
        break;
    case EVENT_SETTLED:
        table_drop_process(table, RECORD_LATE, event->process);
        break;
    case EVENT_CRASHED:
        observe_crash(table, event);
        break;
    case EVENT_REST:
        table_drop_all(table, RECORD_WOKEN);
        table_drop_all(table, RECORD_ADMITS);
        break;
    default:
        forget(table, context, event);
        break;
    }
}

/* Whether something is under way is looked at for the same process alone. */
static bool is_local(const struct event *event)
{
    return event->kind == EVENT_SETTLED;
}

const struct property check_at_most_one_wakeup_per_release = {
    .name = "at_most_one_wakeup_per_release",
    .sentence = "the deletion of one contender's node wakes at most one waiting contender",
    .premise = "wake-ups of waiting processes by a deletion",
    .blind_to =
        "two waiting owners of one process; watches that stood when an owner gave up, or came next; "
        "processes woken by the end of a node of their own; "
        "wake-ups by older deletions delivered after newer ones, or of who sets his watch after the first",
    .modes = PROPERTY_ALWAYS,
    .wants = EVENT_BIT(EVENT_WOKEN) | EVENT_BIT(EVENT_GRANTED) | EVENT_BIT(EVENT_FAILED) |
             EVENT_BIT(EVENT_REST) | EVENT_BIT(EVENT_WATCH_SET) | EVENT_BIT(EVENT_WATCH_GONE) |
             EVENT_BIT(EVENT_CRASHED) | EVENT_BIT(EVENT_SETTLED) | EVENT_BIT(EVENT_NODE_DELETED),
    .needs = CHECK_NEEDS_CLAIMS | CHECK_NEEDS_NODES | CHECK_NEEDS_WATCHES,
    .records_per_contender = 3,
    .is_local = is_local,
    .observe = observe,
};
