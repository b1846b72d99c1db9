/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#ifndef TESTS_CHECK_REFERENCE_ANSWERS_HAVE_REASONS_H
#define TESTS_CHECK_REFERENCE_ANSWERS_HAVE_REASONS_H

#include "check/reference/questions.h"

static bool own_node_stands(const struct trace_list *list, int i, int process)
{
    for (int k = 0; k < i; k++)
        if (list->event[k].process == process && creates_one_that_stands(list, k, i))
            return true;
    return false;
}

/* Returns whether a fault before event i explains this code of an acquire that failed. */
static bool was_explained(const struct trace_list *list, int i, int32_t code)
{
    if (code == CODE_GAVE_UP)
        return was_faulted(list, i);
    return had_fault(list, i, EVENT_FAULT_MEMORY) ||
           (had_fault(list, i, EVENT_FAULT_NODES) && code != CODE_NO_MEMORY);
}

static int owed(const struct trace_list *list, int i, int lock, int process, int owner)
{
    int count = 0;
    for (int k = 0; k < i; k++) {
        const struct event *event = &list->event[k];
        if (ends_process(event, process))
            count = 0;
        else if (event->kind == EVENT_RELEASED && event->code == 0 && is_of(event, lock, process, owner))
            count++;
        else if (event->kind == EVENT_FREED && is_of(event, lock, process, owner) && count > 0)
            count--;
    }
    return count;
}

/* Returns whether requests of an acquire that failed, or of a release, may be under way before event i. */
static bool is_undoing(const struct trace_list *list, int i, int lock, int process)
{
    bool undoes = false;
    for (int k = 0; k < i; k++) {
        const struct event *event = &list->event[k];
        if (event->process != process)
            continue;
        if (event->kind == EVENT_FAILED && event->lock == lock)
            undoes = true;
        if (event->kind == EVENT_SETTLED || event->kind == EVENT_EXPIRED || event->kind == EVENT_LOST ||
            ends_process(event, process))
            undoes = false;
    }
    for (int owner = 0; owner < OWNERS; owner++)
        undoes |= owed(list, i, lock, process, owner) > 0;
    return undoes;
}

/* Returns whether the lock was not free for the asker of event `asked` at some moment before event i. */
static bool was_not_free(const struct trace_list *list, int asked, int i)
{
    const struct event *ask = &list->event[asked];
    struct link link = link_of(list, asked, ask->process);
    if (!link.up || link.apart || first_in_line_of(list, asked, ask->lock) >= 0)
        return true;
    if (is_undoing(list, asked, ask->lock, ask->process))
        return true;
    for (int k = asked; k < i; k++) {
        const struct event *event = &list->event[k];
        bool own = event->process == ask->process;
        if (own && (event->kind == EVENT_LINK_DOWN || event->kind == EVENT_EXPIRED ||
                    event->kind == EVENT_AUTH_FAILED || event->kind == EVENT_SESSION_CLOSING ||
                    event->kind == EVENT_LOST))
            return true;
        bool created = event->kind == EVENT_NODE_CREATED && event->lock == ask->lock && event->code == 1;
        if (created &&
            (own ? first_in_line_of(list, k, ask->lock) >= 0 : !own_node_stands(list, k, ask->process)))
            return true;
    }
    return false;
}

static bool was_canceled(const struct trace_list *list, int asked, int i)
{
    const struct event *ask = &list->event[asked];
    for (int k = asked; k < i; k++)
        if (list->event[k].kind == EVENT_CANCELED &&
            is_of(&list->event[k], ask->lock, ask->process, ask->owner))
            return true;
    return false;
}

static bool is_left_without(const struct trace_list *list, int i, int lock, int process, int owner)
{
    int asked = pending(list, i, lock, process, owner);
    if (!acts(list, i, process))
        return false;
    return owed(list, i, lock, process, owner) > 0 ||
           (asked >= 0 && (timeout_of(list, asked) == 0 || was_canceled(list, asked, i)));
}

static bool another_owner_has_claim(const struct trace_list *list, int i)
{
    const struct event *event = &list->event[i];
    for (int owner = 0; owner < OWNERS; owner++)
        if (owner != event->owner && (pending(list, i, event->lock, event->process, owner) >= 0 ||
                                      holding(list, i, event->lock, event->process, owner) >= 0))
            return true;
    return false;
}

/* "pending already" is wrong if the owner has no hold (unless reentrant), no lost hold and no clean-up. */
static bool is_none_pending(const struct trace_list *list, int i)
{
    const struct event *event = &list->event[i];
    bool holds = holding(list, i, event->lock, event->process, event->owner) >= 0;
    return !(holds && !list->reentrant) && !is_undoing(list, i, event->lock, event->process) &&
           !has_lost_hold(list, i, event->lock, event->process, event->owner);
}

/* Returns whether query() denies a hold that was granted and whose node stands. */
static bool denies_a_hold(const struct trace_list *list, int i)
{
    const struct event *event = &list->event[i];
    return event->cause == EVENT_DOUBT_DENIED && holds_standing(list, i, event->process, event->owner);
}

/* Returns whether the owner of event i holds by the node with this czxid, and the node stands. */
static bool is_held_with(const struct trace_list *list, int i, int64_t czxid)
{
    const struct event *event = &list->event[i];
    int grant = holding(list, i, event->lock, event->process, event->owner);
    return grant >= 0 && node_of(list, grant) == czxid && stands(list, i, event->lock, czxid);
}

static bool is_unsure_of_a_hold(const struct trace_list *list, int i)
{
    const struct event *event = &list->event[i];
    return !list->timed && event->code == CODE_UNKNOWN && event->cause != EVENT_DOUBT_TIMER &&
           !was_faulted(list, i) && holding(list, i, event->lock, event->process, event->owner) >= 0;
}

static bool is_no_code(const struct event *event)
{
    return (event->kind == EVENT_FAILED && (event->code >= 0 || event->code < CODE_LEAST)) ||
           (event->kind == EVENT_FREED && (event->code > 0 || event->code < CODE_LEAST));
}

static bool answers_without_reason(const struct trace_list *list, int i)
{
    const struct event *event = &list->event[i];
    if (is_no_code(event))
        return true;
    for (int n = 0; n < PROCESSES * OWNERS && event->kind == EVENT_REST; n++)
        if (is_left_without(list, i, 0, n / OWNERS, n % OWNERS))
            return true;
    if (event->kind == EVENT_FREED && owed(list, i, event->lock, event->process, event->owner) == 0)
        return true;
    if (event->kind == EVENT_FREED)
        return event->code != 0 && event->cause == 0 && !was_faulted(list, i);
    int asked = pending(list, i, event->lock, event->process, event->owner);
    if (is_answer(event) && asked < 0)
        return true;
    if (event->kind == EVENT_WRITTEN && (event->code == CODE_LOST || event->code == CODE_NOT_OWNER))
        return is_held_with(list, i, event->zxid);
    if (event->kind == EVENT_WRITTEN)
        return event->code != 0 && !was_faulted(list, i);
    if (event->kind == EVENT_HOLD_LOST)
        return holding(list, i, event->lock, event->process, event->owner) < 0 ||
               ((event->cause == 0 || !was_faulted(list, i)) &&
                holds_standing(list, i, event->process, event->owner));
    if (event->kind == EVENT_DOUBTS)
        return denies_a_hold(list, i) || is_unsure_of_a_hold(list, i);
    if (event->kind != EVENT_FAILED)
        return false;
    const struct event *ask = &list->event[asked];
    switch (event->code) {
    case CODE_TIMED_OUT:
        return timeout_of(list, asked) <= 0 ||
               (list->timed && event->now_ms < ask->now_ms + timeout_of(list, asked));
    case CODE_CANCELED:
        return !was_canceled(list, asked, i);
    case CODE_BUSY:
        return timeout_of(list, asked) != 0 || !was_not_free(list, asked, i);
    case CODE_CLOSED:
        return event->cause == 0;
    case CODE_ALREADY:
        return is_none_pending(list, i);
    default:
        if (was_explained(list, i, event->code))
            return false;
        return event->code != CODE_NO_MEMORY || !another_owner_has_claim(list, i);
    }
}

#endif
