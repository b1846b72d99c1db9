/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* At most one owner whose query answers "held" (D6).
 *
 * Untimed, every correct lock fails it with one expiry: nothing says how much time passes between the expiry
 * at the coordinator and the moment when the old holder hears of it. So it is judged in timed runs, or when a
 * file names it.
 *
 * It does not see: what a caller does between two queries; on a real server belief is sampled, and an overlap
 * shorter than the sampling interval is missed. */
#include <check/properties.h>

static void judge_believer(struct check_table *table, const struct check_context *context,
                           const struct event *event, struct check_note *note)
{
    if (table_get(table, RECORD_BELIEVER, event->lock, event->process, event->owner))
        return;
    note->premises = 1;
    const struct check_record *other = table_first_lock(table, RECORD_BELIEVER, event->lock);
    if (other)
        check_violate(note, "%s (owner %d) believes to hold %s while %s (owner %d) believes it too", WHO,
                      event->owner, WHAT, check_process_name(context, other->process).text, other->owner);
    table_put(table, RECORD_BELIEVER, event->lock, event->process, event->owner, 0, 0);
}

static void observe(struct check_table *table, const struct check_context *context, const struct event *event,
                    struct check_note *note)
{
    if (event->kind == EVENT_BELIEVES)
        judge_believer(table, context, event, note);
    else if (event->kind == EVENT_DOUBTS)
        table_drop(table, table_get(table, RECORD_BELIEVER, event->lock, event->process, event->owner));
    else
        table_drop_process(table, RECORD_BELIEVER, event->process); /* the dead believe nothing */
}

const struct property check_at_most_one_believer = {
    .name = "at_most_one_believer",
    .sentence = "at most one owner at a time is told by its recipe that it holds the lock",
    .premise = "times somebody began to believe",
    .blind_to = "callers that do not ask again; on a real server overlaps shorter than the sampling interval",
    .modes = PROPERTY_TIMED,
    .wants = EVENT_BIT(EVENT_BELIEVES) | EVENT_BIT(EVENT_DOUBTS) | EVENT_BIT(EVENT_CRASHED),
    .needs = 0,
    .records_per_contender = 1,
    .observe = observe,
};
