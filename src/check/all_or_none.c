/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Locks that were asked for in one call get their news together.
 *
 * Formula. A call is an ASKED of one owner with one set of locks (call_locks). Its news are GRANTED, FAILED,
 * RELEASED, REFUSED with LS_ELOST, and HOLD_LOST. Two pieces of news are the same if their kinds are. Once
 * there is news of one lock of a call, the same news of each other lock of the call follows before
 *   - other news of the call, and ASKED of the owner,
 *   - BELIEVES, DOUBTS or SETTLED of the process,
 *   - REST.
 * A call ends when all its locks have got the same news, unless that is GRANTED, HOLD_LOST, or RELEASED with
 * depth above 0. CRASHED and STOPPED end it, too. A lock leaves the call if the owner asks for it alone or in
 * another call. LOST is about all locks at once, so it is no news.
 *
 * Not seen: news of one step and of the next, if no such event is between. FREED, which belongs to a release.
 * Checked by tests/check/reference/all_or_none.h. */
#include "base/assert.h"
#include "check/properties.h"

static struct check_record *news_of(struct check_table *table, int lock, int process, int owner)
{
    return table_get(table, RECORD_NEWS, lock, process, owner);
}

/* Returns a lock of the call whose last news was not of this kind; -1 if there is none. */
static int find_other(struct check_table *table, const struct check_context *context,
                      const struct check_record *call, int kind)
{
    for (int lock = 0; lock < context->locks; lock++) {
        const struct check_record *other = news_of(table, lock, call->process, call->owner);
        if ((call->locks >> lock & 1) != 0 && other && other->news != kind)
            return lock;
    }
    return -1;
}

/* Violates the property if another lock of the call has not got the last news of this lock. */
static void judge_apart(struct check_table *table, const struct check_context *context,
                        const struct check_record *call, struct check_note *note)
{
    int other = find_other(table, context, call, call->news);
    if (call->news == 0 || other < 0)
        return;
    LS_ASSERT(call->news < EVENT_KINDS && other != call->lock);
    check_violate(
        note, "%s (owner %d) was told '%s' of %s, but not of %s, which it asked for in the same call",
        check_process_name(context, call->process).text, call->owner, event_name((enum event_kind)call->news),
        check_lock_name(context, call->lock).text, check_lock_name(context, other).text);
}

/* Forgets news that all locks of the call have got, and ends the call if this news does. */
static void agree(struct check_table *table, const struct check_context *context, unsigned locks,
                  const struct event *event)
{
    bool over = event->kind != EVENT_GRANTED && (event->kind != EVENT_RELEASED || event->depth <= 0);
    for (int lock = 0; lock < context->locks; lock++) {
        struct check_record *call = news_of(table, lock, event->process, event->owner);
        if ((locks >> lock & 1) == 0 || !call)
            continue;
        call->news = 0;
        if (over && event->kind != EVENT_HOLD_LOST)
            table_drop(table, call);
    }
}

static void judge_news(struct check_table *table, const struct check_context *context,
                       const struct event *event, struct check_note *note)
{
    struct check_record *call = news_of(table, event->lock, event->process, event->owner);
    if (!call)
        return;
    note->premises = 1;
    unsigned locks = call->locks;
    for (int lock = 0; lock < context->locks; lock++) {
        const struct check_record *other = news_of(table, lock, event->process, event->owner);
        if ((locks >> lock & 1) != 0 && other && other->news != 0 && other->news != event->kind)
            judge_apart(table, context, other, note);
    }
    call->news = event->kind;
    if (find_other(table, context, call, event->kind) < 0)
        agree(table, context, locks, event);
}

/* Judges the calls of a process, EVENT_PROCESS_NONE = of all; and of an owner, -1 = of all. */
static void judge_process(struct check_table *table, const struct check_context *context, int process,
                          int owner, struct check_note *note)
{
    struct check_record *call = table_first(table, RECORD_NEWS);
    for (; call; call = table_next(table, call))
        if ((process == EVENT_PROCESS_NONE || call->process == process) &&
            (owner < 0 || call->owner == owner))
            judge_apart(table, context, call, note);
}

static void begin(struct check_table *table, const struct check_context *context, const struct event *event,
                  struct check_note *note)
{
    LS_ASSERT((uint64_t)event->call_locks <= UINT16_MAX);
    judge_process(table, context, event->process, event->owner, note);
    if (event->call_locks == 0)
        table_drop(table, news_of(table, event->lock, event->process, event->owner));
    else
        table_put(table, RECORD_NEWS, event->lock, event->process, event->owner, 0, 0)->locks =
            (uint16_t)event->call_locks;
}

static void observe(struct check_table *table, const struct check_context *context, const struct event *event,
                    struct check_note *note)
{
    switch (event->kind) {
    case EVENT_ASKED:
        begin(table, context, event, note);
        break;
    case EVENT_REFUSED:
        if (event->rc != CODE_LOST)
            break;
        judge_news(table, context, event, note);
        break;
    case EVENT_GRANTED:
    case EVENT_FAILED:
    case EVENT_RELEASED:
    case EVENT_HOLD_LOST:
        judge_news(table, context, event, note);
        break;
    case EVENT_CRASHED:
    case EVENT_STOPPED:
        table_drop_process(table, RECORD_NEWS, event->process);
        break;
    case EVENT_REST:
        judge_process(table, context, EVENT_PROCESS_NONE, -1, note);
        break;
    case EVENT_BELIEVES:
    case EVENT_DOUBTS:
    case EVENT_SETTLED:
        judge_process(table, context, event->process, -1, note);
        break;
    default:
        LS_ASSERT(!"each kind that is wanted has a case");
        break;
    }
}

/* All records are of one process and change by events of that process; REST reads all of them. */
static bool is_local(const struct event *event)
{
    return event->kind != EVENT_REST;
}

const struct property check_all_or_none = {
    .name = "all_or_none",
    .sentence = "of locks that an owner asks for in one call it is granted, refused, and loses all or none",
    .premise = "answers, releases and losses of locks that were asked for in one call",
    .blind_to = "news of one step and of the next between which the process is told nothing else",
    .modes = PROPERTY_ALWAYS | PROPERTY_SEVERAL,
    .wants = EVENT_BIT(EVENT_ASKED) | EVENT_BIT(EVENT_GRANTED) | EVENT_BIT(EVENT_FAILED) |
             EVENT_BIT(EVENT_RELEASED) | EVENT_BIT(EVENT_REFUSED) | EVENT_BIT(EVENT_HOLD_LOST) |
             EVENT_BIT(EVENT_BELIEVES) | EVENT_BIT(EVENT_DOUBTS) | EVENT_BIT(EVENT_SETTLED) |
             EVENT_BIT(EVENT_CRASHED) | EVENT_BIT(EVENT_STOPPED) | EVENT_BIT(EVENT_REST),
    .needs = 0,
    .records_per_contender = 1,
    .is_local = is_local,
    .observe = observe,
};
