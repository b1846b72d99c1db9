/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#ifndef TESTS_CHECK_REFERENCE_HOLD_KEEPS_ITS_NODE_H
#define TESTS_CHECK_REFERENCE_HOLD_KEEPS_ITS_NODE_H

#include "check/reference/questions.h"

/* Returns whether the process could know at event `to` that the operator deleted the node at event `from`. */
static bool is_deleted_and_shown(const struct trace_list *list, int from, int to)
{
    const struct event *event = &list->event[from];
    if (event->kind != EVENT_NODE_DELETED || event->code != 1 || event->owner != EVENT_BY_OPERATOR)
        return false;
    for (int k = from + 1; k < to; k++)
        if (list->event[k].kind == EVENT_LISTED && list->event[k].lock == event->lock &&
            list->event[k].process == event->process)
            return true;
    return false;
}

static bool is_held_by_a_lower_owner(const struct trace_list *list, int i, const struct event *hold,
                                     int64_t czxid)
{
    for (int owner = 0; owner < hold->owner; owner++) {
        int grant = holding(list, i, hold->lock, hold->process, owner);
        if (grant >= 0 && node_of(list, grant) == czxid)
            return true;
    }
    return false;
}

static bool is_live(const struct trace_list *list, int i, const struct event *hold, int owner)
{
    return pending(list, i, hold->lock, hold->process, owner) >= 0 ||
           holding(list, i, hold->lock, hold->process, owner) >= 0;
}

/* Returns whether another owner of the process waited or held at a moment since when the owner of this hold
 * waits or holds. */
static bool had_company(const struct trace_list *list, int i, const struct event *hold)
{
    for (int k = i; k > 0 && is_live(list, k, hold, hold->owner); k--)
        for (int owner = 0; owner < OWNERS; owner++)
            if (owner != hold->owner && is_live(list, k, hold, owner))
                return true;
    return false;
}

/* Returns whether the process heard between a grant and event i that this node is deleted, or listened when
 * the operator deleted it. It does not count once the owner has denied its hold, or the session has
 * expired. */
static bool has_heard(const struct trace_list *list, int grant, int i, int64_t czxid)
{
    const struct event *hold = &list->event[grant];
    bool heard = is_evicted(list, grant) && listens(list, grant, hold->lock, hold->process);
    for (int k = grant + 1; k < i; k++) {
        const struct event *event = &list->event[k];
        bool of_it = event->lock == hold->lock && event->process == hold->process && event->zxid == czxid;
        bool told = event->kind == EVENT_WOKEN && event->code == 2 && !had_company(list, k, hold);
        bool evicted = event->kind == EVENT_NODE_DELETED && event->code == 1 &&
                       event->owner == EVENT_BY_OPERATOR && listens(list, k, hold->lock, hold->process);
        bool denied = event->kind == EVENT_DOUBTS && event->code == 0 &&
                      is_of(event, hold->lock, hold->process, hold->owner);
        bool over = event->kind == EVENT_EXPIRED && event->process == hold->process;
        if (of_it && (told || evicted) && !is_held_by_a_lower_owner(list, k, hold, czxid))
            heard = true;
        heard &= !denied && !over;
    }
    return heard;
}

static bool holds_on_a_node_that_is_gone(const struct trace_list *list, int i)
{
    for (int process = 0; process < PROCESSES; process++) {
        bool runs = acts(list, i, process);
        for (int owner = 0; owner < OWNERS && runs; owner++) {
            int grant = holding(list, i, 0, process, owner);
            if (grant >= 0 && has_heard(list, grant, i, node_of(list, grant)))
                return true;
        }
    }
    return false;
}

static bool loses_its_node(const struct trace_list *list, int i)
{
    const struct event *event = &list->event[i];
    if (event->kind == EVENT_REST)
        return holds_on_a_node_that_is_gone(list, i);
    if (is_deleted_by_a_process(event) && is_held_by(list, i, event->zxid, -1, -1))
        return true;
    if (event->kind != EVENT_GRANTED || is_deeper(list, i))
        return false;
    for (int k = 0; k < i; k++)
        if ((is_deleted_by_a_process(&list->event[k]) || is_deleted_and_shown(list, k, i)) &&
            list->event[k].zxid == event->zxid && list->event[k].lock == event->lock &&
            list->event[k].process == event->process && has_waited(list, k, i, event->lock, event->process))
            return true;
    return false;
}

#endif
