/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#ifndef TESTS_CHECK_REFERENCE_EVERY_REVOCATION_IS_TOLD_H
#define TESTS_CHECK_REFERENCE_EVERY_REVOCATION_IS_TOLD_H

#include "check/reference/questions.h"

static int count_before(const struct trace_list *list, int i, int kind, int lock, int64_t zxid)
{
    int count = 0;
    for (int k = 0; k < i; k++)
        count += list->event[k].kind == kind && list->event[k].lock == lock && list->event[k].zxid == zxid &&
                 (kind != EVENT_NODE_SET ||
                  (list->event[k].code == 1 && list->event[k].owner != EVENT_BY_OPERATOR));
    return count;
}

/* Returns how many requests to revoke have no answer; *since = event from which on there was always one. */
static int questions(const struct trace_list *list, int i, int lock, int process, int *since)
{
    int count = 0;
    for (int k = 0; k < i; k++) {
        const struct event *event = &list->event[k];
        if (ends_process(event, process))
            count = 0;
        if (event->process != process || event->lock != lock)
            continue;
        if (event->kind == EVENT_REVOKES && count++ == 0)
            *since = k;
        if (event->kind == EVENT_REVOKE_SENT && count > 0)
            count--;
    }
    return count;
}

static bool has_reason_to_fail(const struct trace_list *list, int since, int i)
{
    const struct event *answer = &list->event[i];
    for (int k = since; k < i; k++) {
        const struct event *event = &list->event[k];
        if (event->process != answer->process)
            continue;
        bool closed = answer->code == CODE_CLOSED, unsure = answer->code == CODE_UNSURE;
        bool unlinked = event->kind == EVENT_REVOKES && !link_of(list, k, event->process).up;
        if ((closed || unsure) && event->kind == EVENT_SESSION_CLOSING)
            return true;
        if (closed && event->lock == answer->lock && (unlinked || event->kind == EVENT_CLOSES))
            return true;
    }
    return false;
}

/* Returns whether the node was set after the last request that was reported about it. */
static bool is_untold(const struct trace_list *list, int i, int64_t czxid)
{
    bool result = false;
    for (int k = 0; k < i; k++) {
        const struct event *event = &list->event[k];
        if (event->zxid == czxid && event->kind == EVENT_NODE_SET && event->code == 1)
            result = event->owner != EVENT_BY_OPERATOR;
        if (event->zxid == czxid && event->kind == EVENT_REVOKE_ASKED)
            result = false;
    }
    return result;
}

static bool is_own(const struct trace_list *list, int i, int process, int64_t czxid)
{
    for (int k = 0; k < i; k++)
        if (list->event[k].kind == EVENT_NODE_CREATED && list->event[k].zxid == czxid)
            return list->event[k].process == process;
    return false;
}

static bool leaves_requests(const struct trace_list *list, int i, int process)
{
    int since;
    if (!acts(list, i, process))
        return false;
    if (questions(list, i, 0, process, &since) > 0)
        return true;
    for (int owner = 0; owner < OWNERS; owner++) {
        int grant = holding(list, i, 0, process, owner);
        int64_t node = grant >= 0 ? node_of(list, grant) : 0;
        if (grant >= 0 && listens(list, i, 0, process) && is_own(list, i, process, node) &&
            stands(list, i, 0, node) && is_untold(list, i, node))
            return true;
    }
    return false;
}

static bool hides_a_revocation(const struct trace_list *list, int i)
{
    const struct event *event = &list->event[i];
    int since = 0;
    switch (event->kind) {
    case EVENT_REVOKE_SENT:
        if (questions(list, i, event->lock, event->process, &since) == 0)
            return true;
        return event->code != 0 && event->code != CODE_NOTHING_PENDING && event->code != CODE_ALREADY &&
               !has_reason_to_fail(list, since, i) && !was_faulted(list, i);
    case EVENT_LISTENS:
        return event->code != 0 && event->code != CODE_UNSUPPORTED && !was_faulted(list, i);
    case EVENT_REVOKE_ASKED:
        return stands(list, i, event->lock, event->zxid) &&
               count_before(list, i, EVENT_NODE_SET, event->lock, event->zxid) <=
                   count_before(list, i, EVENT_REVOKE_ASKED, event->lock, event->zxid);
    case EVENT_REST:
        for (int process = 0; process < PROCESSES; process++)
            if (leaves_requests(list, i, process))
                return true;
        return false;
    default:
        return false;
    }
}

#endif
