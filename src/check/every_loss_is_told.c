/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Listeners are told of every loss, once and in order.
 *
 * Formula.
 *   - Between two session ids that a process is told of comes exactly one LOST, which names the first or
 *     none, before the CONNECTED of the second. The next CONNECTED does not name the lost session.
 *   - The client library knows of a loss once it has delivered EXPIRED or AUTH_FAILED, or has connected with
 *     another session id. LOST follows before the next GRANTED, CONNECTED or LINK_UP, and by the next REST.
 *   - SUSPENDED tells of a broken link before it comes back, and by the next REST. RECONNECTED names the
 *     session of the last CONNECTED, and no LOST came in between.
 *   - If SUSPENDED was told, and the link of the same session is back, one of these follows by the next REST:
 *     RECONNECTED, READ_ONLY, CONNECTED, LOST, LINK_DOWN, EXPIRED, AUTH_FAILED.
 * Not seen: sessions that the recipe never reported, and losses of which no server has told the client. The C
 * client never expires a session by its own clock (F14). Checked by
 * tests/check/reference/every_loss_is_told.h. */
#include "base/assert.h"
#include "check/properties.h"

#define TOLD_LOST_DUE 0x01u    /* a loss that the client library knows was not told yet */
#define TOLD_SUSPEND_DUE 0x02u /* likewise a broken link */
#define TOLD_LOST 0x04u        /* a loss was told last */
#define TOLD_SUSPENDED 0x08u   /* a broken link was told, and not yet its end */
#define TOLD_BACK_DUE 0x10u    /* SUSPENDED was told; the return of that session's link was not told yet */

static struct check_record *told_of(struct check_table *table, int process)
{
    struct check_record *told = table_get(table, RECORD_TOLD, 0, process, 0);
    return told ? told : table_put(table, RECORD_TOLD, 0, process, 0, 0, 0);
}

static void judge_reconnected(struct check_record *told, const struct check_context *context,
                              const struct event *event, struct check_note *note)
{
    told->flags &= (uint16_t) ~(TOLD_SUSPENDED | TOLD_BACK_DUE);
    if (told->session == 0 || told->session != event->session)
        check_violate(note, "%s was told that session 0x%llx is reconnected, but the session it knew was %s",
                      WHO, (unsigned long long)event->session, told->session == 0 ? "lost" : "another");
}

static void judge_lost(struct check_record *told, const struct check_context *context,
                       const struct event *event, struct check_note *note)
{
    if (told->session == 0 && (told->flags & TOLD_LOST))
        check_violate(note, "%s was told twice that its session 0x%llx is lost", WHO,
                      (unsigned long long)event->session);
    if (told->session != 0 && event->session != 0 && told->session != event->session)
        check_violate(note, "%s was told that session 0x%llx is lost, but the session it knew was 0x%llx",
                      WHO, (unsigned long long)event->session, (unsigned long long)told->session);
    if (told->session != 0)
        told->lost_session = told->session;
    told->session = 0;
    told->flags = TOLD_LOST;
}

static void judge_due(const struct check_record *told, const struct check_context *context, const char *when,
                      struct check_note *note)
{
    if (told->flags & TOLD_LOST_DUE)
        check_violate(note, "%s has not been told of the loss of session 0x%llx %s",
                      check_process_name(context, told->process).text, (unsigned long long)told->session,
                      when);
    if (told->flags & TOLD_SUSPEND_DUE)
        check_violate(note, "%s has not been told that the link of session 0x%llx was down %s",
                      check_process_name(context, told->process).text, (unsigned long long)told->session,
                      when);
}

static void judge_connected(struct check_record *told, const struct check_context *context,
                            const struct event *event, struct check_note *note)
{
    if (told->session != 0 && told->session != event->session)
        check_violate(note, "%s was told that session 0x%llx is connected, but never that 0x%llx was lost",
                      WHO, (unsigned long long)event->session, (unsigned long long)told->session);
    if (told->lost_session != 0 && told->lost_session == event->session)
        check_violate(note, "%s was told that session 0x%llx is connected, after it was told of its loss",
                      WHO, (unsigned long long)event->session);
    if (told->session == event->session && (told->flags & TOLD_LOST_DUE))
        judge_due(told, context, "when it was told that it is connected", note);
    told->session = event->session;
    told->lost_session = 0;
    told->flags = 0;
}

static void observe_link(struct check_record *told, const struct check_context *context,
                         const struct event *event, struct check_note *note)
{
    if (told->session == 0)
        return;
    if (event->kind == EVENT_LINK_DOWN) {
        note->premises = 1;
        told->flags = (uint16_t)((told->flags & ~TOLD_BACK_DUE) | TOLD_SUSPEND_DUE);
    } else if (event->kind == EVENT_LINK_UP) {
        judge_due(told, context, "when the link came back", note);
        if (event->session != told->session) {
            note->premises = 1;
            told->flags |= TOLD_LOST_DUE;
        } else if (told->flags & TOLD_SUSPENDED)
            told->flags |= TOLD_BACK_DUE;
    } else {
        LS_ASSERT(event->kind == EVENT_EXPIRED || event->kind == EVENT_AUTH_FAILED);
        note->premises = 1;
        told->flags = (uint16_t)((told->flags & ~(TOLD_SUSPEND_DUE | TOLD_BACK_DUE)) | TOLD_LOST_DUE);
    }
}

static void judge_rest(struct check_table *table, const struct check_context *context,
                       struct check_note *note)
{
    struct check_record *told;
    for (told = table_first(table, RECORD_TOLD); told; told = table_next(table, told)) {
        LS_ASSERT(told->session != 0 || told->flags != 0);
        LS_ASSERT((told->flags & TOLD_BACK_DUE) == 0 || (told->flags & TOLD_SUSPENDED));
        judge_due(told, context, "at rest", note);
        if (told->flags & TOLD_BACK_DUE)
            check_violate(note, "at rest %s has not been told that session 0x%llx is reconnected",
                          check_process_name(context, told->process).text, (unsigned long long)told->session);
    }
}

static void observe(struct check_table *table, const struct check_context *context, const struct event *event,
                    struct check_note *note)
{
    if (event->kind == EVENT_REST) {
        judge_rest(table, context, note);
        return;
    }
    if (event->kind == EVENT_CRASHED) {
        table_drop_process(table, RECORD_TOLD, event->process);
        return;
    }
    struct check_record *told = told_of(table, event->process);
    LS_ASSERT(table_is_alone(table, told));
    switch (event->kind) {
    case EVENT_CONNECTED:
        judge_connected(told, context, event, note);
        break;
    case EVENT_RECONNECTED:
        judge_reconnected(told, context, event, note);
        break;
    case EVENT_SUSPENDED:
        told->flags = (uint16_t)((told->flags & ~TOLD_SUSPEND_DUE) | TOLD_SUSPENDED);
        break;
    case EVENT_READ_ONLY:
        told->flags &= (uint16_t) ~(TOLD_SUSPENDED | TOLD_BACK_DUE);
        break;
    case EVENT_LOST:
        judge_lost(told, context, event, note);
        break;
    case EVENT_GRANTED:
        if (told->flags & TOLD_LOST_DUE)
            judge_due(told, context, "before the next grant", note);
        break;
    default:
        observe_link(told, context, event, note);
        break;
    }
    if (told->session == 0 && told->flags == 0)
        table_drop(table, told);
}

/* All records are of one process and change by events of that process; REST reads all of them. */
static bool is_local(const struct event *event)
{
    return event->kind != EVENT_REST;
}

const struct property check_every_loss_is_told = {
    .name = "every_loss_is_told",
    .sentence =
        "each process is told exactly once of the loss of each session, before the next one is connected",
    .premise = "losses and broken links that the client library delivered",
    .blind_to = "losses that no server has told the client of; sessions that the recipe never spoke of",
    .modes = PROPERTY_ALWAYS,
    .wants = EVENT_BIT(EVENT_CONNECTED) | EVENT_BIT(EVENT_RECONNECTED) | EVENT_BIT(EVENT_SUSPENDED) |
             EVENT_BIT(EVENT_LOST) | EVENT_BIT(EVENT_GRANTED) | EVENT_BIT(EVENT_LINK_UP) |
             EVENT_BIT(EVENT_LINK_DOWN) | EVENT_BIT(EVENT_EXPIRED) | EVENT_BIT(EVENT_AUTH_FAILED) |
             EVENT_BIT(EVENT_READ_ONLY) | EVENT_BIT(EVENT_REST) | EVENT_BIT(EVENT_CRASHED),
    .needs = 0,
    .records_per_process = 1,
    .is_local = is_local,
    .observe = observe,
};
