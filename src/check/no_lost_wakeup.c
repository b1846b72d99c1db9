/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* No waiter sleeps beside a free lock.
 *
 * Formula. A process can act if it runs and is connected. Let a process that can act wait for a lock at REST,
 * when nothing more happens by itself. Then
 *   - no contender that is admitted (check/state.h) belongs to a process that can act, in its present
 *     session, unless an owner holds by it;
 *   - if an owner holds by each contender, the existing holds exclude the one that is waited for. Or the
 *     first of the nodes that queue belongs to a process that cannot act.
 * For a mutex that says: an owner holds it, or the head of the line belongs to a process that cannot act. A
 * wait for several locks of one call, and its contender, count at one lock only if the wait is not held up at
 * another one. A wait is held up at a lock if it would not be admitted there, and its obstacle does not go by
 * itself. Such obstacles are a hold, a contender of a process that cannot act, and a wait that is held up at
 * another lock of its call. Waits that only wait for each other in a cycle are not held up.
 *   - Let the capacity of a lock be stored in a node. At REST each process that can act and has the lock open
 *     knows that capacity: a change of a count wakes, too.
 *   - Let contenders have leases, without a clock, and let a process that can act wait at REST. Then each
 *     contender by which no owner holds belongs to a life of its process that goes on. At REST no lease is
 *     left that would end a contender of another life.
 * Not seen: a run that never comes to rest. A wake-up that comes late. Waiters behind a process that cannot
 * act: their turn comes when its session ends. Checked by tests/check/reference/no_lost_wakeup.h. */
#include "base/assert.h"
#include "check/properties.h"

/* Returns true if an owner holds by the node. */
static bool rests(struct check_table *table, const struct check_record *node)
{
    return ledger_holder(table, node->lock, -1, node->czxid);
}

static bool is_admitted(struct check_table *table, const struct check_context *context,
                        const struct check_record *node)
{
    const struct contender contender = contender_of_record(node);
    return ledger_admits(table, context, &contender, NULL);
}

static bool can_act(struct check_table *table, const struct check_record *node)
{
    return ledger_answerable(table, node->process) && ledger_session(table, node->process, node->by_session);
}

/* Returns the czxid of the oldest contender of a process on a lock: its position in line. INT64_MAX, behind
 * all others, if it has none. */
static int64_t place_of(struct check_table *table, int lock, int process)
{
    const struct check_record *node = table_get(table, RECORD_NODE, lock, process, 0);
    return node && node->process == process ? node->czxid : INT64_MAX;
}

/* Returns the locks of the call in which the process waits for the lock, a bit each. Returns 0 if it waits
 * for this lock alone, or not at all. */
static unsigned call_of(struct check_table *table, int lock, int process)
{
    struct check_record *claim = table_first_lock(table, RECORD_CLAIM, lock);
    while (claim && !(claim->process == process && (claim->flags & CLAIM_WAITING)))
        claim = table_next_lock(table, claim);
    return claim ? claim_call(claim) : 0;
}

/* Returns true if the wait of a process is held up at this lock of its call. `seen` has a bit for each
 * process whose wait depends on this question: a wait that depends on itself is not held up. */
static bool is_held_up_at(struct check_table *table, const struct check_context *context, int lock,
                          int process, unsigned seen)
{
    const struct check_record *obstacle = NULL;
    const struct contender contender = {
        .lock = lock, .process = process, .owner = -1, .czxid = place_of(table, lock, process)};
    if (ledger_admits(table, context, &contender, &obstacle))
        return false;
    if (!obstacle || rests(table, obstacle) || !can_act(table, obstacle))
        return true;
    unsigned call = call_of(table, lock, obstacle->process);
    LS_ASSERT(obstacle->process < context->processes && obstacle->process < 32);
    if ((seen >> obstacle->process & 1) != 0)
        return false;
    seen |= 1u << obstacle->process;
    bool held_up = false;
    for (int other = 0; other < context->locks && !held_up; other++)
        held_up = other != lock && (call >> other & 1) != 0 &&
                  is_held_up_at(table, context, other, obstacle->process, seen);
    return held_up;
}

/* Returns true if the process waits for this lock in a call, and is held up at another lock of it. */
static bool is_held_up_elsewhere(struct check_table *table, const struct check_context *context, int lock,
                                 int process)
{
    unsigned call = call_of(table, lock, process);
    for (int other = 0; other < context->locks; other++)
        if (other != lock && (call >> other & 1) != 0 &&
            is_held_up_at(table, context, other, process, 1u << process))
            return true;
    return false;
}

/* Returns a waiter of the group that can act and is not held up elsewhere; NULL if there is none. */
static const struct check_record *find_waiter(struct check_table *table, const struct check_context *context,
                                              int lock)
{
    struct check_record *claim = group_first_record(table, context, RECORD_CLAIM, lock);
    while (claim && !((claim->flags & CLAIM_WAITING) && ledger_answerable(table, claim->process) &&
                      !is_held_up_elsewhere(table, context, claim->lock, claim->process)))
        claim = group_next_record(table, context, claim);
    return claim;
}

struct line {
    bool waits;                      /* there is a contender by which no owner holds */
    const struct check_record *idle; /* one that is admitted, of a process that can act; NULL = none */
    const struct check_record *left; /* one that nothing will end; NULL = none */
};

/* For leases without a clock: returns true if the life that created the contender is over. At REST no lease
 * is left that would end it. */
static bool is_left(struct check_table *table, const struct check_context *context,
                    const struct check_record *node)
{
    return context->leases && !context->timed && ledger_life_is_over(table, node->process, node->by_session);
}

static struct line look_at(struct check_table *table, const struct check_context *context, int lock)
{
    struct line line = {0};
    struct check_record *node = group_first_record(table, context, RECORD_NODE, lock);
    for (; node && !line.idle; node = group_next_record(table, context, node)) {
        if (rests(table, node))
            continue;
        line.waits = true;
        line.left = is_left(table, context, node) ? node : line.left;
        bool acts = can_act(table, node) && !is_held_up_elsewhere(table, context, node->lock, node->process);
        line.idle = acts && is_admitted(table, context, node) ? node : NULL;
    }
    LS_ASSERT(line.waits || (!line.idle && !line.left));
    return line;
}

static const struct check_record *head_of_queue(struct check_table *table, int lock)
{
    struct check_record *head = NULL, *node = table_first_lock(table, RECORD_QUEUED, lock);
    for (; node; node = table_next_lock(table, node))
        head = !head || node->czxid < head->czxid ? node : head;
    return head;
}

/* Returns true if the first node of the queue, and with it the queue, waits for a process that cannot act. */
static bool is_blocked(struct check_table *table, int lock)
{
    const struct check_record *head = head_of_queue(table, lock);
    return head && !can_act(table, head);
}

static bool has_room(struct check_table *table, const struct check_context *context,
                     const struct check_record *waiter)
{
    const struct contender contender = {
        .lock = waiter->lock, .process = waiter->process, .owner = waiter->owner, .czxid = INT64_MAX};
    return ledger_admits(table, context, &contender, NULL);
}

static void judge_group(struct check_table *table, const struct check_context *context, int lock,
                        struct check_note *note)
{
    LS_ASSERT(group_of(context, lock) == lock);
    const struct check_record *waiter = find_waiter(table, context, lock);
    if (!waiter)
        return;
    note->premises++;
    const struct line line = look_at(table, context, lock);
    const char *free = lock_stands_alone(context, waiter->lock) ? "nobody holds it" : "there is room";
    struct check_name who = check_process_name(context, waiter->process);
    struct check_name what = check_lock_name(context, waiter->lock);
    if (line.idle)
        check_violate(note, "%s waits for %s at rest, but %s; first is a node of %s (czxid %lld)", who.text,
                      what.text, free, check_process_name(context, line.idle->process).text,
                      (long long)line.idle->czxid);
    else if (line.left)
        check_violate(note,
                      "%s waits for %s at rest behind a contender (czxid %lld) of a life of %s that is over: "
                      "nothing will end it",
                      who.text, what.text, (long long)line.left->czxid,
                      check_process_name(context, line.left->process).text);
    else if (!line.waits && !is_blocked(table, lock) && has_room(table, context, waiter))
        check_violate(note, "%s waits for %s at rest, but %s and the line is empty", who.text, what.text,
                      free);
}

static void judge_count(struct check_table *table, const struct check_context *context, int lock,
                        struct check_note *note)
{
    int count = ledger_count(table, context, lock);
    for (int process = 0; count && process < context->processes; process++) {
        int known = ledger_capacity(table, context, lock, process);
        if (known != count && ledger_answerable(table, process) &&
            ledger_has_open(table, context, lock, process))
            check_violate(note, "at rest %s knows the capacity %d of %s, but its node contains %d",
                          check_process_name(context, process).text, known,
                          check_lock_name(context, lock).text, count);
    }
}

static bool has_to_wait(struct check_table *table, const struct check_context *context,
                        const struct event *event)
{
    const struct contender contender = {
        .lock = event->lock, .process = event->process, .owner = -1, .czxid = event->czxid};
    return !ledger_admits(table, context, &contender, NULL);
}

static void observe(struct check_table *table, const struct check_context *context, const struct event *event,
                    struct check_note *note)
{
    if (event->kind == EVENT_REST) {
        for (int lock = 0; lock < context->locks; lock++)
            if (group_of(context, lock) == lock) {
                judge_group(table, context, lock, note);
                judge_count(table, context, lock, note);
            }
        return;
    }
    LS_ASSERT(event->kind == EVENT_NODE_CREATED);
    if (event->node_role == 1 && ledger_claims(table, event->lock, event->process, CLAIM_WAITING) &&
        has_to_wait(table, context, event))
        note->premises = 1;
}

const struct property check_no_lost_wakeup = {
    .name = "no_lost_wakeup",
    .sentence = "at rest nobody waits for a lock that nobody holds",
    .premise = "contenders that found others before them, and locks that were waited for at rest",
    .blind_to =
        "runs that never come to rest; waiters behind a process that cannot act, unless it has ended and "
        "nothing ends what it has left",
    .modes = PROPERTY_ALWAYS,
    .wants = EVENT_BIT(EVENT_REST) | EVENT_BIT(EVENT_NODE_CREATED),
    .needs = CHECK_NEEDS_PROCESSES | CHECK_NEEDS_CLAIMS | CHECK_NEEDS_NODES,
    .observe = observe,
};
