/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Every answer has a reason, and every question has an answer.
 *
 * Formula. Let A = ASKED of an owner, and F = FAILED, its answer.
 *   - GRANTED and FAILED come only to an owner with an unanswered ASKED, or to one that waits again after a
 *     loss (lock_spec.h). FREED comes only after a RELEASED that left depth 0 and has no FREED yet.
 *   - F and FREED have a code of enum ls_err, F none that means success.
 *   - F "timed out": the timeout of A was more than 0. With a clock, F is not before time(A) + timeout.
 *   - F "canceled": CANCELED of the owner comes between A and F.
 *   - F "busy": the timeout of A was 0, and one of these excuses it:
 *       - At A the next contender would not have been admitted (check/state.h), or a node queued for the
 *         lock.
 *       - The process created a contender of the lock that was not admitted.
 *       - A contender was created beside which the next contender of A would not be admitted: by this process
 *         for another lock of the group, or by another process while this one had none in the group.
 *       - A node of another process queued while none of this process did, or the process learned of a
 *         smaller capacity.
 *       - The process was not connected at some moment from A to F.
 *       - At A the process was undoing on the lock: a RELEASED (depth 0) had no FREED, or after a FAILED
 *         there was no SETTLED, EXPIRED or LOST.
 *       - Another lock that A asked for in one call has such an excuse.
 *   - F "out of memory": a fault of memory comes before F, or at F the process has another claim that waits
 *     or holds, on any lock. The recipe may have no room for one more.
 *   - F "gave up": a fault comes before F.
 *   - F "closed" comes within stop(), or within close() of the lock.
 *   - F "pending already": one of these is true at F. The process is undoing as for "busy". The owner holds,
 *     and the recipe is not reentrant. The owner has not released a lost hold. The owner waits for another
 *     lock of the group.
 *   - F "deadlock": the owner holds or waits for another lock of the group, or a fault that is more than a
 *     loss comes before F.
 *   - Any other F: a fault that is more than a loss comes before F. An acquire outlives broken links and the
 *     ends of sessions.
 *   - FREED with an error comes within stop(), or within close() of the lock, or after a fault.
 *   - If query() says "not held" (DOUBTS) while the owner holds, the node of its hold is gone.
 *   - HOLD_LOST comes only to an owner that holds. Its node is gone, or that of a hold of the same call, or
 *     the loss of such a hold was told. Or a fault came before, and in the same step a timer fired that ends
 *     the belief in a lease.
 *   - In a world without a clock and before any fault, query() of an owner that holds does not say "unknown"
 *     (DOUBTS). A timer that fires, and is no deadline, excuses it: any time may have passed.
 *   - WRITTEN, the answer to a guarded write, says "done", "lost" or "not owner", or a fault comes before it.
 *     If it says "lost" or "not owner", the owner does not hold with that token, or the node is gone.
 *   - At REST, if the process is connected, each acquire that was a try or was cancelled has its answer. Each
 *     RELEASED that left depth 0 has a FREED of its own, even if LOST came in between.
 * A fault: a FAULT, or the operator's deletion of a lock's directory. The class of a FAULT says whether it is
 * more than a loss (enum event_fault). Servers that may refuse requests without a fault
 * (check_context.refusing) count as a fault of each class before all events, and excuse "busy" of a try.
 * Not connected: no link is up (ledger_is_linked()), or at LINK_DOWN, EXPIRED, AUTH_FAILED or SESSION_CLOSING
 * of any handle, or from LOST to CONNECTED. No answer is due to a process that crashed or stopped.
 *
 * Not seen: the code that follows a fault of nodes or memory, and whether the fault led to it. A busy lock
 * that another owner of the same process could have had. "unknown" of a hold whose link is up, after a fault
 * or with a clock. An acquire without an end beside a free lock (no_lost_wakeup), and a missed deadline
 * (deadline_is_kept). Checked by tests/check/reference/answers_have_reasons.h. */
#include "base/assert.h"
#include "check/properties.h"

#define ANSWER_DEADLINE 0x01u /* asked with a timeout above 0; deadline_ms is 0 without a clock */
#define ANSWER_TRY 0x02u      /* asked with timeout 0 */
#define ANSWER_EXCUSED 0x04u  /* "busy" is excused, as the head says */
#define ANSWER_CANCELED 0x08u

static struct check_record *answer_of(struct check_table *table, const struct event *event)
{
    return table_get(table, RECORD_ANSWER, event->lock, event->process, event->owner);
}

static struct check_record *make(struct check_table *table, const struct event *event)
{
    struct check_record *answer = answer_of(table, event);
    return answer ? answer : table_put(table, RECORD_ANSWER, event->lock, event->process, event->owner, 0, 0);
}

static void settle(struct check_table *table, struct check_record *answer)
{
    if (answer->flags == 0 && answer->pending == 0)
        table_drop(table, answer);
}

/* Excuses a try, and with it the other locks of its call. */
static void excuse(struct check_table *table, const struct check_context *context,
                   struct check_record *answer)
{
    LS_ASSERT(answer->flags & ANSWER_TRY);
    answer->flags |= ANSWER_EXCUSED;
    for (int lock = 0; answer->call_locks != 0 && lock < context->locks; lock++) {
        struct check_record *other =
            answer->call_locks >> lock & 1
                ? table_get(table, RECORD_ANSWER, lock, answer->process, answer->owner)
                : NULL;
        if (other && (other->flags & ANSWER_TRY))
            other->flags |= ANSWER_EXCUSED;
    }
}

static bool is_excused_by_call(struct check_table *table, const struct check_context *context,
                               const struct event *asked)
{
    bool excused = false;
    for (int lock = 0; asked->call_locks != 0 && lock < context->locks; lock++) {
        const struct check_record *other =
            asked->call_locks >> lock & 1
                ? table_get(table, RECORD_ANSWER, lock, asked->process, asked->owner)
                : NULL;
        excused |= other && other->call_locks == asked->call_locks && (other->flags & ANSWER_EXCUSED);
    }
    return excused;
}

static bool is_connected(struct check_table *table, int process)
{
    return ledger_is_linked(table, process) && !table_get(table, RECORD_APART, 0, process, 0);
}

/* Returns true if a release of the lock by the process has no FREED, or a FAILED of the lock has no SETTLED,
 * EXPIRED or LOST behind it. */
static bool is_undoing(struct check_table *table, const struct event *event)
{
    if (table_get(table, RECORD_UNDOES, event->lock, event->process, 0))
        return true;
    struct check_record *answer = table_first_lock(table, RECORD_ANSWER, event->lock);
    while (answer && (answer->process != event->process || answer->pending == 0))
        answer = table_next_lock(table, answer);
    return answer != NULL;
}

/* Returns true if a contender behind the whole line would be admitted, and no node queues. */
static bool is_free(struct check_table *table, const struct check_context *context, const struct event *event)
{
    const struct contender contender = {
        .lock = event->lock, .process = event->process, .owner = event->owner, .czxid = INT64_MAX};
    return !table_first_lock(table, RECORD_QUEUED, event->lock) &&
           ledger_admits(table, context, &contender, NULL);
}

/* Returns true if the created contender, of which the ledger has no record yet, leaves the lock free for the
 * try. A contender of the try's process and lock must be admitted itself. Beside any other one, the next
 * contender of the try must be admitted. */
static bool stays_free(struct check_table *table, const struct check_context *context,
                       const struct check_record *answer, const struct event *created)
{
    bool own = answer->process == created->process && answer->lock == created->lock;
    struct contender contender = {.lock = answer->lock,
                                  .process = answer->process,
                                  .owner = answer->owner,
                                  .czxid = own ? created->czxid : INT64_MAX};
    if (!own)
        hold_set_add(&contender.beside, context, created->lock);
    return ledger_admits(table, context, &contender, NULL);
}

static void begin(struct check_table *table, const struct check_context *context, const struct event *event)
{
    if (event->timeout_ms < 0 || ledger_waits(table, event))
        return;
    bool free =
        is_connected(table, event->process) && is_free(table, context, event) && !is_undoing(table, event);
    struct check_record *answer = make(table, event);
    LS_ASSERT(table_is_alone(table, answer));
    if (event->timeout_ms > 0) {
        answer->flags = ANSWER_DEADLINE;
        answer->deadline_ms = context->timed ? event->now_ms + event->timeout_ms : 0;
        return;
    }
    answer->flags = ANSWER_TRY;
    answer->call_locks = event->call_locks;
    if (!free || is_excused_by_call(table, context, event))
        excuse(table, context, answer);
}

/* Returns true if the process, which waits, has another claim that waits or holds, on any lock. */
static bool has_another_claim(struct check_table *table, const struct check_context *context,
                              const struct event *event)
{
    LS_ASSERT(ledger_waits(table, event));
    int claims = 0;
    for (int lock = 0; lock < context->locks; lock++)
        claims += ledger_claims(table, lock, event->process, CLAIM_WAITING | CLAIM_HOLDING);
    return claims > 1;
}

/* Returns true if a fault came before that can lead to this code. */
static bool explains(struct check_table *table, const struct check_context *context, int32_t code)
{
    if (code == CODE_GAVE_UP)
        return ledger_may_fail(table, context);
    if (code == CODE_NO_MEMORY)
        return ledger_had_fault(table, EVENT_FAULT_MEMORY);
    return ledger_had_fault(table, EVENT_FAULT_NODES) || ledger_had_fault(table, EVENT_FAULT_MEMORY);
}

static void judge_closed(const struct check_context *context, const struct event *event,
                         struct check_note *note)
{
    note->premises = 1;
    if (event->within_stop == 0)
        check_violate(note, "%s (owner %d) was told that %s is closed, but nobody had closed it", WHO,
                      event->owner, WHAT);
}

static void judge_already(struct check_table *table, const struct check_context *context,
                          const struct event *event, struct check_note *note)
{
    const struct check_record *claim = ledger_claim(table, event);
    LS_ASSERT(claim && (claim->flags & CLAIM_WAITING));
    unsigned excuses = CLAIM_VOID | (context->reentrant ? 0 : CLAIM_HOLDING);
    note->premises = 1;
    if ((claim->flags & excuses) == 0 && !is_undoing(table, event) &&
        !group_has_other_claim(table, context, event, CLAIM_WAITING))
        check_violate(note, "%s (owner %d) was told that an acquire of %s is pending already, but none was",
                      WHO, event->owner, WHAT);
}

/* Judges all codes for which judge_failed() has no case. */
static void judge_error(struct check_table *table, const struct check_context *context,
                        const struct event *event, struct check_note *note)
{
    if (context->refusing)
        return;
    note->premises = 1;
    bool full = event->rc == CODE_NO_MEMORY && has_another_claim(table, context, event);
    bool upgrade = event->rc == CODE_DEADLOCK &&
                   group_has_other_claim(table, context, event, CLAIM_WAITING | CLAIM_HOLDING);
    if (!full && !upgrade && !explains(table, context, event->rc))
        check_violate(note, "%s (owner %d) was told of error %d for %s, but nothing had gone wrong%s", WHO,
                      event->owner, event->rc, WHAT,
                      ledger_may_fail(table, context) ? " that leads to it" : "");
}

static const struct check_record *standing_hold(struct check_table *table, const struct event *event)
{
    const struct check_record *claim = ledger_claim(table, event);
    bool stands = ledger_holds(table, event) && ledger_node(table, event->lock, claim->czxid);
    LS_ASSERT(!stands || claim->depth > 0);
    return stands ? claim : NULL;
}

static void judge_written(struct check_table *table, const struct check_context *context,
                          const struct event *event, struct check_note *note)
{
    note->premises = 1;
    bool over = event->rc == CODE_LOST || event->rc == CODE_NOT_OWNER;
    const struct check_record *hold = standing_hold(table, event);
    if (over && hold && hold->czxid == ledger_node_of_token(hold, event->token))
        check_violate(
            note,
            "a guarded write of %s (owner %d) under %s was refused (%d), but its hold and the node stand",
            WHO, event->owner, WHAT, event->rc);
    else if (event->rc != 0 && !over && !ledger_may_fail(table, context))
        check_violate(note,
                      "a guarded write of %s (owner %d) under %s failed (%d), but nothing had gone wrong",
                      WHO, event->owner, WHAT, event->rc);
}

static void judge_asked_for(struct check_table *table, const struct check_context *context,
                            const struct event *event, struct check_note *note)
{
    const struct check_record *answer = answer_of(table, event);
    unsigned flags = answer ? answer->flags : 0;
    LS_ASSERT((flags & ANSWER_TRY) ? (flags & ANSWER_DEADLINE) == 0 : (flags & ANSWER_EXCUSED) == 0);
    note->premises = 1;
    if (event->rc == CODE_TIMED_OUT && (flags & ANSWER_DEADLINE) == 0)
        check_violate(note, "%s (owner %d) was told that its time for %s is up, but it set no deadline", WHO,
                      event->owner, WHAT);
    else if (event->rc == CODE_TIMED_OUT && context->timed && event->now_ms < answer->deadline_ms)
        check_violate(note, "%s (owner %d) was told that its time for %s is up %lld ms before its deadline",
                      WHO, event->owner, WHAT, (long long)(answer->deadline_ms - event->now_ms));
    else if (event->rc == CODE_CANCELED && (flags & ANSWER_CANCELED) == 0)
        check_violate(note, "%s (owner %d) was told that its acquire of %s was cancelled, but it was not",
                      WHO, event->owner, WHAT);
    else if (event->rc == CODE_BUSY && (flags & ANSWER_TRY) == 0)
        check_violate(note, "%s (owner %d) was told that %s is busy, but it asked to wait for it", WHO,
                      event->owner, WHAT);
    else if (event->rc == CODE_BUSY && (flags & ANSWER_EXCUSED) == 0 && !context->refusing)
        check_violate(note, "%s (owner %d) was told that %s is busy, but it was free all the time", WHO,
                      event->owner, WHAT);
}

static void judge_code(const struct check_context *context, const struct event *event,
                       struct check_note *note)
{
    LS_ASSERT(event->kind == EVENT_FAILED || event->kind == EVENT_FREED);
    int most = event->kind == EVENT_FAILED ? -1 : 0;
    if (event->rc < CODE_LEAST || event->rc > most)
        check_violate(note, "%s (owner %d) was told %d about %s, which is no code of enum ls_err", WHO,
                      event->owner, event->rc, WHAT);
}

static void judge_failed(struct check_table *table, const struct check_context *context,
                         const struct event *event, struct check_note *note)
{
    switch (event->rc) {
    case CODE_TIMED_OUT:
    case CODE_CANCELED:
    case CODE_BUSY:
        judge_asked_for(table, context, event, note);
        break;
    case CODE_CLOSED:
        judge_closed(context, event, note);
        break;
    case CODE_ALREADY:
        judge_already(table, context, event, note);
        break;
    default:
        judge_error(table, context, event, note);
        break;
    }
}

static void judge_unsure(struct check_table *table, const struct check_context *context,
                         const struct event *event, struct check_note *note)
{
    if (context->timed || event->belief != CODE_UNKNOWN || event->doubt == EVENT_DOUBT_TIMER ||
        !ledger_holds(table, event) || ledger_may_fail(table, context))
        return;
    note->premises = 1;
    check_violate(note,
                  "%s (owner %d) says that it is unsure of %s, but it was granted and nothing has happened",
                  WHO, event->owner, WHAT);
}

static void judge_denied(struct check_table *table, const struct check_context *context,
                         const struct event *event, struct check_note *note)
{
    if (event->doubt != EVENT_DOUBT_DENIED || !ledger_holds(table, event))
        return;
    note->premises = 1;
    if (standing_hold(table, event))
        check_violate(note,
                      "%s (owner %d) says that it does not hold %s, but it was granted and its node stands",
                      WHO, event->owner, WHAT);
}

static void judge_asked(const struct check_context *context, const struct event *event, bool waits,
                        struct check_note *note)
{
    if (!waits)
        check_violate(note,
                      "%s (owner %d) was told that %s is %s, but no acquire of it was without an answer", WHO,
                      event->owner, WHAT, event->kind == EVENT_GRANTED ? "granted" : "not granted");
}

/* Ends the acquire. Releases without a FREED stay. */
static void end(struct check_table *table, const struct event *event)
{
    struct check_record *answer = answer_of(table, event);
    if (!answer || !ledger_waits(table, event))
        return;
    LS_ASSERT(table_is_alone(table, answer));
    answer->flags = 0;
    answer->deadline_ms = 0;
    answer->call_locks = 0;
    settle(table, answer);
}

static void observe_canceled(struct check_table *table, const struct event *event)
{
    if (ledger_waits(table, event))
        make(table, event)->flags |= ANSWER_CANCELED;
}

static void observe_released(struct check_table *table, const struct event *event, struct check_note *note)
{
    if (event->depth != 0)
        return;
    note->premises = 1;
    make(table, event)->pending++;
}

static void judge_freed(struct check_table *table, const struct check_context *context,
                        const struct event *event, struct check_note *note)
{
    struct check_record *answer = answer_of(table, event);
    if (!answer || answer->pending == 0) {
        check_violate(note,
                      "%s (owner %d) was told that %s is free, but no release of it was without an answer",
                      WHO, event->owner, WHAT);
        return;
    }
    answer->pending--;
    settle(table, answer);
    if (event->rc != 0 && event->within_stop == 0 && !ledger_may_fail(table, context))
        check_violate(note,
                      "%s (owner %d) was told that its release of %s failed (%d), but nothing has happened",
                      WHO, event->owner, WHAT, event->rc);
}

/* Excuses each try of the group for which the created contender does not leave the lock free. A contender of
 * another process counts only while the process of the try has none. */
static void observe_contender(struct check_table *table, const struct check_context *context,
                              const struct event *event)
{
    if (event->node_role != 1 || event->lock == EVENT_LOCK_NONE)
        return;
    struct check_record *answer = group_first_record(table, context, RECORD_ANSWER, event->lock);
    for (; answer; answer = group_next_record(table, context, answer)) {
        bool own = answer->process == event->process;
        if ((answer->flags & ANSWER_TRY) &&
            (own || !ledger_has_node(table, context, event->lock, answer->process)) &&
            !stays_free(table, context, answer, event))
            excuse(table, context, answer);
    }
}

/* Excuses each try for this lock by another process that has no node in the queue: this node queues before
 * its own. A node of any owner of that process counts, if its session's link is up. */
static void observe_queued(struct check_table *table, const struct check_context *context,
                           const struct event *event)
{
    struct check_record *answer = table_first_lock(table, RECORD_ANSWER, event->lock);
    for (; answer; answer = table_next_lock(table, answer))
        if ((answer->flags & ANSWER_TRY) && answer->process != event->process &&
            ledger_queued(table, event->lock, answer->process) == 0)
            excuse(table, context, answer);
}

static void observe_created(struct check_table *table, const struct check_context *context,
                            const struct event *event)
{
    if (event->node_role == CODE_QUEUED)
        observe_queued(table, context, event);
    else
        observe_contender(table, context, event);
}

static void observe_capacity(struct check_table *table, const struct check_context *context,
                             const struct event *event)
{
    if (event->capacity >= ledger_capacity(table, context, event->lock, event->process))
        return;
    struct check_record *answer = table_first_lock(table, RECORD_ANSWER, event->lock);
    for (; answer; answer = table_next_lock(table, answer))
        if ((answer->flags & ANSWER_TRY) && answer->process == event->process)
            excuse(table, context, answer);
}

/* Returns true if a hold of the same call has lost its node, or its owner was told of its loss. */
static bool has_lost_of_call(struct check_table *table, const struct check_context *context,
                             const struct event *event)
{
    const struct check_record *claim = ledger_claim(table, event);
    for (int lock = 0; lock < context->locks; lock++) {
        struct event other = *event;
        other.lock = (uint8_t)lock;
        const struct check_record *of_call =
            claim && (claim_call(claim) >> lock & 1) != 0 ? ledger_claim(table, &other) : NULL;
        if (of_call && claim_call(of_call) == claim_call(claim) &&
            (of_call->flags & CLAIM_VOID || !standing_hold(table, &other)))
            return true;
    }
    return false;
}

static void judge_hold_lost(struct check_table *table, const struct check_context *context,
                            const struct event *event, struct check_note *note)
{
    note->premises = 1;
    if (!ledger_holds(table, event))
        check_violate(note, "%s (owner %d) was told that its hold of %s is lost, but it had none", WHO,
                      event->owner, WHAT);
    else if (standing_hold(table, event) && !has_lost_of_call(table, context, event) &&
             (event->lease_timer == 0 || !ledger_may_fail(table, context)))
        check_violate(note, "%s (owner %d) was told that its hold of %s is lost, but its node stands", WHO,
                      event->owner, WHAT);
}

static void observe_outage(struct check_table *table, const struct event *event)
{
    struct check_record *answer;
    for (answer = table_first(table, RECORD_ANSWER); answer; answer = table_next(table, answer))
        if (answer->process == event->process && (answer->flags & ANSWER_TRY))
            answer->flags |= ANSWER_EXCUSED;
}

/* Between LOST and CONNECTED, the link of the former session may come back: that is no connection. */
static void observe_lost(struct check_table *table, const struct event *event)
{
    table_put(table, RECORD_APART, 0, event->process, 0, 0, 0);
    observe_outage(table, event);
    table_drop_process(table, RECORD_UNDOES, event->process);
}

static void judge_rest(struct check_table *table, const struct check_context *context,
                       struct check_note *note)
{
    struct check_record *answer;
    for (answer = table_first(table, RECORD_ANSWER); answer; answer = table_next(table, answer)) {
        struct check_name who = check_process_name(context, answer->process);
        struct check_name what = check_lock_name(context, answer->lock);
        LS_ASSERT(answer->flags != 0 || answer->pending != 0);
        if (!ledger_answerable(table, answer->process))
            continue;
        if (answer->pending > 0)
            check_violate(note, "at rest %s (owner %d) has no answer to its release of %s", who.text,
                          answer->owner, what.text);
        if (answer->flags & ANSWER_CANCELED)
            check_violate(note,
                          "at rest %s (owner %d) has no answer about %s, though it cancelled its acquire",
                          who.text, answer->owner, what.text);
        if (answer->flags & ANSWER_TRY)
            check_violate(note, "at rest %s (owner %d) has no answer to its try to get %s", who.text,
                          answer->owner, what.text);
    }
}

static void observe(struct check_table *table, const struct check_context *context, const struct event *event,
                    struct check_note *note)
{
    switch (event->kind) {
    case EVENT_ASKED:
        begin(table, context, event);
        break;
    case EVENT_FAILED:
        judge_code(context, event, note);
        judge_asked(context, event, ledger_waits(table, event), note);
        if (ledger_waits(table, event))
            judge_failed(table, context, event, note);
        end(table, event);
        table_put(table, RECORD_UNDOES, event->lock, event->process, 0, 0, 0);
        break;
    case EVENT_GRANTED:
        judge_asked(context, event, ledger_waits(table, event), note);
        end(table, event);
        break;
    case EVENT_CANCELED:
        observe_canceled(table, event);
        break;
    case EVENT_CAPACITY:
        observe_capacity(table, context, event);
        break;
    case EVENT_RELEASED:
        observe_released(table, event, note);
        break;
    case EVENT_FREED:
        judge_code(context, event, note);
        judge_freed(table, context, event, note);
        break;
    case EVENT_NODE_CREATED:
        observe_created(table, context, event);
        break;
    case EVENT_NODE_DELETED:
    case EVENT_FAULT:
        ledger_note_fault(table, event);
        break;
    case EVENT_WRITTEN:
        judge_written(table, context, event, note);
        break;
    case EVENT_HOLD_LOST:
        judge_hold_lost(table, context, event, note);
        break;
    case EVENT_DOUBTS:
        judge_denied(table, context, event, note);
        judge_unsure(table, context, event, note);
        break;
    case EVENT_LOST:
        observe_lost(table, event);
        break;
    case EVENT_CONNECTED:
        table_drop_process(table, RECORD_APART, event->process);
        break;
    case EVENT_SETTLED:
        table_drop_process(table, RECORD_UNDOES, event->process);
        break;
    case EVENT_EXPIRED:
        observe_outage(table, event);
        table_drop_process(table, RECORD_UNDOES, event->process);
        break;
    case EVENT_LINK_DOWN:
    case EVENT_AUTH_FAILED:
    case EVENT_SESSION_CLOSING:
        observe_outage(table, event);
        break;
    case EVENT_REST:
        judge_rest(table, context, note);
        break;
    default: /* the process is gone */
        LS_ASSERT(event->kind == EVENT_CRASHED);
        table_drop_process(table, RECORD_ANSWER, event->process);
        table_drop_process(table, RECORD_APART, event->process);
        table_drop_process(table, RECORD_UNDOES, event->process);
        break;
    }
}

/* FREED without an error commutes: releases without a FREED are read at events of their own process and at
 * REST. With an error, outside of stop() and close(), it needs an earlier fault. A broken link and a
 * contender of another process excuse a try alike, in either order. */
static bool is_local(const struct event *event)
{
    bool freed = event->kind == EVENT_FREED && (event->rc == 0 || event->within_stop != 0);
    return freed || event->kind == EVENT_CANCELED || event->kind == EVENT_CONNECTED ||
           event->kind == EVENT_LINK_DOWN || event->kind == EVENT_SETTLED ||
           (event->kind == EVENT_DOUBTS && event->doubt != EVENT_DOUBT_DENIED);
}

const struct property check_answers_have_reasons = {
    .name = "answers_have_reasons",
    .sentence =
        "who is told of a failure has given reason for it, or a fault has; every release, try and cancelled "
        "acquire is answered, and nobody who did not ask",
    .premise = "acquires that failed, releases, guarded writes, and holds that are said to be none or lost",
    .blind_to = "which error follows a fault of nodes or memory, or is told of a release behind any fault; "
                "how soon an answer comes; whether a busy lock became free in time",
    .modes = PROPERTY_ALWAYS,
    .wants = EVENT_BIT(EVENT_ASKED) | EVENT_BIT(EVENT_GRANTED) | EVENT_BIT(EVENT_FAILED) |
             EVENT_BIT(EVENT_CANCELED) | EVENT_BIT(EVENT_RELEASED) | EVENT_BIT(EVENT_FREED) |
             EVENT_BIT(EVENT_NODE_CREATED) | EVENT_BIT(EVENT_LOST) | EVENT_BIT(EVENT_CONNECTED) |
             EVENT_BIT(EVENT_LINK_DOWN) | EVENT_BIT(EVENT_EXPIRED) | EVENT_BIT(EVENT_AUTH_FAILED) |
             EVENT_BIT(EVENT_SESSION_CLOSING) | EVENT_BIT(EVENT_SETTLED) | EVENT_BIT(EVENT_REST) |
             EVENT_BIT(EVENT_CRASHED) | EVENT_BIT(EVENT_FAULT) | EVENT_BIT(EVENT_NODE_DELETED) |
             EVENT_BIT(EVENT_WRITTEN) | EVENT_BIT(EVENT_DOUBTS) | EVENT_BIT(EVENT_HOLD_LOST) |
             EVENT_BIT(EVENT_CAPACITY),
    .needs = CHECK_NEEDS_PROCESSES | CHECK_NEEDS_CLAIMS | CHECK_NEEDS_NODES,
    .records_per_process = 2,
    .records_per_contender = 2,
    .is_local = is_local,
    .observe = observe,
};
