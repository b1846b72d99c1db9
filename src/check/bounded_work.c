/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Without a reason a recipe does not work for ever.
 *
 * Definition, requests. Between two reasons a process issues at most WORK_MAX requests. Syncs do not count,
 * since a holder may use them to stay fresh. With a clock only the requests of one window count: slow polling
 * passes, a busy loop does not. The reasons of a process are
 *   - ASKED, CANCELED and RELEASED; GRANTED, FAILED, FREED and LOCK_CLOSED; a loss after which an owner waits
 *     again,
 *   - WOKEN, RESUMED, CRASHED, REST, LINK_UP, LINK_DOWN, EXPIRED, and each FAULT of no process,
 *   - without a clock: SETTLED, because a timer then fires only after a change,
 *   - with a clock: a fault of the process. Without a clock, the event that tells the process of its fault
 *     is the reason.
 * Without a clock WOKEN also counts as one request, so that a list behind a wake-up counts as much as one
 * behind a create. States that differ only in this are then one state.
 *
 * Definition, contenders. For each process and lock there is an allowance of contenders, and one of nodes
 * that queue. Without an allowance they are not judged. M is CREATES_MAX times the contenders of a hold; for
 * nodes that queue M is CREATES_MAX.
 *   - ASKED adds M. So does a loss after which an owner waits again (lock_spec.h). A contender that is
 *     created takes 1: at 0 the property is violated.
 *   - GRANTED lowers it to M for each owner that still waits. If no owner waits, GRANTED and SETTLED end it.
 *     CRASHED ends it.
 *   - A fault, EXPIRED and RESUMED raise it to M for each waiting owner, less 1 for each contender by which
 *     no owner holds. At most 1 is subtracted for each waiting owner. With a clock LINK_UP and LINK_DOWN do
 *     so too, because links then break without a fault.
 *   - While an outage of the servers lasts (OUTAGE), contenders are not judged: servers answer that they
 *     cannot do what a contender needs, so a process may try again. The fault that ends the outage renews it.
 *
 * Why. Recipes that create a new contender at each wake-up wake each other for ever, so WOKEN adds nothing.
 * The contender of a failed acquire may be created later, but not behind that of a later grant: a session
 * executes requests in order. A contender that stands is subtracted, so the fault and its creation commute.
 *
 * Example. ASKED: 3. A contender is created (2) and deleted, another one is created (1). A fault: 3 less the
 * one that stands, so 2. GRANTED: the allowance ends.
 *
 * Not seen: loops slower than the window, or with a new fault as the reason of each turn. Contenders that are
 * created while no owner waits. The cost of a request. The bounds are far above the need of a mutex: a
 * handful of requests, and one contender. Checked by tests/check/reference/bounded_work.h. */
#include "base/assert.h"
#include "check/properties.h"

#define WORK_MAX 64
#define CREATES_MAX 3

#define EXCUSES                                                                                              \
    (EVENT_BIT(EVENT_LINK_UP) | EVENT_BIT(EVENT_LINK_DOWN) | EVENT_BIT(EVENT_EXPIRED) |                      \
     EVENT_BIT(EVENT_FAULT) | EVENT_BIT(EVENT_RESUMED) | EVENT_BIT(EVENT_CRASHED))

/* `owner` of RECORD_CREATES. */
enum { LINE, QUEUE, LINES };
#define ALLOWED_MAX 0x7fff /* far above what programs ask for */
#define WORK_WINDOW_MS_DEFAULT 4000

static void judge_request(struct check_table *table, const struct check_context *context,
                          const struct event *event, struct check_note *note)
{
    if (event->request == EVENT_REQUEST_SYNC || event->process == EVENT_PROCESS_NONE)
        return;
    int window_ms = context->work_window_ms > 0 ? context->work_window_ms : WORK_WINDOW_MS_DEFAULT;
    struct check_record *work = table_get(table, RECORD_WORK, 0, event->process, 0);
    if (work && context->timed && event->now_ms - work->began_ms > window_ms) {
        table_drop(table, work);
        work = NULL;
    }
    if (!work)
        work = table_put(table, RECORD_WORK, 0, event->process, 0, context->timed ? event->now_ms : 0, 0);
    LS_ASSERT(work->requests <= WORK_MAX && table_is_alone(table, work));
    if (work->requests == WORK_MAX)
        check_violate(note, "%s issued more than %d requests without being given a reason", WHO, WORK_MAX);
    else
        work->requests++;
}

static int creates_max(const struct check_context *context, int lock, int line)
{
    LS_ASSERT(line >= LINE && line < LINES);
    return line == QUEUE ? CREATES_MAX : CREATES_MAX * lock_nodes(context, lock);
}

static void judge_created(struct check_table *table, const struct check_context *context,
                          const struct event *event, struct check_note *note)
{
    int line = event->node_role == CODE_QUEUED ? QUEUE : LINE;
    struct check_record *allowed = table_get(table, RECORD_CREATES, event->lock, event->process, line);
    bool counts = event->node_role == 1 || event->node_role == CODE_QUEUED;
    if (!counts || !allowed || table_get(table, RECORD_OUTAGE, 0, 0, 0))
        return;
    if (allowed->creates == 0)
        check_violate(
            note, "%s created more than %d %s for each acquire of %s, connected and without a fault", WHO,
            creates_max(context, event->lock, line), line == QUEUE ? "nodes that queue" : "contenders", WHAT);
    else
        allowed->creates--;
}

/* Returns true if this event ends the hold of the claim, and its owner waits again. */
static bool begins_again(const struct check_context *context, const struct check_record *claim,
                         const struct event *event)
{
    bool told = event->kind == EVENT_LOST || (claim->lock == event->lock && claim->owner == event->owner);
    return told && claim->process == event->process && (claim->flags & CLAIM_HOLDING) &&
           lock_waits_again(context, claim->lock);
}

static void forget_requests(struct check_table *table, int process)
{
    table_drop(table, table_get(table, RECORD_WORK, 0, process, 0));
}

static void observe_asked(struct check_table *table, const struct check_context *context,
                          const struct event *event)
{
    for (int line = LINE; line <= (context->queues ? QUEUE : LINE); line++) {
        struct check_record *allowed =
            table_put(table, RECORD_CREATES, event->lock, event->process, line, 0, 0);
        if (allowed->creates <= ALLOWED_MAX)
            allowed->creates += (uint16_t)creates_max(context, event->lock, line);
    }
}

/* The claim that ends still holds: the ledger sees the event after this judge. */
static void observe_loss(struct check_table *table, const struct check_context *context,
                         const struct event *event)
{
    for (int lock = 0; lock < context->locks; lock++) {
        struct check_record *claim = table_first_lock(table, RECORD_CLAIM, lock);
        int again = 0;
        for (; claim; claim = table_next_lock(table, claim))
            again += begins_again(context, claim, event);
        struct event asked = *event;
        asked.lock = (uint8_t)lock;
        LS_ASSERT(again == 0 || lock_waits_again(context, lock));
        for (; again > 0; again--) {
            observe_asked(table, context, &asked);
            forget_requests(table, event->process);
        }
    }
}

static void observe_granted(struct check_table *table, const struct check_context *context,
                            const struct event *event)
{
    int waiting = ledger_claims(table, event->lock, event->process, CLAIM_WAITING);
    waiting -= ledger_waits(table, event);
    LS_ASSERT(waiting >= 0);
    for (int line = LINE; line < LINES; line++) {
        struct check_record *allowed = table_get(table, RECORD_CREATES, event->lock, event->process, line);
        int most = creates_max(context, event->lock, line) * waiting;
        if (allowed && most == 0)
            table_drop(table, allowed);
        else if (allowed && allowed->creates > most)
            allowed->creates = (uint16_t)most;
    }
}

/* At SETTLED, ends the allowances for locks that no owner waits for. No request is under way, so no contender
 * of a failed acquire is still to come. */
static void forget(struct check_table *table, const struct check_context *context, int process)
{
    for (int lock = 0; lock < context->locks; lock++) {
        if (ledger_claims(table, lock, process, CLAIM_WAITING) == 0)
            table_drop_lock(table, RECORD_CREATES, lock, process);
    }
}

/* Returns the number of the process's nodes that queue, or of its contenders by which no owner holds. */
static int standing(struct check_table *table, int lock, int process, int line)
{
    int count = 0;
    struct check_record *node = table_first_lock(table, line == QUEUE ? RECORD_QUEUED : RECORD_NODE, lock);
    for (; node; node = table_next_lock(table, node)) {
        bool held = line != QUEUE && ledger_holder(table, lock, process, node->czxid);
        count += node->process == process && !held;
    }
    return count;
}

static void renew_line(struct check_table *table, const struct check_context *context, int lock, int process,
                       int line)
{
    struct check_record *allowed = table_get(table, RECORD_CREATES, lock, process, line);
    if (!allowed)
        return;
    int waiting = ledger_claims(table, lock, process, CLAIM_WAITING);
    int stand = standing(table, lock, process, line);
    int least = creates_max(context, lock, line) * waiting - (stand < waiting ? stand : waiting);
    LS_ASSERT(least >= 0);
    if (allowed->creates < least)
        allowed->creates = (uint16_t)least;
}

static void renew(struct check_table *table, const struct check_context *context, int process)
{
    for (int lock = 0; lock < context->locks; lock++) {
        for (int line = LINE; line < LINES; line++)
            renew_line(table, context, lock, process, line);
    }
}

static void excuse(struct check_table *table, const struct check_context *context, const struct event *event)
{
    LS_ASSERT((EVENT_BIT(event->kind) & EXCUSES) != 0);
    bool unnoticed = event->kind == EVENT_FAULT && !context->timed;
    bool of_link = event->kind == EVENT_LINK_UP || event->kind == EVENT_LINK_DOWN;
    if (event->process == EVENT_PROCESS_NONE) {
        table_drop_all(table, RECORD_WORK);
        for (int process = 0; process < context->processes; process++)
            renew(table, context, process);
        return;
    }
    if (!unnoticed)
        forget_requests(table, event->process);
    if (event->kind == EVENT_CRASHED)
        table_drop_process(table, RECORD_CREATES, event->process);
    else if (!of_link || context->timed) /* without a clock a fault came before, and has renewed it */
        renew(table, context, event->process);
}

/* Renews nothing at the end of an outage: the FAULT that ends it comes before this event, and has done so. */
static void observe_outage(struct check_table *table, const struct event *event)
{
    if (event->outage != 0)
        table_put(table, RECORD_OUTAGE, 0, 0, 0, 0, 0);
    else
        table_drop_all(table, RECORD_OUTAGE);
}

static void observe(struct check_table *table, const struct check_context *context, const struct event *event,
                    struct check_note *note)
{
    switch (event->kind) {
    case EVENT_REQUEST:
        judge_request(table, context, event, note);
        break;
    case EVENT_NODE_CREATED:
        judge_created(table, context, event, note);
        break;
    case EVENT_GRANTED:
    case EVENT_FAILED:
    case EVENT_FREED:
        note->premises = table_get(table, RECORD_WORK, 0, event->process, 0) != NULL;
        forget_requests(table, event->process);
        if (event->kind == EVENT_GRANTED)
            observe_granted(table, context, event);
        break;
    case EVENT_ASKED:
        observe_asked(table, context, event);
        forget_requests(table, event->process);
        break;
    case EVENT_LOST:
    case EVENT_HOLD_LOST:
        observe_loss(table, context, event);
        break;
    case EVENT_CANCELED:
    case EVENT_RELEASED:
    case EVENT_LOCK_CLOSED:
        forget_requests(table, event->process);
        break;
    case EVENT_WOKEN:
        forget_requests(table, event->process);
        if (!context->timed)
            table_put(table, RECORD_WORK, 0, event->process, 0, 0, 0)->requests = 1;
        break;
    case EVENT_SETTLED:
        if (!context->timed)
            forget_requests(table, event->process);
        forget(table, context, event->process);
        break;
    case EVENT_REST:
        table_drop_all(table, RECORD_WORK);
        break;
    case EVENT_OUTAGE:
        observe_outage(table, event);
        break;
    default:
        excuse(table, context, event);
        break;
    }
}

static bool is_local(const struct event *event)
{
    return (EVENT_BIT(event->kind) &
            (EVENT_BIT(EVENT_REQUEST) | EVENT_BIT(EVENT_FREED) | EVENT_BIT(EVENT_WOKEN) |
             EVENT_BIT(EVENT_SETTLED) | EVENT_BIT(EVENT_LINK_UP) | EVENT_BIT(EVENT_LINK_DOWN))) != 0;
}

const struct property check_bounded_work = {
    .name = "bounded_work",
    .sentence =
        "without a reason a process issues a bounded number of requests, and in one wait a few nodes at most",
    .premise = "answers and completed releases that took requests",
    .blind_to = "loops slower than the window; syncs; loops that a fault gives a reason at every turn; "
                "contenders created while no owner waits, or in an outage of the servers that lasts",
    .modes = PROPERTY_ALWAYS,
    .wants = EVENT_BIT(EVENT_REQUEST) | EVENT_BIT(EVENT_NODE_CREATED) | EVENT_BIT(EVENT_GRANTED) |
             EVENT_BIT(EVENT_FAILED) | EVENT_BIT(EVENT_FREED) | EVENT_BIT(EVENT_ASKED) |
             EVENT_BIT(EVENT_CANCELED) | EVENT_BIT(EVENT_RELEASED) | EVENT_BIT(EVENT_WOKEN) |
             EVENT_BIT(EVENT_REST) | EVENT_BIT(EVENT_LINK_UP) | EVENT_BIT(EVENT_LINK_DOWN) |
             EVENT_BIT(EVENT_EXPIRED) | EVENT_BIT(EVENT_FAULT) | EVENT_BIT(EVENT_RESUMED) |
             EVENT_BIT(EVENT_CRASHED) | EVENT_BIT(EVENT_SETTLED) | EVENT_BIT(EVENT_LOCK_CLOSED) |
             EVENT_BIT(EVENT_LOST) | EVENT_BIT(EVENT_HOLD_LOST) | EVENT_BIT(EVENT_OUTAGE),
    .needs = CHECK_NEEDS_CLAIMS | CHECK_NEEDS_NODES,
    .records_per_process = 1,
    .records_per_contender = 1,
    .is_local = is_local,
    .observe = observe,
};
