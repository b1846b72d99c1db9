/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A recipe that is given no reason to work does not work for ever.
 *
 *   - Between two reasons (asked, answered, cancelled, released, closed, woken, a link or session event, a fault,
 * rest) a process issues at most WORK_MAX requests. Syncs do not count: a holder may keep itself fresh with
 * them at a steady pace. In timed runs only the requests of one window count, so that slow polling passes and
 * a busy loop does not. In untimed runs, where a timer only fires when something has changed, a process that has nothing
 * under way begins anew. A wake-up counts as one request: whoever looks at the line then has done as much as whoever looks
 * behind creating a node, and states that are alike but for that are one.
 *   - In one wait, while connected and without a fault (with a clock: or a broken link), a process creates at most CREATES_MAX
 * contenders for each owner who waits. Wake-ups are no excuse here: recipes that give up their place at each wake-up wake
 * each other for ever. Of one that stands when a fault excuses the others, nothing is forgotten, because it was
 * created in any case. Who gives up while its contender has not been created may leave one that comes later: that one
 * counts for nobody.
 *
 * It does not see: loops that are slower than the window; loops of which each turn is given a new reason by a
 * fault; a node in place of one that was on its way when its owner gave up; three of another owner each time that one gives up;
 * what requests cost the server. The bounds are far above what a mutex needs (a handful, and one). */
#include <check/properties.h>

#define WORK_MAX 64
#define CREATES_MAX 3
#define LEFT_MAX 7 /* more are not remembered */
#define WORK_WINDOW_MS_DEFAULT 4000

static void judge_request(struct check_table *table, const struct check_context *context,
                          const struct event *event, struct check_note *note)
{
    if (event->code == EVENT_REQUEST_SYNC || event->process == EVENT_PROCESS_NONE)
        return;
    int window_ms = context->work_window_ms > 0 ? context->work_window_ms : WORK_WINDOW_MS_DEFAULT;
    struct check_record *work = table_get(table, RECORD_WORK, 0, event->process, 0);
    if (work && context->timed && event->now_ms - work->a > window_ms) {
        table_drop(table, work);
        work = NULL;
    }
    if (!work)
        work = table_put(table, RECORD_WORK, 0, event->process, 0, context->timed ? event->now_ms : 0, 0);
    if (work->flags == WORK_MAX)
        check_violate(note, "%s issued more than %d requests without being given a reason", WHO, WORK_MAX);
    else
        work->flags++;
}

/* A process that has created nothing, and of which nothing may come later, has no record. */
static void settle_creates(struct check_table *table, struct check_record *creates)
{
    if (creates->flags == 0 && creates->depth == 0)
        table_drop(table, creates);
}

static void judge_created(struct check_table *table, const struct check_context *context,
                          const struct event *event, struct check_note *note)
{
    if (event->code != 1)
        return;
    int waiting = ledger_claims(table, event->lock, event->process, CLAIM_WAITING);
    struct check_record *creates = table_get(table, RECORD_CREATES, event->lock, event->process, 0);
    if (creates && creates->depth > 0) {
        creates->depth--;
        settle_creates(table, creates);
        return;
    }
    if (waiting == 0)
        return;
    if (!creates)
        creates = table_put(table, RECORD_CREATES, event->lock, event->process, 0, 0, 0);
    if (creates->flags >= CREATES_MAX * waiting)
        check_violate(note,
                      "%s created more than %d contenders for %s in one wait, connected and without a fault",
                      WHO, CREATES_MAX * waiting, WHAT);
    else
        creates->flags++;
}

/* An owner's wait ends, and its share of what was created with it: of who is granted the lock the one that he stands in line with, of
 * who gives up beside others as many as he may have. Requests of one process are done in order, so that what is still to come of
 * those who gave up comes before what those create who wait now. */
static void end_wait(struct check_table *table, const struct event *event)
{
    int waiting = ledger_claims(table, event->lock, event->process, CLAIM_WAITING); /* and this one */
    bool failed = event->kind == EVENT_FAILED;
    struct check_record *creates = table_get(table, RECORD_CREATES, event->lock, event->process, 0);
    if (!creates && !failed)
        return;
    if (!creates)
        creates = table_put(table, RECORD_CREATES, event->lock, event->process, 0, 0, 0);
    bool all_created = creates->depth == 0 && creates->flags >= waiting;
    if (failed && !all_created && creates->depth < LEFT_MAX)
        creates->depth++;
    int share = failed ? CREATES_MAX : 1;
    bool some_remain = waiting > 1 && creates->flags > share;
    creates->flags = some_remain ? (uint16_t)(creates->flags - share) : 0;
    settle_creates(table, creates);
}

/* Nothing is under way: what has not come of those who gave up does not come any more. */
static void expect_no_more(struct check_table *table, const struct check_context *context, int process)
{
    for (int lock = 0; lock < context->locks; lock++) {
        struct check_record *creates = table_get(table, RECORD_CREATES, lock, process, 0);
        if (!creates)
            continue;
        creates->depth = 0;
        settle_creates(table, creates);
    }
}

/* The contenders that a process has created count no more, but for one that stands. */
static void excuse_creates(struct check_table *table, const struct check_context *context, int process)
{
    for (int lock = 0; lock < context->locks; lock++) {
        struct check_record *creates = table_get(table, RECORD_CREATES, lock, process, 0);
        if (!creates)
            continue;
        creates->flags = creates->flags > 0 && table_get(table, RECORD_NODE, lock, process, 0) ? 1 : 0;
        settle_creates(table, creates);
    }
}

/* What happens to a process, or to the servers, excuses what it has done so far. Without a clock a fault of one process excuses
 * its contenders at once, and its work when it is told of it: states would differ in whether it happened before or after a
 * request, or whether a link was told of before or after a node was gone. With one, links break by themselves. */
static void excuse(struct check_table *table, const struct check_context *context, const struct event *event)
{
    bool unnoticed = event->kind == EVENT_FAULT && !context->timed;
    bool known = (event->kind == EVENT_LINK_UP || event->kind == EVENT_LINK_DOWN) && !context->timed;
    if (event->process == EVENT_PROCESS_NONE) {
        table_drop_all(table, RECORD_WORK);
        for (int process = 0; process < context->processes; process++)
            excuse_creates(table, context, process);
        return;
    }
    if (!unnoticed)
        table_drop_process(table, RECORD_WORK, event->process);
    if (event->kind == EVENT_CRASHED)
        table_drop_process(table, RECORD_CREATES, event->process);
    else if (!known)
        excuse_creates(table, context, event->process);
}

static void observe_answer(struct check_table *table, const struct event *event, struct check_note *note)
{
    struct check_record *work = table_get(table, RECORD_WORK, 0, event->process, 0);
    note->premises = work ? 1 : 0;
    table_drop(table, work);
    if (event->kind != EVENT_FREED)
        end_wait(table, event);
}

static void observe_caller(struct check_table *table, const struct check_context *context,
                           const struct event *event)
{
    table_drop_process(table, RECORD_WORK, event->process);
    if (event->kind == EVENT_WOKEN && !context->timed)
        table_put(table, RECORD_WORK, 0, event->process, 0, 0, 0)->flags = 1;
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
        observe_answer(table, event, note);
        break;
    case EVENT_ASKED:
    case EVENT_CANCELED:
    case EVENT_RELEASED:
    case EVENT_LOCK_CLOSED:
    case EVENT_WOKEN:
        observe_caller(table, context, event);
        break;
    case EVENT_SETTLED:
        if (!context->timed)
            table_drop_process(table, RECORD_WORK, event->process);
        expect_no_more(table, context, event->process);
        break;
    case EVENT_REST:
        table_drop_all(table, RECORD_WORK);
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
                "nodes that come behind a wait that was given up, or stand beside one",
    .modes = PROPERTY_ALWAYS,
    .wants = EVENT_BIT(EVENT_REQUEST) | EVENT_BIT(EVENT_NODE_CREATED) | EVENT_BIT(EVENT_GRANTED) |
             EVENT_BIT(EVENT_FAILED) | EVENT_BIT(EVENT_FREED) | EVENT_BIT(EVENT_ASKED) |
             EVENT_BIT(EVENT_CANCELED) | EVENT_BIT(EVENT_RELEASED) | EVENT_BIT(EVENT_WOKEN) |
             EVENT_BIT(EVENT_REST) | EVENT_BIT(EVENT_LINK_UP) | EVENT_BIT(EVENT_LINK_DOWN) |
             EVENT_BIT(EVENT_EXPIRED) | EVENT_BIT(EVENT_FAULT) | EVENT_BIT(EVENT_RESUMED) |
             EVENT_BIT(EVENT_CRASHED) | EVENT_BIT(EVENT_SETTLED) | EVENT_BIT(EVENT_LOCK_CLOSED),
    .needs = CHECK_NEEDS_CLAIMS | CHECK_NEEDS_NODES,
    .records_per_process = 1,
    .records_per_contender = 1,
    .is_local = is_local,
    .observe = observe,
};
