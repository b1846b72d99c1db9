/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Requests to give a lock back reach the holder, once each, and are answered to the client that asks.
 *
 * Formula, for a lock and a process. A request for a node is a NODE_SET of it by a client. A process listens
 * from a LISTENS that says "done" until it closes the lock, stops or crashes.
 *   - Each REVOKE_SENT answers one REVOKES of the process that has no answer yet. At REST, if the process is
 *     connected, each REVOKES has its REVOKE_SENT.
 *   - REVOKE_SENT says "done", "no such contender" or "pending already". It may say "closed" if a REVOKES
 *     without an answer came without a link, or CLOSES of the lock came after one. It may say "closed" or
 *     "unsure" if SESSION_CLOSING of the process came after one. A fault excuses any other code.
 *   - LISTENS says "done" or "unsupported", or a fault comes before it.
 *   - Before each REVOKE_ASKED with the token t of an existing node, there are more requests for t than
 *     REVOKE_ASKED with t.
 *   - At REST, let the process be connected and listen. Then the last request for the node of each of its
 *     holds is told by a later REVOKE_ASKED, or overwritten by a NODE_SET of the operator.
 * A fault is as in answers_have_reasons.c.
 *
 * Not seen: the contender that is asked. The time until a request is told. A second request that overtakes
 * the first. Checked by tests/check/reference/every_revocation_is_told.h. */
#include "base/assert.h"
#include "check/properties.h"

#define QUESTION_EXCUSED 0x01u /* "closed" has a reason */
#define QUESTION_ENDING 0x02u  /* "closed" and "unsure" have a reason: the session ends */
#define REQUEST_UNTOLD 0x01u   /* the last request for the node was not told */

static void put_question(struct check_table *table, const struct event *event)
{
    struct check_record *question = table_get(table, RECORD_QUESTION, event->lock, event->process, 0);
    if (!question)
        question = table_put(table, RECORD_QUESTION, event->lock, event->process, 0, 0, 0);
    if (!ledger_is_linked(table, event->process))
        question->flags |= QUESTION_EXCUSED;
    question->pending++;
}

static void judge_answer(struct check_table *table, const struct check_context *context,
                         const struct event *event, struct check_note *note)
{
    struct check_record *question = table_get(table, RECORD_QUESTION, event->lock, event->process, 0);
    note->premises = 1;
    if (!question) {
        check_violate(note, "%s was told of a request to give %s back, but none of it is without an answer",
                      WHO, WHAT);
        return;
    }
    LS_ASSERT(table_is_alone(table, question));
    bool plain = event->rc == 0 || event->rc == CODE_NOTHING_PENDING || event->rc == CODE_ALREADY;
    bool ending = (question->flags & QUESTION_ENDING) != 0;
    bool excused = (event->rc == CODE_CLOSED && (ending || (question->flags & QUESTION_EXCUSED))) ||
                   (event->rc == CODE_UNSURE && ending);
    if (!plain && !excused && !ledger_may_fail(table, context))
        check_violate(note, "the request of %s to give %s back failed (%d), but nothing had gone wrong", WHO,
                      WHAT, event->rc);
    if (--question->pending == 0)
        table_drop(table, question);
}

static void judge_listens(struct check_table *table, const struct check_context *context,
                          const struct event *event, struct check_note *note)
{
    if (event->rc != 0 && event->rc != CODE_UNSUPPORTED && !ledger_may_fail(table, context))
        check_violate(note, "%s cannot be asked to give %s back (%d), but nothing had gone wrong", WHO, WHAT,
                      event->rc);
}

static void observe_set(struct check_table *table, const struct event *event)
{
    if (event->node_role != 1 || event->lock == EVENT_LOCK_NONE)
        return;
    struct check_record *request =
        table_get_exact(table, RECORD_REQUEST, event->lock, event->process, 0, event->czxid);
    if (event->owner == EVENT_BY_OPERATOR) {
        if (request)
            request->flags = 0;
        return;
    }
    request = table_put(table, RECORD_REQUEST, event->lock, event->process, 0, event->czxid, 0);
    request->pending++;
    request->flags = REQUEST_UNTOLD;
}

static void judge_asked(struct check_table *table, const struct check_context *context,
                        const struct event *event, struct check_note *note)
{
    int64_t czxid = ledger_node_of_token(ledger_claim(table, event), event->token);
    struct check_record *request =
        table_get_exact(table, RECORD_REQUEST, event->lock, event->process, 0, czxid);
    note->premises = 1;
    if (!ledger_node(table, event->lock, czxid))
        return;
    if (!request) {
        check_violate(note, "%s (owner %d) was asked to give %s back once more than others have asked", WHO,
                      event->owner, WHAT);
        return;
    }
    LS_ASSERT((request->flags & ~REQUEST_UNTOLD) == 0);
    request->flags = 0;
    if (--request->pending == 0)
        table_drop(table, request);
}

static void judge_rest(struct check_table *table, const struct check_context *context,
                       struct check_note *note)
{
    struct check_record *record;
    for (record = table_first(table, RECORD_QUESTION); record; record = table_next(table, record))
        if (ledger_answerable(table, record->process))
            check_violate(note, "at rest %s has no answer to its request to give %s back",
                          check_process_name(context, record->process).text,
                          check_lock_name(context, record->lock).text);
    for (record = table_first(table, RECORD_REQUEST); record; record = table_next(table, record)) {
        bool listens = ledger_listens(table, record->lock, record->process);
        if (listens && (record->flags & REQUEST_UNTOLD) && ledger_answerable(table, record->process) &&
            ledger_holder(table, record->lock, record->process, record->czxid))
            check_violate(note, "at rest %s has not been told that it is asked to give %s back",
                          check_process_name(context, record->process).text,
                          check_lock_name(context, record->lock).text);
    }
}

static void observe_closes(struct check_table *table, const struct event *event)
{
    struct check_record *question = table_get(table, RECORD_QUESTION, event->lock, event->process, 0);
    if (question)
        question->flags |= QUESTION_EXCUSED;
}

static void observe_session_closing(struct check_table *table, const struct event *event)
{
    struct check_record *question = table_first(table, RECORD_QUESTION);
    for (; question; question = table_next(table, question))
        if (question->process == event->process)
            question->flags |= QUESTION_ENDING;
}

static void observe(struct check_table *table, const struct check_context *context, const struct event *event,
                    struct check_note *note)
{
    switch (event->kind) {
    case EVENT_REVOKES:
        put_question(table, event);
        break;
    case EVENT_REVOKE_SENT:
        judge_answer(table, context, event, note);
        break;
    case EVENT_LISTENS:
        judge_listens(table, context, event, note);
        break;
    case EVENT_NODE_SET:
        observe_set(table, event);
        break;
    case EVENT_REVOKE_ASKED:
        judge_asked(table, context, event, note);
        break;
    case EVENT_NODE_DELETED:
        ledger_note_fault(table, event);
        table_drop(table,
                   table_get_exact(table, RECORD_REQUEST, event->lock, event->process, 0, event->czxid));
        break;
    case EVENT_CLOSES:
        observe_closes(table, event);
        break;
    case EVENT_SESSION_CLOSING:
        observe_session_closing(table, event);
        break;
    case EVENT_FAULT:
        ledger_note_fault(table, event);
        break;
    case EVENT_REST:
        judge_rest(table, context, note);
        break;
    default: /* the process is gone */
        LS_ASSERT(event->kind == EVENT_CRASHED);
        table_drop_process(table, RECORD_QUESTION, event->process);
        break;
    }
}

const struct property check_every_revocation_is_told = {
    .name = "every_revocation_is_told",
    .sentence = "requests to give a lock back reach a holder that listens, once each, and are answered",
    .premise = "requests to give a lock back that were told or answered",
    .blind_to = "which contender is asked; how soon a request is told",
    .modes = PROPERTY_ALWAYS,
    .wants = EVENT_BIT(EVENT_REVOKES) | EVENT_BIT(EVENT_REVOKE_SENT) | EVENT_BIT(EVENT_LISTENS) |
             EVENT_BIT(EVENT_NODE_SET) | EVENT_BIT(EVENT_REVOKE_ASKED) | EVENT_BIT(EVENT_NODE_DELETED) |
             EVENT_BIT(EVENT_CLOSES) | EVENT_BIT(EVENT_FAULT) | EVENT_BIT(EVENT_SESSION_CLOSING) |
             EVENT_BIT(EVENT_REST) | EVENT_BIT(EVENT_CRASHED) | EVENT_BIT(EVENT_STOPPED),
    .needs = CHECK_NEEDS_PROCESSES | CHECK_NEEDS_CLAIMS | CHECK_NEEDS_NODES | CHECK_NEEDS_LISTENERS,
    .records_per_process = 2,
    .records_per_contender = 1,
    .observe = observe,
};
