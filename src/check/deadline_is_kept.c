/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The caller gets its answer at the deadline, also during an outage.
 *
 * Formula. The deadline of an acquire is time(ASKED) + timeout, or time(RESUMED) of its process if that is
 * later. No answer, and no other event that this property observes while the acquire has none, comes later
 * than deadline + tolerance (check_context.tolerance_ms). Neither counts while the process is paused, from a
 * PAUSED after ASKED to RESUMED.
 *
 * Not seen: untimed runs, where no deadline has a value. Acquires without a timeout, and tries. A missing
 * answer, if no event that this property observes comes after the deadline. Checked by
 * tests/check/reference/deadline_is_kept.h. */
#include "base/assert.h"
#include "check/properties.h"

#define DEADLINE_PAUSED 0x01u

static void begin(struct check_table *table, const struct event *event)
{
    table_drop(table, table_get(table, RECORD_DEADLINE, event->lock, event->process, event->owner));
    if (event->timeout_ms > 0)
        table_put(table, RECORD_DEADLINE, event->lock, event->process, event->owner,
                  event->now_ms + event->timeout_ms, 0);
}

static bool is_late(const struct check_record *deadline, const struct check_context *context,
                    const struct event *event)
{
    return (deadline->flags & DEADLINE_PAUSED) == 0 &&
           event->now_ms > deadline->deadline_ms + context->tolerance_ms;
}

static void judge_answer(struct check_table *table, const struct check_context *context,
                         const struct event *event, struct check_note *note)
{
    struct check_record *deadline =
        table_get(table, RECORD_DEADLINE, event->lock, event->process, event->owner);
    if (!deadline)
        return;
    LS_ASSERT(table_is_alone(table, deadline));
    note->premises = 1;
    if (is_late(deadline, context, event))
        check_violate(note, "%s (owner %d) got its answer about %s %lld ms after its deadline", WHO,
                      event->owner, WHAT, (long long)(event->now_ms - deadline->deadline_ms));
    table_drop(table, deadline);
}

static void judge_others(struct check_table *table, const struct check_context *context,
                         const struct event *event, struct check_note *note)
{
    struct check_record *deadline = table_first(table, RECORD_DEADLINE);
    while (deadline && !is_late(deadline, context, event))
        deadline = table_next(table, deadline);
    if (!deadline)
        return;
    note->premises++;
    check_violate(note, "%s (owner %d) has no answer about %s %lld ms after its deadline",
                  check_process_name(context, deadline->process).text, deadline->owner,
                  check_lock_name(context, deadline->lock).text,
                  (long long)(event->now_ms - deadline->deadline_ms));
    table_drop(table, deadline);
}

static void observe_pause(struct check_table *table, const struct event *event)
{
    struct check_record *deadline;
    LS_ASSERT(event->kind == EVENT_PAUSED || event->kind == EVENT_RESUMED);
    for (deadline = table_first(table, RECORD_DEADLINE); deadline; deadline = table_next(table, deadline)) {
        LS_ASSERT(table_is_alone(table, deadline));
        if (deadline->process != event->process)
            continue;
        deadline->flags = event->kind == EVENT_PAUSED ? DEADLINE_PAUSED : 0;
        if (event->kind == EVENT_RESUMED && deadline->deadline_ms < event->now_ms)
            deadline->deadline_ms = event->now_ms; /* no other record has its key, so the order stays */
    }
}

static void observe(struct check_table *table, const struct check_context *context, const struct event *event,
                    struct check_note *note)
{
    if (!context->timed)
        return;
    if (event->kind == EVENT_GRANTED || event->kind == EVENT_FAILED)
        judge_answer(table, context, event, note);
    if (event->kind == EVENT_CRASHED)
        table_drop_process(table, RECORD_DEADLINE, event->process);
    if (event->kind == EVENT_RESUMED)
        observe_pause(table, event);
    judge_others(table, context, event, note);
    if (event->kind == EVENT_PAUSED)
        observe_pause(table, event);
    if (event->kind == EVENT_ASKED)
        begin(table, event);
}

const struct property check_deadline_is_kept = {
    .name = "deadline_is_kept",
    .sentence = "an acquire with a timeout is answered at its deadline at the latest, also during an outage",
    .premise = "answers to acquires with a timeout",
    .blind_to = "untimed runs; acquires without a timeout; time in which the process is paused",
    .modes = PROPERTY_TIMED,
    .needs_clock = true,
    .wants = EVENT_BIT(EVENT_ASKED) | EVENT_BIT(EVENT_GRANTED) | EVENT_BIT(EVENT_FAILED) |
             EVENT_BIT(EVENT_RELEASED) | EVENT_BIT(EVENT_FREED) | EVENT_BIT(EVENT_LINK_UP) |
             EVENT_BIT(EVENT_LINK_DOWN) | EVENT_BIT(EVENT_EXPIRED) | EVENT_BIT(EVENT_NODE_CREATED) |
             EVENT_BIT(EVENT_NODE_DELETED) | EVENT_BIT(EVENT_FAULT) | EVENT_BIT(EVENT_PAUSED) |
             EVENT_BIT(EVENT_RESUMED) | EVENT_BIT(EVENT_CRASHED) | EVENT_BIT(EVENT_REST),
    .needs = 0,
    .records_per_contender = 1,
    .observe = observe,
};
